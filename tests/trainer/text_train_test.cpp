// tests/trainer/text_train_test.cpp — vocabularies learnt from a few words, and folders without a tokenizer.json.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "kernels/pool.h"
#include "tests/support/place.h"
#include "trainer/text/tokenizer.h"
#include "trainer/text/train_bpe.h"
#include "trainer/text/train_tokenizer.h"
#include "trainer/text/train_unigram.h"

using namespace rote::text;
using rote::testing::TempFolder;

namespace {

using Ids = std::vector<int64_t>;
using Kind = TokenizerTraining::Kind;

const WordCounts kWords = {{U"hug", 10}, {U"hugs", 5}, {U"pug", 5}, {U"pun", 12}, {U"bun", 4}};

std::string some_text() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "The quick brown fox no. " + std::to_string(i * 7919 % 1000) + " jumps over the caf\u00E9\u4ECA\u5929!\n";
  return text;
}

void write(const TokenizerText& text, const TempFolder& folder) {
  folder.file("tokenizer.json", text.tokenizer_json());
  folder.file("tokenizer_config.json", text.tokenizer_config());
  folder.file("special_tokens_map.json", text.special_tokens_map());
}

}  // namespace

TEST_CASE("train bpe: the most frequent pair first, of equals the lesser ids") {
  const BpeResult result = train_bpe(kWords, {.vocab_size = 12, .special_tokens = {"<s>"}});
  // Made by tokenizers 0.23.3 from the same words.
  CHECK(result.tokens == std::vector<std::string>{"<s>", "b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug", "pun"});
  CHECK(result.merges == std::vector<std::pair<uint32_t, uint32_t>>{{7, 2}, {7, 4}, {3, 8}, {5, 9}});
  CHECK(train_bpe(kWords, {.vocab_size = 100, .min_frequency = 10}).merges.size() == 4);
  CHECK(train_bpe(kWords, {.vocab_size = 100, .limit_alphabet = 2}).tokens == std::vector<std::string>{"g", "u", "ug"});
  CHECK(train_bpe(kWords, {.vocab_size = 100, .max_token_length = 3}).tokens.size() == 9);
  const BpeResult prefixed = train_bpe({{U"aab", 1}, {U"ab", 3}}, {.vocab_size = 100, .continuing_subword_prefix = "##"});
  CHECK(prefixed.tokens == std::vector<std::string>{"a", "b", "##a", "##b", "ab", "aa", "aab"});
}

TEST_CASE("train unigram: every character, and what is worth a token") {
  const UnigramResult result = train_unigram(kWords, {.vocab_size = 14, .special_tokens = {"<s>"}, .unk_token = "<unk>"});
  REQUIRE(result.tokens.size() <= 14);
  CHECK(result.tokens[0] == "<unk>");
  CHECK(result.unk_id == 0);
  CHECK(result.tokens[1] == "<s>");
  for (const char* token : {"b", "g", "h", "n", "p", "s", "u", "hug", "un"}) {
    CAPTURE(token);
    CHECK(std::find(result.tokens.begin(), result.tokens.end(), token) != result.tokens.end());
  }
  CHECK(std::is_sorted(result.scores.begin() + 2, result.scores.end(), std::greater<>()));
  CHECK_THROWS_AS(train_unigram(kWords, {.vocab_size = 7, .unk_token = "<unk>"}), rote::ArgumentError);
}

TEST_CASE("train tokenizer: each kind loads, encodes and decodes, the same for any number of threads") {
  const TempFolder folder;
  const std::string file = folder.file("text.txt", some_text());
  for (const Kind kind : {Kind::bpe, Kind::wordpiece, Kind::unigram}) {
    const TokenizerTraining options{.kind = kind, .vocab_size = 400, .lowercase = false};
    rote::set_num_threads(1);
    const std::string one = train_tokenizer({file, file}, options).tokenizer_json();
    rote::set_num_threads(3);
    const TokenizerText made = train_tokenizer({file, file}, options);
    rote::set_num_threads(0);
    CHECK(made.tokenizer_json() == one);
    const TempFolder out;
    write(made, out);
    const Tokenizer tokenizer = Tokenizer::from_folder(out.path());
    CHECK(tokenizer.vocab_size() <= 400);
    CHECK(tokenizer.decode(tokenizer.encode("The fox jumps over 123").ids) == "The fox jumps over 123");
  }
  CHECK_THROWS_AS(train_tokenizer({folder.file("bad.txt", "\xC3(")}, {}), rote::ArgumentError);
  CHECK_THROWS_AS(train_tokenizer({"/not/there"}, {}), rote::IoError);
}

TEST_CASE("plain files: a vocab.txt is a BERT tokenizer") {
  const TempFolder folder, saved;
  folder.file("vocab.txt", "[PAD]\r\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nFox\n##es\n");
  CHECK(Tokenizer::from_folder(folder.path()).encode("the Fox").ids == Ids{2, 5, 1, 3});  // lower case unless told otherwise
  folder.file("tokenizer_config.json",
              R"({"tokenizer_class":"DistilBertTokenizerFast","do_lower_case":false,"model_max_length":9,"cls_token":{"content":"[MASK]"},
"added_tokens_decoder":{"8":{"content":"<x>","lstrip":true,"special":false,"normalized":false}},"additional_special_tokens":["<y>"]})");
  const Tokenizer tokenizer = Tokenizer::from_folder(folder.path());
  CHECK(tokenizer.encode("the Foxes <x><y>", "the").ids == Ids{4, 5, 6, 7, 8, 9, 3, 5, 3});
  CHECK(tokenizer.model_max_length() == 9);
  tokenizer.save(saved.path());
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"}) {
    CHECK(std::filesystem::exists(saved.file(name)));
  }
  CHECK(Tokenizer::from_folder(saved.path()).encode("the Foxes <x><y>").ids == tokenizer.encode("the Foxes <x><y>").ids);
}

TEST_CASE("plain files: vocab.json and merges.txt are GPT-2's or RoBERTa's") {
  const TempFolder folder;
  folder.file("vocab.json", R"({"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"<mask>":4,"a":5,"b":6,"ab":7,"\u0120":8,"<|endoftext|>":9})");
  folder.file("merges.txt", "#version: 0.2\na b\n");
  CHECK(Tokenizer::from_folder(folder.path()).encode("ab a<|endoftext|>").ids == Ids{7, 8, 5, 9});
  folder.file("tokenizer_config.json", R"({"tokenizer_class":"RobertaTokenizer","add_prefix_space":true})");
  const Encoding row = Tokenizer::from_folder(folder.path()).encode("ab", "b<mask>");
  CHECK(row.ids == Ids{0, 8, 7, 2, 2, 8, 6, 4, 2});
  CHECK(row.type_ids == Ids(9, 0));
  folder.file("tokenizer_config.json", R"({"tokenizer_class":"T5Tokenizer"})");
  CHECK_THROWS_AS(Tokenizer::from_folder(folder.path()), rote::ArgumentError);
  folder.file("tokenizer_config.json", "{}");
  folder.file("merges.txt", "a b c\n");
  CHECK_THROWS_AS(Tokenizer::from_folder(folder.path()), rote::IoError);
  std::filesystem::remove(folder.file("merges.txt"));
  CHECK_THROWS_AS(Tokenizer::from_folder(folder.path()), rote::IoError);
}
