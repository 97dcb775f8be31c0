// tests/kernels/check_test.cpp — texts of errors: built from parts, on one line whatever a file's names hold; the nearest known name.
#include "kernels/check.h"

#include <doctest/doctest.h>

using namespace rote;

TEST_CASE("check: a text is one line, and what a terminal would obey is written out") {
  CHECK(std::string(IoError("read a: b.").what()) == "read a: b.");
  CHECK(IoError(str("a\nb", '\0', "\r\t\x1b[31m\x7f", "é")).text == "a\\nb\\x00\\x0d\\x09\\x1b[31m\\x7fé");
  CHECK(ArgumentError(std::vector<std::string>{"a\nb", "c"}).text == "a\\nb\nc");
  try {
    ROTE_CHECK(1 > 2, ShapeError, "x: ", 3, "\n", 4.5, ".");
  } catch (const Error& error) {
    CHECK(error.text == "x: 3\\n4.5.");
    CHECK(error.kind == ErrorKind::shape);
  }
}

TEST_CASE("check: of a long text the middle is left out, between characters") {
  std::string letters;
  for (int i = 0; i < 5000; ++i) letters += "é";
  for (size_t more = 0; more < 3; ++more) {
    const std::string text = IoError("read " + std::string(more, 'x') + letters + ": it is damaged.").text;
    CHECK(text.size() <= 4000);
    CHECK(text.find("é … é") != std::string::npos);
    CHECK(text.ends_with("é: it is damaged."));
  }
  const std::string fits(3900, 'x');
  CHECK(IoError(fits).text == fits);
}

TEST_CASE("check: the nearest name is one that is near") {
  const std::string known[] = {"linear", "cosine", "constant"};
  CHECK(nearest("liner", known, 3) == "linear");
  CHECK(nearest("constants", known, 3) == "constant");
  CHECK(nearest("polynomial", known, 3) == "");
  CHECK(nearest("linear", known, 0) == "");
}
