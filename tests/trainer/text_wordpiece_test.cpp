// tests/trainer/text_wordpiece_test.cpp — the WordPiece model, its vocabulary and its decoder.
#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "trainer/text/decoder.h"
#include "trainer/text/unicode.h"
#include "trainer/text/wordpiece.h"

using namespace rote::text;

namespace {

std::vector<std::pair<std::string, int64_t>> numbered(const std::vector<std::string>& tokens) {
  std::vector<std::pair<std::string, int64_t>> vocab;
  for (const std::string& token : tokens) vocab.emplace_back(token, static_cast<int64_t>(vocab.size()));
  return vocab;
}

std::vector<int64_t> ids_of(const WordPiece& model, std::u32string_view word) {
  std::vector<Piece> pieces;
  model.tokenize(word, pieces);
  std::vector<int64_t> ids;
  for (const Piece& piece : pieces) ids.push_back(piece.id);
  return ids;
}

}  // namespace

TEST_CASE("wordpiece: the longest token first, then the longest continuing ones") {
  const WordPiece model(numbered({"[UNK]", "un", "##aff", "##affable", "##able", "u", "##n", "unaff", "##s"}), {});
  std::vector<Piece> pieces;
  model.tokenize(U"unaffables", pieces);
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[0].id == 7);  // unaff, although un + ##affable would also do
  CHECK(pieces[1].id == 4);
  CHECK(pieces[2].id == 8);
  CHECK(pieces[1].begin == 5);
  CHECK(pieces[1].end == 9);
  CHECK(ids_of(model, U"unx") == std::vector<int64_t>{0});
  CHECK(ids_of(model, U"##s") == std::vector<int64_t>{8});  // as written, a token may begin a word
}

TEST_CASE("wordpiece: a word that is too long is unknown, counted in code points") {
  const WordPiece model(numbered({"[UNK]", "\u00E9", "##\u00E9"}), {.max_input_chars_per_word = 3});
  CHECK(ids_of(model, U"\u00E9\u00E9\u00E9") == std::vector<int64_t>{1, 2, 2});
  CHECK(ids_of(model, U"\u00E9\u00E9\u00E9\u00E9") == std::vector<int64_t>{0});
}

TEST_CASE("wordpiece: without a prefix continuing tokens are the others") {
  const WordPiece model(numbered({"?", "ab", "c"}), {.unk_token = "?", .continuing_subword_prefix = ""});
  CHECK(ids_of(model, U"cabc") == std::vector<int64_t>{2, 1, 2});
}

TEST_CASE("wordpiece: a vocabulary without its unknown token fails only where that is needed") {
  const WordPiece model(numbered({"a"}), {});
  CHECK(ids_of(model, U"a") == std::vector<int64_t>{0});
  CHECK_THROWS_WITH_AS(ids_of(model, U"b"),
                       "wordpiece: \"b\" has no pieces and unk_token \"[UNK]\" is not in the vocabulary; add it to the vocabulary.",
                       rote::StateError);
}

TEST_CASE("wordpiece: ids and tokens map to each other") {
  const WordPiece model({{"a", 5}, {"b", 2}, {"\u4ECA", 90}}, {});
  CHECK(model.vocab_size() == 3);
  CHECK(model.token_to_id("b") == 2);
  CHECK(model.token_to_id("\u4ECA") == 90);
  CHECK(model.token_to_id("c") == std::nullopt);
  CHECK(model.token_to_id("\xFF") == std::nullopt);
  REQUIRE(model.id_to_token(5) != nullptr);
  CHECK(*model.id_to_token(5) == "a");
  CHECK(model.id_to_token(3) == nullptr);
  CHECK(model.id_to_token(-1) == nullptr);
  CHECK_THROWS_AS(WordPiece({{"a", -1}}, {}), rote::ArgumentError);
}

TEST_CASE("wordpiece: the walk over prefixes equals the definition on random vocabularies") {
  std::mt19937 random(11);
  const auto word_of = [&](size_t longest) {
    std::string word;
    for (size_t n = 1 + random() % longest; n > 0; --n) word.push_back(static_cast<char>('a' + random() % 3));
    return word;
  };
  for (int round = 0; round < 50; ++round) {
    std::map<std::string, int64_t> ids{{"[UNK]", 0}};
    for (int i = 1; i < 40; ++i) ids.emplace((random() % 2 ? "##" : "") + word_of(4), i);
    const WordPiece model({ids.begin(), ids.end()}, {});
    for (int i = 0; i < 50; ++i) {
      const std::string word = word_of(9);
      std::vector<int64_t> expected;
      for (size_t begin = 0; begin < word.size();) {
        size_t end = word.size();
        while (end > begin && !ids.count((begin > 0 ? "##" : "") + word.substr(begin, end - begin))) --end;
        if (end == begin) {
          expected = {0};
          break;
        }
        expected.push_back(ids.at((begin > 0 ? "##" : "") + word.substr(begin, end - begin)));
        begin = end;
      }
      CAPTURE(word);
      CHECK(ids_of(model, std::u32string(word.begin(), word.end())) == expected);
    }
  }
}

TEST_CASE("decoder: pieces close up, and clean-up is by token") {
  const Decoder plain = WordPieceDecoder{.cleanup = false}, cleaned = WordPieceDecoder{};
  CHECK(join_tokens(plain, {"##uelo", "Ara", "##\u00FAj", "##o", "!"}) == "##uelo Ara\u00FAjo !");
  CHECK(join_tokens(cleaned, {"##uelo", "Ara", "##o", "!", "don", "'", "t", "'s"}) == "##uelo Arao! don ' t's");
  CHECK(join_tokens(cleaned, {"a", "do not", "n't"}) == "a don'tn't");
  CHECK(join_tokens(Decoder{}, {"a", "##b"}) == "a ##b");
  CHECK(join_tokens(plain, {}).empty());
}
