// tests/trainer/text_unicode_test.cpp — UTF-8 and the classes of code points.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernels/check.h"
#include "trainer/text/unicode.h"

using namespace rote::text;

TEST_CASE("unicode: every scalar value survives UTF-8 and back") {
  std::u32string all, back;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c < 0xD800 || c > 0xDFFF) all.push_back(c);
  }
  CHECK(decode_utf8(to_utf8(all), back) == kWellFormed);
  CHECK(back == all);
}

TEST_CASE("unicode: what is not UTF-8 is found at its first byte") {
  struct ArgumentRow {
    std::string bytes;
    size_t bad;
  };
  const std::vector<ArgumentRow> rows = {
      {"abc\xFFz", 3},         {"\x80", 0},         {"ab\xC3", 2},              {"a\xC0\x80", 1},          {"\xC1\xBF", 0},
      {"\xE0\x80\x80", 0},     {"\xE2\x82", 0},     {"\xED\xA0\x80", 0},        {"x\xF0\x80\x80\x80", 1},  {"\xF4\x90\x80\x80", 0},
      {"\xF5\x80\x80\x80", 0}, {"\xC3\xA9\xC3(", 2}, {"\xF0\x9F\x99\x82\xF0\x9F", 4},
  };
  for (const ArgumentRow& row : rows) {
    CAPTURE(row.bytes);
    std::u32string chars;
    CHECK(decode_utf8(row.bytes, chars) == row.bad);
    CHECK(to_utf8(chars) == row.bytes.substr(0, row.bad));
  }
  CHECK_THROWS_WITH_AS(decode_text("abc\xFF", "encode"),
                       "encode: the text is not UTF-8 at byte 3 (0xFF); texts must be encoded as UTF-8.", rote::ArgumentError);
}

TEST_CASE("unicode: the classes BERT asks for") {
  for (const char32_t c : U" \t\n\v\f\r\u0085\u00A0\u1680\u2003\u2028\u202F\u205F\u3000") {
    if (c != 0) CHECK(is_whitespace(c));
  }
  for (const char32_t c : {U'a', U'\u200B', U'\u180E', U'\uFEFF', U'\x1C'}) CHECK_FALSE(is_whitespace(c));

  for (const char32_t c : {U'\0', U'\x0B', U'\x7F', U'\u0085', U'\u00AD', U'\u200D', U'\uE000', U'\U000E0020', U'\U0010FFFD'}) {
    CHECK(is_control(c));
  }
  // Tab and line ends are blanks; U+0378 has no character, and U+08E2 became a format character after Unicode 8.
  for (const char32_t c : {U'\t', U'\n', U'\r', U' ', U'~', U'\u00A0', U'\u0378', U'\u08E2', U'\U0010FFFE'}) CHECK_FALSE(is_control(c));

  for (const char32_t c : std::u32string(U"!/:@[`{~$+<=>^|\u00A1\u2014\u3002\uFF01")) CHECK(is_punctuation(c));
  for (const char32_t c : std::u32string(U"a0 \u00A2\u20AC\u2E52")) CHECK_FALSE(is_punctuation(c));

  for (const char32_t c : {U'\u0300', U'\u036F', U'\u0591', U'\uFE0F', U'\U000E01EF'}) CHECK(is_nonspacing_mark(c));
  for (const char32_t c : {U'a', U'\u0903', U'\u20DD', U'\u1DF6'}) CHECK_FALSE(is_nonspacing_mark(c));

  for (const char32_t c : {U'\u4E00', U'\u9FFF', U'\u3400', U'\uF900', U'\U00020000', U'\U0002FA1F'}) CHECK(is_cjk(c));
  for (const char32_t c : {U'\u304B', U'\uD55C', U'\u3000', U'\U0002B820'}) CHECK_FALSE(is_cjk(c));

  for (const char32_t c : std::u32string(U"aZ0_\u00E9\u0301\u2167\u24D0\u200D\u0966\u203F")) CHECK(is_word(c));
  for (const char32_t c : std::u32string(U" -!\u00B2\u2014\u20AC\U0001F642")) CHECK_FALSE(is_word(c));
}

TEST_CASE("unicode: decomposition is full and canonical, and stops at Unicode 9") {
  const auto decomposed = [](char32_t c) {
    char32_t parts[kMaxDecomposition];
    return std::u32string(parts, static_cast<size_t>(decompose(c, parts)));
  };
  CHECK(decomposed(U'a') == U"a");
  CHECK(decomposed(U'\u00E9') == U"e\u0301");
  CHECK(decomposed(U'\u1FAF') == U"\u03A9\u0314\u0342\u0345");
  CHECK(decomposed(U'\uAC01') == U"\u1100\u1161\u11A8");
  CHECK(decomposed(U'\uFB01') == U"\uFB01");              // a ligature is only compatible with fi
  CHECK(decomposed(U'\U00011938') == U"\U00011938");      // of Unicode 13
  CHECK(combining_class(U'\u0301') == 230);
  CHECK(combining_class(U'\u0323') == 220);
  CHECK(combining_class(U'a') == 0);
  CHECK(combining_class(U'\u1DF6') == 0);                 // of Unicode 10
}

TEST_CASE("unicode: lower case looks at one character alone") {
  const auto lower = [](char32_t c) {
    char32_t parts[kMaxLowercase];
    return std::u32string(parts, static_cast<size_t>(lowercase(c, parts)));
  };
  CHECK(lower(U'A') == U"a");
  CHECK(lower(U'[') == U"[");
  CHECK(lower(U'\u00C9') == U"\u00E9");
  CHECK(lower(U'\u03A3') == U"\u03C3");  // never the final form
  CHECK(lower(U'\u0130') == U"i\u0307");
  CHECK(lower(U'\u1E9E') == U"\u00DF");
}
