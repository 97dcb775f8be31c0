// tests/trainer/text_models_test.cpp — BPE, Unigram and WordLevel on vocabularies of a few tokens; the decoders that belong to them.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "trainer/text/decoder.h"
#include "trainer/text/model.h"
#include "trainer/text/unicode.h"

using namespace rote::text;

namespace {

using Ids = std::vector<int64_t>;

Vocabulary numbered(const std::vector<std::string>& tokens) {
  Vocabulary vocabulary;
  for (const std::string& token : tokens) vocabulary.add(token, vocabulary.size());
  vocabulary.sort_ids();
  return vocabulary;
}

Bpe bpe(const std::vector<std::string>& tokens, const std::vector<std::pair<std::string, std::string>>& merges, const Bpe::Options& options = {}) {
  const Vocabulary vocabulary = numbered(tokens);
  MergeTable table;
  uint32_t rank = 0;
  for (const auto& [a, b] : merges) {
    const std::string both = a + b.substr(options.continuing_subword_prefix.size());
    table.insert(*vocabulary.id_of(a), *vocabulary.id_of(b), {rank++, static_cast<int32_t>(*vocabulary.id_of(both))});
  }
  return Bpe(vocabulary, table, options);
}

template <class M>
std::vector<Piece> pieces_of(const M& model, std::u32string_view word) {
  std::vector<Piece> pieces;
  model.tokenize(word, pieces);
  return pieces;
}

template <class M>
Ids ids_of(const M& model, std::u32string_view word) {
  Ids ids;
  for (const Piece& piece : pieces_of(model, word)) ids.push_back(piece.id);
  return ids;
}

std::string decoded(const DecoderStep& step, std::vector<std::string> tokens) { return join_tokens({true, {step}}, std::move(tokens)); }

}  // namespace

TEST_CASE("bpe: the merge of the least rank first, from the left") {
  const Bpe model = bpe({"a", "b", "c", "bc", "ab", "abc", "aa"}, {{"b", "c"}, {"a", "b"}, {"ab", "c"}, {"a", "a"}});
  CHECK(ids_of(model, U"abc") == Ids{0, 3});  // bc comes first, so the token abc is not reached
  CHECK(ids_of(model, U"ab") == Ids{4});
  CHECK(ids_of(model, U"aaaaa") == Ids{6, 6, 0});
  CHECK(ids_of(model, U"axb") == Ids{4});  // without unk_token what is unknown is left out, as if it were not there
}

TEST_CASE("bpe: unknown characters, fused or not, and as bytes") {
  const std::vector<std::string> tokens = {"<unk>", "a", "<0xC3>", "<0xA9>"};
  CHECK(ids_of(bpe(tokens, {}, {.unk_token = "<unk>"}), U"xxa") == Ids{0, 0, 1});
  const Bpe fused = bpe(tokens, {}, {.unk_token = "<unk>", .fuse_unk = true, .byte_fallback = true});
  CHECK(ids_of(fused, U"xxa") == Ids{0, 1});
  const std::vector<Piece> pieces = pieces_of(fused, U"a\u00E9a");
  REQUIRE(pieces.size() == 4);
  for (size_t i : {1, 2}) {  // both bytes stand for the whole character
    CHECK(pieces[i].id == static_cast<int64_t>(i + 1));
    CHECK(pieces[i].begin == 1);
    CHECK(pieces[i].end == 2);
  }
  CHECK_THROWS_AS(ids_of(bpe({"a"}, {}, {.unk_token = "<unk>"}), U"b"), rote::StateError);
}

TEST_CASE("bpe: prefixes, suffixes and words that are tokens") {
  const Bpe prefixed = bpe({"a", "##b", "##c", "ab", "##bc"}, {{"a", "##b"}, {"##b", "##c"}}, {.continuing_subword_prefix = "##"});
  CHECK(ids_of(prefixed, U"ab") == Ids{3});
  CHECK(ids_of(prefixed, U"abc") == Ids{3, 2});
  const Bpe suffixed = bpe({"a", "b", "b</w>", "ab</w>"}, {{"a", "b</w>"}}, {.end_of_word_suffix = "</w>"});
  CHECK(ids_of(suffixed, U"ab") == Ids{3});
  CHECK(ids_of(suffixed, U"aba") == Ids{0, 1});  // a</w> is no token
  CHECK(ids_of(bpe({"a", "b", "ab"}, {}, {.ignore_merges = true}), U"ab") == Ids{2});
  CHECK(ids_of(bpe({"a", "b", "ab"}, {}), U"ab") == Ids{0, 1});
}

