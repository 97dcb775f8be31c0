// tests/trainer/text_normalizer_test.cpp — the normalizers and the origins they keep; the words that the pre-tokenizers cut.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/check.h"
#include "trainer/text/normalizer.h"
#include "trainer/text/pre_tokenizer.h"
#include "trainer/text/unicode.h"

using namespace rote::text;

namespace {

using Origins = std::vector<std::pair<int, int>>;

Origins origins_of(const NormalizedText& text) {
  Origins out;
  for (const Span& span : text.origin) out.emplace_back(span.begin, span.end);
  return out;
}

NormalizedText normalized(std::u32string_view chars, const BertNormalizer& options = {}) {
  NormalizedText text = NormalizedText::of(chars);
  normalize(Normalizer{options}, text);
  REQUIRE(text.chars.size() == text.origin.size());
  return text;
}

std::vector<std::u32string> words_of(std::u32string_view chars, const PreTokenizer& how = {BertPreTokenizer{}}) {
  std::vector<Span> spans;
  NormalizedText text = NormalizedText::of(chars);
  pre_tokenize(how, text, spans);
  std::vector<std::u32string> words;
  for (const Span& span : spans) words.emplace_back(text.chars.substr(span.begin, span.end - span.begin));
  return words;
}

}  // namespace

TEST_CASE("normalizer: none leaves the text alone") {
  NormalizedText text = NormalizedText::of(U"A\x01\u00C9", 5);
  normalize(Normalizer{}, text);
  CHECK(text.chars == U"A\x01\u00C9");
  CHECK(origins_of(text) == Origins{{5, 6}, {6, 7}, {7, 8}});
}

TEST_CASE("normalizer: cleaning drops controls and turns blanks into spaces") {
  const NormalizedText text = normalized(U"a\x01" U"b\t\u00A0\u200B\uFFFD" U"c", {.strip_accents = false, .lowercase = false});
  CHECK(text.chars == U"ab  c");
  CHECK(origins_of(text) == Origins{{0, 1}, {2, 3}, {3, 4}, {4, 5}, {7, 8}});
  CHECK(normalized(U"a\x01\t", {.clean_text = false}).chars == U"a\x01\t");
}

TEST_CASE("normalizer: an ideograph stands between spaces of its own origin") {
  const NormalizedText text = normalized(U"a\u4ECAb");
  CHECK(text.chars == U"a \u4ECA b");
  CHECK(origins_of(text) == Origins{{0, 1}, {1, 2}, {1, 2}, {1, 2}, {2, 3}});
  CHECK(normalized(U"a\u4ECAb", {.handle_chinese_chars = false}).chars == U"a\u4ECAb");
}

TEST_CASE("normalizer: accents go with lower case unless told otherwise") {
  CHECK(normalized(U"\u00C9t\u00E9 e\u0301").chars == U"ete e");
  CHECK(normalized(U"\u00C9t\u00E9", {.lowercase = false}).chars == U"\u00C9t\u00E9");
  CHECK(normalized(U"\u00C9t\u00E9", {.strip_accents = true, .lowercase = false}).chars == U"Ete");
  CHECK(normalized(U"\u00C9t\u00E9", {.strip_accents = false}).chars == U"\u00E9t\u00E9");
  const NormalizedText both = normalized(U"x\u0130", {.strip_accents = false});
  CHECK(both.chars == U"xi\u0307");
  CHECK(origins_of(both) == Origins{{0, 1}, {1, 2}, {1, 2}});
}

TEST_CASE("normalizer: marks that stay are ordered, their origins stay in place") {
  // U+302E (class 224) is a spacing mark and stays; U+0323 (220) and U+0301 (230) are dropped after being ordered around it.
  const NormalizedText text = normalized(U"a\u0301\u302E\u0323z");
  CHECK(text.chars == U"a\u302Ez");
  CHECK(origins_of(text) == Origins{{0, 1}, {2, 3}, {4, 5}});
}

TEST_CASE("normalizer: normalizing twice changes nothing, and origins never run backwards") {
  std::mt19937 random(7);
  const std::u32string alphabet = U"aZ \t\x01\u00C9\u00E9\u0301\u0323\u302E\u4ECA\uAC01\u0130\u03A3!\u200B\U0001F642\u0344";
  for (int round = 0; round < 500; ++round) {
    std::u32string chars;
    for (size_t n = random() % 12; n > 0; --n) chars.push_back(alphabet[random() % alphabet.size()]);
    CAPTURE(to_utf8(chars));
    const NormalizedText once = normalized(chars, {.handle_chinese_chars = false});
    CHECK(normalized(once.chars, {.handle_chinese_chars = false}).chars == once.chars);
    for (size_t i = 0; i < once.origin.size(); ++i) {
      CHECK(once.origin[i].begin < once.origin[i].end);
      CHECK(once.origin[i].end <= chars.size());
      if (i > 0) CHECK(once.origin[i - 1].begin <= once.origin[i].begin);
    }
  }
}

TEST_CASE("pre-tokenizer: blanks part words, punctuation stands alone") {
  CHECK(words_of(U"Hey friend!  Are\u2003you?!") == std::vector<std::u32string>{U"Hey", U"friend", U"!", U"Are", U"you", U"?", U"!"});
  CHECK(words_of(U"  \t ").empty());
  CHECK(words_of(U"").empty());
  CHECK(words_of(U"a-b\u3002c") == std::vector<std::u32string>{U"a", U"-", U"b", U"\u3002", U"c"});
  CHECK(words_of(U"a b", PreTokenizer{}) == std::vector<std::u32string>{U"a b"});
  CHECK(words_of(U"", PreTokenizer{}).empty());
}

