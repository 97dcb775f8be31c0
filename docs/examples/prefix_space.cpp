// docs/examples/prefix_space.cpp — a byte-level tokenizer whose texts begin as if a blank stood before them: `prefix_space TOKENIZER_FOLDER`.
#include <iostream>

#include "kernels/check.h"
#include "trainer/parser.h"
#include "trainer/text/auto_tokenizer.h"

using namespace rote;

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 2, ArgumentError, "prefix_space: give the folder of a byte-level tokenizer.");
    const auto with = text::AutoTokenizer::from_pretrained(argv[1], {.add_prefix_space = true});
    const auto without = text::AutoTokenizer::from_pretrained(argv[1], {.add_prefix_space = false});
    const auto show = [](const text::Encoding& row) {
      for (const std::string& token : row.tokens) std::cout << token << " ";
      std::cout << "\n";
    };
    show(without.encode("Hello"));
    show(without.encode(" Hello"));
    show(with.encode("Hello"));
    return 0;
  });
}
