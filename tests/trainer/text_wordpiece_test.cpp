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

Vocabulary numbered(const std::vector<std::string>& tokens) {
  Vocabulary vocabulary;
  for (const std::string& token : tokens) vocabulary.add(token, vocabulary.size());
  vocabulary.sort_ids();
  return vocabulary;
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

TEST_CASE("vocabulary: ids and tokens map to each other") {
  const Vocabulary vocabulary({{"a", 5}, {"b", 2}, {"\u4ECA", 90}, {"", 0}, {"b", 1}, {"c", 5}});
  CHECK(vocabulary.size() == 5);
  CHECK(vocabulary.id_of("b") == 1);  // the later of two
  CHECK(vocabulary.id_of("\u4ECA") == 90);
  CHECK(vocabulary.id_of("") == 0);
  CHECK(vocabulary.id_of("d") == std::nullopt);
  CHECK(vocabulary.id_of("\xFF") == std::nullopt);
  CHECK(vocabulary.token_of(5) == "a");  // the first of two
  CHECK(vocabulary.token_of(3) == std::nullopt);
  CHECK(vocabulary.token_of(-1) == std::nullopt);
  CHECK(Vocabulary{}.id_of("a") == std::nullopt);
  CHECK_THROWS_WITH_AS(Vocabulary({{"a", -1}}), "vocabulary: the id of \"a\" is -1; ids lie in [0, 2^31).", rote::ArgumentError);
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
    const WordPiece model(Vocabulary({ids.begin(), ids.end()}), {});
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
  const Decoder plain{true, {WordPieceDecoder{.cleanup = false}}}, cleaned{true, {WordPieceDecoder{}}};
  CHECK(join_tokens(plain, {"##uelo", "Ara", "##\u00FAj", "##o", "!"}) == "##uelo Ara\u00FAjo !");
  CHECK(join_tokens(cleaned, {"##uelo", "Ara", "##o", "!", "don", "'", "t", "'s"}) == "##uelo Arao! don ' t's");
  CHECK(join_tokens(cleaned, {"a", "do not", "n't"}) == "a don'tn't");
  CHECK(join_tokens(Decoder{}, {"a", "##b"}) == "a ##b");
  CHECK(join_tokens(plain, {}).empty());
}
