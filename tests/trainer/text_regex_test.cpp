// tests/trainer/text_regex_test.cpp — the regular expressions, and the two patterns that are written out by hand.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "trainer/text/regex.h"
#include "trainer/text/unicode.h"
#include "trainer/text/word_pattern.h"

using namespace rote::text;

namespace {

// The text with its matches in brackets.
std::string marked(const std::string& pattern, const std::string& text) {
  const std::u32string chars = decode_text(text, "test");
  std::vector<Match> matches;
  Regex(pattern, "test").split(chars, matches);
  std::string out;
  for (const Match& m : matches) {
    const std::string part = to_utf8(std::u32string_view(chars).substr(m.span.begin, m.span.end - m.span.begin));
    out += m.matched ? "[" + part + "]" : part;
  }
  return out;
}

std::string refusal(const std::string& pattern) {
  try {
    Regex(pattern, "t");
  } catch (const rote::ArgumentError& e) {
    return e.what();
  }
  return "accepted";
}

constexpr char kGpt2[] = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr char kLlama3[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kQwen[] = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace

TEST_CASE("regex: leftmost, first alternative, greedy, lazy and possessive") {
  CHECK(marked("a|ab", "abab") == "[a]b[a]b");
  CHECK(marked("a+", "baaab") == "b[aaa]b");
  CHECK(marked("a+?", "aaa") == "[a][a][a]");
  CHECK(marked("a{2}", "aaaaa") == "[aa][aa]a");
  CHECK(marked("a{2,}b", "aabab") == "[aab]ab");
  CHECK(marked("a{,2}b", "aaab") == "a[aab]");
  CHECK(marked("x{a}", "x{a}") == "[x{a}]");
  CHECK(marked("a++ab|c", "aaabc") == "aaab[c]");
  CHECK(marked("(?:ab)*+abc|d", "ababcd") == "ababc[d]");
  CHECK(marked("(?:ab|a)(?:c|bcd)", "abcd") == "[abc]d");
  CHECK(marked("(?>ab|a)bcd", "abcd") == "abcd");
  CHECK(marked("x*", "axxb") == "[]a[xx]b[]");
}

TEST_CASE("regex: classes, case and places") {
  CHECK(marked(R"([^\s\p{L}]+)", "ab 12\u00E9!") == "ab [12]\u00E9[!]");
  CHECK(marked(R"([a-c[x-z]&&[^b]]+)", "abcxyz") == "[a]b[cxyz]");
  CHECK(marked(R"([\p{Lu}\p{Lt}]\p{Ll}+)", "Ab \u0100\u0101 AB") == "[Ab] [\u0100\u0101] AB");
  CHECK(marked("(?i:'s|k)", "'S '\u017F K \u212A") == "['S] ['\u017F] [K] [\u212A]");
  CHECK(marked("(?i)[a-c]+(?-i)X", "AbCX abCx") == "[AbCX] abCx");
  CHECK(marked(R"(\p{Han}+)", "a\u4ECA\u5929b") == "a[\u4ECA\u5929]b");
  CHECK(marked("^a|b$", "a\naab\nb") == "[a]\n[a]a[b]\n[b]");
  CHECK(marked(R"(\bx\b)", "x xx,x") == "[x] xx,[x]");
  CHECK(marked(R"(a(?=b)|(?<=c)d|(?<!c)e)", "ab a cd d ce e") == "[a]b a c[d] d ce [e]");
  CHECK(marked("a.c", "abc a\nc") == "[abc] a\nc");
  CHECK(marked("(?m:a.c)", "a\nc") == "[a\nc]");
  CHECK(marked("(?x: a b # c\n)", "ab") == "[ab]");
  CHECK(marked(R"(\w+)", "a\u00B3 b") == "[a\u00B3] [b]");
  CHECK(marked(R"([^\w\s]+)", "!\u00B3") == "[!\u00B3]");  // within a class superscripts of Latin-1 are no word characters
  CHECK(marked(R"(\x41\u0042\n)", "AB\n") == "[AB\n]");
}

TEST_CASE("regex: a pattern that could fail in exponentially many ways does not") {
  CHECK(marked("(?:a|a)+b", std::string(200, 'a')) == std::string(200, 'a'));
  CHECK(marked("(?:a+)+b", std::string(200, 'a')) == std::string(200, 'a'));
  CHECK_THROWS_AS(marked("(?=(?:a|a)+b)a", std::string(100, 'a')), rote::ArgumentError);
}

TEST_CASE("regex: what is not known is refused by name") {
  CHECK(refusal(R"((a)\1)") == "t: the pattern (a)\\1 has \\1 at character 5, which is not known here; write it without.");
  CHECK(refusal(R"(\p{Klingon})").find("has \\p{Klingon} at") != std::string::npos);
  for (const char* pattern : {"(", ")", "[", "a**b|*", "[b-a]", "(?P<x>a)", R"(\k<x>)", R"(\X)", "(?<=a+)b", "(?:a*)*", "a{5,2}", R"(\p{L)", "\\",
                              "[\\", "(?", "a{2000}", "(?:(?:(?:a{1000}){1000}){1000}){1000}"}) {
    CAPTURE(pattern);
    CHECK(refusal(pattern) != "accepted");
  }
  CHECK(refusal(std::string(100, '(')).find("nested groups") != std::string::npos);
}

TEST_CASE("word patterns: the ones written out equal the ones compiled") {
  const char* patterns[] = {kGpt2, kLlama3, kQwen};
  std::mt19937 random(3);
  const std::u32string alphabet = U"abZ'''sStTrReElLvVdDmM\u017F  \t\n\r\u00A0\u3000012\u00BD\u2167\u0663!?.-\u00E9\u4ECA\u0301\U0001F642\u200B\u0D3E";
  for (const char* pattern : patterns) {
    CAPTURE(pattern);
    const auto known = WordPattern::of(pattern);
    REQUIRE(known.has_value());
    const Regex regex(pattern, "test");
    std::vector<Match> matches;
    for (int round = 0; round < 3000; ++round) {
      std::u32string chars;
      for (size_t n = random() % 14; n > 0; --n) chars.push_back(alphabet[random() % alphabet.size()]);
      regex.split(chars, matches);
      std::vector<uint32_t> expected, got;
      for (const Match& m : matches) expected.push_back(m.span.end);
      for (uint32_t at = 0; at < chars.size();) got.push_back(at = known->end_of_word(chars, at));
      CAPTURE(to_utf8(chars));
      CHECK(got == expected);
    }
  }
  CHECK_FALSE(WordPattern::of("\\s+").has_value());
  CHECK_FALSE(WordPattern::of("").has_value());
}