TEST_CASE("normalizer: the four forms, origins by place") {
  const auto form = [](std::u32string_view chars, NormalForm how) {
    NormalizedText text = NormalizedText::of(chars);
    normalize({how}, text);
    return text;
  };
  CHECK(form(U"e\u0301\uFB01", {true, false}).chars == U"\u00E9\uFB01");
  CHECK(form(U"\u00E9\uAC01", {false, false}).chars == U"e\u0301\u1100\u1161\u11A8");
  CHECK(form(U"\uFB01\u00BD", {false, true}).chars == U"fi1\u20442");
  const NormalizedText both = form(U"xe\u0301\uFB01y", {true, true});
  CHECK(both.chars == U"x\u00E9fiy");
  CHECK(origins_of(both) == Origins{{0, 1}, {1, 2}, {3, 4}, {3, 4}, {4, 5}});  // what is composed has the origin of its first part
}

TEST_CASE("normalizer: the small steps") {
  const auto apply = [](const Normalizer& how, std::u32string_view chars) {
    NormalizedText text = NormalizedText::of(chars);
    normalize(how, text);
    return text;
  };
  CHECK(origins_of(apply({Prepend{U"__"}}, U"ab")) == Origins{{0, 1}, {0, 1}, {0, 1}, {1, 2}});
  CHECK(apply({Prepend{U"_"}}, U"").chars.empty());
  CHECK(apply({Strip{true, false}}, U" a ").chars == U"a ");
  CHECK(apply({Strip{}}, U"  ").chars.empty());
  const NormalizedText replaced = apply({Replace{Regex(" {2,}", "t"), U"--"}}, U"a   b c");
  CHECK(replaced.chars == U"a--b c");
  CHECK(origins_of(replaced) == Origins{{0, 1}, {3, 4}, {3, 4}, {4, 5}, {5, 6}, {6, 7}});
  CHECK(apply({Lowercase{}, StripAccents{}}, U"\u00C9e\u0301\u0903").chars == U"\u00E9e");
  CHECK(apply({Nmt{}}, U"a\u0001\t\u200Bb\uFEFF").chars == U"a  b ");
  const NormalizedText letters = apply({ByteLevelLetters{}}, U" \u00E9");
  CHECK(letters.chars == U"\u0120\u00C3\u00A9");
  CHECK(origins_of(letters) == Origins{{0, 1}, {1, 2}, {1, 2}});
  CHECK_THROWS_AS(Charsmap("!!!!", "t"), rote::IoError);
  CHECK_THROWS_AS(Charsmap("/////w==", "t"), rote::IoError);
}

TEST_CASE("pre-tokenizer: what becomes of matches") {
  using Words = std::vector<std::u32string>;
  const auto split = [](SplitBehavior behavior, bool invert = false) {
    return words_of(U"the-final--countdown", {Split{Regex("-", "t"), behavior, invert}});
  };
  CHECK(split(SplitBehavior::removed) == Words{U"the", U"final", U"countdown"});
  CHECK(split(SplitBehavior::isolated) == Words{U"the", U"-", U"final", U"-", U"-", U"countdown"});
  CHECK(split(SplitBehavior::merged_with_previous) == Words{U"the-", U"final-", U"-", U"countdown"});
  CHECK(split(SplitBehavior::merged_with_next) == Words{U"the", U"-final", U"-", U"-countdown"});
  CHECK(split(SplitBehavior::contiguous) == Words{U"the", U"-", U"final", U"--", U"countdown"});
  CHECK(split(SplitBehavior::removed, true) == Words{U"-", U"-", U"-"});
}

TEST_CASE("pre-tokenizer: each on its own") {
  using Words = std::vector<std::u32string>;
  CHECK(words_of(U"Hey, you_2!? ", {Whitespace{}}) == Words{U"Hey", U",", U"you_2", U"!?"});
  CHECK(words_of(U"Hey, you\u3000!", {WhitespaceSplit{}}) == Words{U"Hey,", U"you", U"!"});
  CHECK(words_of(U"a!!b", {Punctuation{}}) == Words{U"a", U"!", U"!", U"b"});
  CHECK(words_of(U"a12b", {Digits{}}) == Words{U"a", U"12", U"b"});
  CHECK(words_of(U"a12", {Digits{true}}) == Words{U"a", U"1", U"2"});
  CHECK(words_of(U"a|b", {CharDelimiterSplit{U'|'}}) == Words{U"a", U"b"});
  CHECK(words_of(U"abcdefg", {FixedLength{3}}) == Words{U"abc", U"def", U"g"});
  CHECK(words_of(U"it's \u00E9", {ByteLevel{}}) == Words{U"\u0120it", U"'s", U"\u0120\u00C3\u00A9"});
  CHECK(words_of(U"a b", {ByteLevel{false, false}}) == Words{U"a\u0120b"});
  CHECK(words_of(U"a  b", {Metaspace{}}) == Words{U"\u2581a", U"\u2581", U"\u2581b"});
  CHECK(words_of(U"a b", {Metaspace{U'_', Metaspace::Prepend::never, false}}) == Words{U"a_b"});
  CHECK(words_of(U"a b", {WhitespaceSplit{}, Metaspace{U'_', Metaspace::Prepend::first, true}}) == Words{U"_a", U"b"});
}