TEST_CASE("bpe: long words are merged as short ones are") {
  std::mt19937 random(5);
  std::vector<std::string> tokens = {"a", "b"};
  std::vector<std::pair<std::string, std::string>> merges;
  while (tokens.size() < 40) {
    const std::string a = tokens[random() % tokens.size()], b = tokens[random() % tokens.size()];
    if (std::find(tokens.begin(), tokens.end(), a + b) == tokens.end()) tokens.push_back(a + b);
    merges.emplace_back(a, b);
  }
  const Bpe model = bpe(tokens, merges);
  std::map<std::pair<std::string, std::string>, size_t> rank;
  for (size_t i = 0; i < merges.size(); ++i) rank[merges[i]] = i;
  for (int round = 0; round < 300; ++round) {
    std::u32string word;
    for (size_t n = 1 + random() % 90; n > 0; --n) word.push_back(U'a' + random() % 2);
    std::vector<std::string> parts;
    for (const char32_t c : word) parts.emplace_back(1, static_cast<char>(c));
    while (true) {  // the definition
      size_t best = merges.size(), at = 0;
      for (size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto found = rank.find({parts[i], parts[i + 1]});
        if (found != rank.end() && found->second < best) best = found->second, at = i;
      }
      if (best == merges.size()) break;
      parts[at] += parts[at + 1];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    Ids expected;
    for (const std::string& part : parts) expected.push_back(std::find(tokens.begin(), tokens.end(), part) - tokens.begin());
    CAPTURE(to_utf8(word));
    CHECK(ids_of(model, word) == expected);
  }
}

TEST_CASE("unigram: the best sum of scores, unknown characters as one") {
  const Unigram model({"<unk>", "a", "b", "ab", "abc"}, {0, -1, -1, -3, -0.5}, {.unk_id = 0});
  CHECK(ids_of(model, U"ab") == Ids{1, 2});
  CHECK(ids_of(model, U"abc") == Ids{4});
  const std::vector<Piece> pieces = pieces_of(model, U"axyb");
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[1].id == 0);
  CHECK(pieces[1].as_written);
  CHECK(pieces[1].begin == 1);
  CHECK(pieces[1].end == 3);
  const Unigram bytes({"<unk>", "a", "<0xC3>", "<0xA9>"}, {0, -1, -9, -9}, {.unk_id = 0, .byte_fallback = true});
  CHECK(ids_of(bytes, U"a\u00E9x") == Ids{1, 0});  // \u00E9 and x are unknown together, and x has no byte token
  CHECK(ids_of(bytes, U"\u00E9" U"a") == Ids{2, 3, 1});
  CHECK_THROWS_AS(ids_of(Unigram({"a"}, {0}, {}), U"b"), rote::StateError);
  CHECK_THROWS_AS(Unigram({"a"}, {0}, {.unk_id = 1}), rote::ArgumentError);
}

TEST_CASE("wordlevel: a word or the unknown token") {
  CHECK(ids_of(WordLevel(numbered({"[UNK]", "the"}), "[UNK]"), U"the") == Ids{1});
  CHECK(ids_of(WordLevel(numbered({"[UNK]", "the"}), "[UNK]"), U"fox") == Ids{0});
  CHECK_THROWS_AS(ids_of(WordLevel(numbered({"the"}), "[UNK]"), U"fox"), rote::StateError);
}

TEST_CASE("decoders: each on its own") {
  CHECK(decoded(ByteLevelDecoder{}, {"\u0120a\u00C3", "\u00A9", "\u4ECA"}) == " a\u00E9\u4ECA");
  CHECK(decoded(ByteLevelDecoder{}, {"\u00E2\u0124", "a"}) == "\uFFFDa");
  CHECK(decoded(ByteFallbackDecoder{}, {"<0xC3>", "<0xA9>", "a", "<0xC3>", "b"}) == "\u00E9a\uFFFDb");
  CHECK(decoded(MetaspaceDecoder{}, {"\u2581the", "\u2581fox\u2581"}) == "the fox ");
  CHECK(decoded(MetaspaceDecoder{.drop_first = false}, {"\u2581the"}) == " the");
  CHECK(decoded(BpeDecoder{}, {"lo", "w</w>", "er</w>"}) == "low er");
  CHECK(join_tokens({true, {FuseDecoder{}, StripDecoder{U' ', 1, 1}}}, {"  a", " b  "}) == " a b ");
  CHECK(decoded(StripDecoder{U'x', 9, 9}, {"xx"}).empty());
  CHECK(decoded(ReplaceDecoder{Regex::literal(U"_"), " "}, {"a_b", "_"}) == "a b ");
  CHECK(decoded(CtcDecoder{}, {"h", "h", "<pad>", "h", "|", "i"}) == "hh i");
}
