// tests/trainer/text_added_tokens_test.cpp — numbering of added tokens and the search for them.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "trainer/text/added_tokens.h"

using namespace rote::text;

namespace {

// The stretches of a text: added tokens as [id:text], the rest as it is.
std::string marked(const TokenFinder& finder, std::u32string_view chars) {
  std::vector<Stretch> stretches;
  finder.split(chars, stretches);
  std::string out;
  for (const Stretch& s : stretches) {
    const std::u32string_view part = chars.substr(s.begin, s.end - s.begin);
    const std::string text(part.begin(), part.end());
    out += s.id < 0 ? text : "[" + std::to_string(s.id) + ":" + text + "]";
  }
  return out;
}

}  // namespace

TEST_CASE("added tokens: the leftmost match, and of those the longest") {
  const TokenFinder finder({{U"<x", 1}, {U"<x1>", 2}, {U"<x1", 3}, {U"yy", 4}, {U"<x1>", 5}});
  CHECK(marked(finder, U"a<x1>b<x1b<xb") == "a[2:<x1>]b[3:<x1]b[1:<x]b");
  CHECK(marked(finder, U"yyy") == "[4:yy]y");
  CHECK(marked(finder, U"<") == "<");
  CHECK(marked(finder, U"") == "");
  CHECK(marked(TokenFinder{}, U"abc") == "abc");
  CHECK(marked(TokenFinder({{U"", 1}}), U"abc") == "abc");
}

TEST_CASE("added tokens: a single word has no word character beside it") {
  const TokenFinder finder({{.content = U"cat", .id = 1, .single_word = true}});
  CHECK(marked(finder, U"cat cats bobcat cat-cat") == "[1:cat] cats bobcat [1:cat]-[1:cat]");
  CHECK(marked(finder, U"catcat") == "catcat");
}

TEST_CASE("added tokens: blanks are taken along on the sides asked for") {
  CHECK(marked(TokenFinder({{.content = U"m", .id = 1, .lstrip = true}}), U"a \t m b") == "a[1: \t m] b");
  CHECK(marked(TokenFinder({{.content = U"m", .id = 1, .rstrip = true}}), U"a m  b") == "a [1:m  ]b");
  const TokenFinder both({{.content = U"m", .id = 1, .lstrip = true, .rstrip = true}});
  CHECK(marked(both, U"m  m b") == "[1:m  ][1:m ]b");
  // A token that another has swallowed as a blank is gone.
  CHECK(marked(TokenFinder({{.content = U"m", .id = 1, .rstrip = true}, {.content = U"\t", .id = 2, .lstrip = true}}), U"m \tb") ==
        "[1:m \t]b");
}

TEST_CASE("added tokens: known tokens keep their id, others are numbered on") {
  const Model model(WordPiece(Vocabulary({{"[UNK]", 0}, {"a", 1}, {"b", 2}}), {}));
  const std::vector<AddedToken> tokens = {
      {.content = "b"}, {.content = "NEW"}, {.content = "<s>", .normalized = false, .special = true}, {.content = "NEW"}, {.content = ""}};
  const AddedTokens added(tokens, model, {BertNormalizer{}});
  CHECK(added.token_to_id("b") == 2);
  CHECK(added.token_to_id("NEW") == 3);
  CHECK(added.token_to_id("<s>") == 4);
  CHECK(added.token_to_id("a") == std::nullopt);
  CHECK(added.ids().size() == 3);
  CHECK(added.is_special("<s>"));
  CHECK_FALSE(added.is_special("NEW"));
  CHECK(marked(added.in_text(), U"new<s>NEW") == "new[4:<s>]NEW");
  CHECK(marked(added.in_normalized(), U"new<s>") == "[3:new]<s>");  // itself lowercased, so it is found in lowercased text
  REQUIRE(added.id_to_token(3) != nullptr);
  CHECK(*added.id_to_token(3) == "new");
  CHECK(added.id_to_token(1) == nullptr);
}
