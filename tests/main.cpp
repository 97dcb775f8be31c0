// tests/main.cpp — main() of every test program: doctest's own options, --shared=DIR for the cases that are not part of this tree,
// --write-pages to write generated pages anew instead of comparing them, --bits=FILE for the run that another one compares itself with.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstring>

#include "tests/support/place.h"

int main(int argc, char** argv) {
  constexpr char kShared[] = "--shared=";
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--bits=", 7) == 0) rote::testing::set_bits_file(argv[i] + 7);
    if (std::strcmp(argv[i], "--write-pages") == 0) rote::testing::set_writing_pages();
    if (std::strncmp(argv[i], kShared, sizeof kShared - 1) == 0) rote::testing::set_shared_folder(argv[i] + sizeof kShared - 1);
  }
  doctest::Context context(argc, argv);
  return context.run();
}
