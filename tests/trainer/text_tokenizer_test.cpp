// tests/trainer/text_tokenizer_test.cpp — the whole tokenizer on a small tokenizer.json, its files and its refusals.
#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "trainer/text/tokenizer.h"
#include "trainer/text/tokenizer_json.h"

using namespace rote::text;
using rote::testing::TempFolder;

namespace {

using Ids = std::vector<int64_t>;
using Offsets = std::vector<std::pair<int64_t, int64_t>>;

constexpr char kWords[] =
    "[PAD] [UNK] [CLS] [SEP] [MASK] the quick brown fox un ##afford ##able ##s , . ! ' don t \u4ECA \u5929 naive cafe ##\u00E9 caf\u00E9 "
    "istanbul \u03C3\u03B1\u03C3 \u03BF ##\u03B4\u03BF\u03C3 a ##b ##c hello world # 2 ##0 ##2 ##6";

std::string added(int id, const std::string& content, const std::string& flags) {
  return rote::str("{\"id\":", id, ",\"content\":\"", content, "\",", flags, "}");
}

// A complete tokenizer.json of kWords; the file asks for a truncation that must not be applied.
std::string tiny_json() {
  std::string vocab, tokens;
  std::istringstream words(kWords);
  int id = 0;
  for (std::string word; words >> word; ++id) {
    vocab += rote::str(id > 0 ? "," : "", "\"", word, "\":", id);
    if (id < 5) tokens += added(id, word, R"("single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true)") + ",";
  }
  tokens += added(id, "<new>", R"("single_word":false,"lstrip":true,"rstrip":true,"normalized":false,"special":false)") + ",";
  tokens += added(id + 1, "Gnu", R"("single_word":true,"lstrip":false,"rstrip":false,"normalized":true,"special":false)");
  return R"({"version":"1.0","truncation":{"direction":"Right","max_length":4,"strategy":"LongestFirst","stride":0},"padding":null,
"added_tokens":[)" + tokens + R"(],
"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
"pre_tokenizer":{"type":"BertPreTokenizer"},
"post_processor":{"type":"TemplateProcessing",
"single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}}],
"pair":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}},
{"Sequence":{"id":"B","type_id":1}},{"SpecialToken":{"id":"[SEP]","type_id":1}}],
"special_tokens":{"[CLS]":{"id":"[CLS]","ids":[2],"tokens":["[CLS]"]},"[SEP]":{"id":"[SEP]","ids":[3],"tokens":["[SEP]"]}}},
"decoder":{"type":"WordPiece","prefix":"##","cleanup":true},
"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":12,"vocab":{)" + vocab + "}}}";
}

Tokenizer tiny() {
  const TempFolder folder;
  return Tokenizer::from_file(folder.file("tokenizer.json", tiny_json()));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& json) {
  try {
    read_tokenizer_json(json, "t.json");
  } catch (const rote::Error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("tokenizer: ids and offsets equal the reference's") {
  // Made by tokenizers 0.23.3 from the file of tiny_json(), without special tokens and without truncation.
  struct ArgumentRow {
    std::string text;
    Ids ids;
    Offsets offsets;
  };
  const std::vector<ArgumentRow> rows = {
      {"The quick, unaffordable Fox!",
       {5, 6, 13, 9, 10, 11, 8, 15},
       {{0, 3}, {4, 9}, {9, 10}, {11, 13}, {13, 19}, {19, 23}, {24, 27}, {27, 28}}},
      {"don't", {17, 16, 18}, {{0, 3}, {3, 4}, {4, 5}}},
      {"na\u00EFve CAF\u00C9 cafe\u0301", {21, 22, 22}, {{0, 5}, {6, 10}, {11, 15}}},
      {"\u4ECA\u5929 a\u4ECAb", {19, 20, 29, 19, 1}, {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 6}}},
      {"\u0130stanbul \u03A3\u0391\u03A3 \u039F\u0394\u039F\u03A3", {25, 26, 27, 28}, {{0, 8}, {9, 12}, {13, 14}, {14, 17}}},
      {"a\x01" "b\u00AD\u200Bc\uFFFD\t\n2026",
       {29, 30, 31, 35, 36, 37, 38},
       {{0, 1}, {2, 3}, {5, 6}, {9, 10}, {10, 11}, {11, 12}, {12, 13}}},
      {"abcabcabcabc abcabcabcabca", {1, 1}, {{0, 12}, {13, 26}}},
      {"hello <new>   world [MASK]", {32, 39, 33, 4}, {{0, 5}, {5, 14}, {14, 19}, {20, 26}}},
      {"gnu GNU gnus x-Gnu", {40, 40, 1, 1, 1, 40}, {{0, 3}, {4, 7}, {8, 12}, {13, 14}, {14, 15}, {15, 18}}},
      {"a\u0323\u0301b e\u0301\u0345", {29, 30, 1}, {{0, 1}, {3, 4}, {5, 6}}},
      {"", {}, {}},
      {"[CLS]a[SEP]", {2, 29, 3}, {{0, 5}, {5, 6}, {6, 11}}},
      {"\U0001F642 hello", {1, 32}, {{0, 1}, {2, 7}}},
  };
  const Tokenizer tokenizer = tiny();
  for (const ArgumentRow& row : rows) {
    CAPTURE(row.text);
    const Encoding got = tokenizer.encode(row.text, {.add_special_tokens = false});
    CHECK(got.ids == row.ids);
    CHECK(got.offsets == row.offsets);
  }
}

TEST_CASE("tokenizer: two texts, a list of words and the token texts") {
  const Tokenizer tokenizer = tiny();
  const Encoding pair = tokenizer.encode("the fox", "hello!");
  CHECK(pair.ids == Ids{2, 5, 8, 3, 32, 15, 3});
  CHECK(pair.type_ids == Ids{0, 0, 0, 0, 1, 1, 1});
  CHECK(pair.word_ids == Ids{-1, 0, 1, -1, 0, 1, -1});
  CHECK(pair.sequence_ids == Ids{-1, 0, 0, -1, 1, 1, -1});
  CHECK(pair.special_tokens_mask == Ids{1, 0, 0, 1, 0, 0, 1});
  CHECK(pair.tokens == std::vector<std::string>{"[CLS]", "the", "fox", "[SEP]", "hello", "!", "[SEP]"});

  const std::vector<std::string> words = {"don't", "", "Hello"};
  const Encoding list = tokenizer.encode(words);
  CHECK(list.ids == Ids{2, 17, 16, 18, 32, 3});
  CHECK(list.word_ids == Ids{-1, 0, 0, 0, 2, -1});
  CHECK(list.offsets == Offsets{{0, 0}, {0, 3}, {3, 4}, {4, 5}, {0, 5}, {0, 0}});
  CHECK(tokenizer.encode("a <new> GNU").tokens == std::vector<std::string>{"[CLS]", "a", " <new> ", "gnu", "[SEP]"});
}

TEST_CASE("tokenizer: truncation counts the special tokens, batches are padded to their longest row") {
  const Tokenizer tokenizer = tiny();
  const EncodeOptions short_rows{.truncation = Truncation{.max_length = 4, .stride = 1}};
  const Encoding cut = tokenizer.encode("the quick brown fox", short_rows);
  CHECK(cut.ids == Ids{2, 5, 6, 3});
  REQUIRE(cut.overflowing.size() == 2);
  CHECK(cut.overflowing[0].ids == Ids{2, 6, 7, 3});
  CHECK(cut.overflowing[1].ids == Ids{2, 7, 8, 3});

  const std::vector<Encoding> batch = tokenizer.encode_batch({{"the", {}}, {"the", "fox fox"}}, {.padding = Padding{}});
  CHECK(batch[0].ids == Ids{2, 5, 3, 0, 0, 0});
  CHECK(batch[1].ids == Ids{2, 5, 3, 8, 8, 3});

  const auto refused = [&](Truncation how) { return [&tokenizer, how] { tokenizer.encode("the fox", {.truncation = how}); }; };
  CHECK_THROWS_WITH_AS(refused({.max_length = 1})(),
                       "truncation: max_length is 1 but the template alone has 2 special tokens; raise max_length.", rote::ArgumentError);
  CHECK_THROWS_AS(refused({.max_length = -1})(), rote::ArgumentError);
  CHECK_THROWS_AS(refused({.max_length = 9, .stride = 8})(), rote::ArgumentError);
  CHECK_THROWS_WITH_AS(tokenizer.encode("the", {.add_special_tokens = false, .truncation = Truncation{.max_length = 6, .stride = 5}}),
                       "truncation: stride is 5 but max_length 6 leaves 4 tokens for the text; the stride must be smaller.", rote::ArgumentError);
  CHECK(tokenizer.encode("the fox", {.add_special_tokens = false, .truncation = Truncation{.max_length = 1}}).ids == Ids{5});
}

TEST_CASE("tokenizer: ids alone equal those of a full encoding, from any thread") {
  const Tokenizer tokenizer = tiny();
  const auto compare = [&](unsigned seed, bool& equal) {
    std::mt19937 random(seed);
    const std::vector<std::string> parts = {"the ", "Fox",    "un", "affordables", "<new>", " [SEP]",
                                            "\u4ECA", "\u00C9", "\t", "gnu",         "!",     "zz"};
    for (int round = 0; round < 300 && equal; ++round) {
      std::string text;
      for (size_t n = random() % 9; n > 0; --n) text += parts[random() % parts.size()];
      EncodeOptions options{.truncation = Truncation{.max_length = 8}, .padding = Padding{.length = 6}};
      const Encoding all = tokenizer.encode(text, options);
      options.fields = Fields::ids;
      const Encoding ids = tokenizer.encode(text, options);
      equal = all.ids == ids.ids && all.type_ids == ids.type_ids && all.attention_mask == ids.attention_mask && ids.offsets.empty() &&
              ids.tokens.empty() && ids.overflowing.empty() && all.offsets.size() == all.ids.size();
    }
  };
  bool here = true, there = true;
  std::thread other([&] { compare(1, there); });
  compare(2, here);
  other.join();
  CHECK(here);
  CHECK(there);
}

TEST_CASE("tokenizer: ids go back to text") {
  const Tokenizer tokenizer = tiny();
  CHECK(tokenizer.decode({2, 5, 6, 13, 9, 10, 11, 12, 8, 15, 3}) == "the quick, unaffordables fox!");
  CHECK(tokenizer.decode({2, 5, 3}, false) == "[CLS] the [SEP]");
  CHECK(tokenizer.decode({5, 999, 8}) == "the fox");
  CHECK(tokenizer.decode({}) == "");
  CHECK_THROWS_WITH_AS(tokenizer.decode({5, -100}),
                       "decode: ids[1] is -100, which no token has; replace fillers such as -100 by the pad token or leave them out.",
                       rote::ArgumentError);
  CHECK(tokenizer.token_to_id("fox") == 8);
  CHECK(tokenizer.token_to_id("Gnu") == 40);
  CHECK(tokenizer.token_to_id("wolf") == std::nullopt);
  CHECK(tokenizer.id_to_token(8) == "fox");
  CHECK(tokenizer.id_to_token(41) == std::nullopt);
  CHECK(tokenizer.vocab_size(false) == 39);
  CHECK(tokenizer.vocab_size() == 41);
  CHECK(tokenizer.id_limit() == 41);
  std::string gaps = tiny_json();
  gaps.replace(gaps.find("\"##6\":38"), 8, "\"##6\":70000");
  const TempFolder folder;
  CHECK(Tokenizer::from_file(folder.file("tokenizer.json", gaps)).id_limit() == 70001);
}

TEST_CASE("tokenizer: tokens join as the decoder has it, and a folder may ask for blanks to go") {
  const TempFolder folder;
  folder.file("tokenizer.json", tiny_json());
  const Tokenizer plain = Tokenizer::from_folder(folder.path());
  CHECK(plain.join({"the", "un", "##afford", "'", "s", "fox"}) == "the unafford ' s fox");
  CHECK(plain.join({}) == "");
  CHECK(plain.marks_subwords());
  folder.file("tokenizer_config.json", R"({"clean_up_tokenization_spaces": true})");
  const Tokenizer tidy = Tokenizer::from_folder(folder.path());
  CHECK(plain.decode({17, 16, 18}) == "don ' t");
  CHECK(tidy.decode({17, 16, 18}) == "don't");
  CHECK(tidy.join({"don", "'", "t"}) == "don ' t");
  std::string text = "we do not see the fox ' s end , the fox ' ve , a n't b 's c 're d 'm ! e ? f .";
  clean_up_spaces(text);
  CHECK(text == "we do not see the fox's end, the fox've, an't b's c're d'm! e? f.");
}

TEST_CASE("tokenizer: a text that is not UTF-8 is refused with the byte") {
  CHECK_THROWS_WITH_AS(tiny().encode("good \xC3(", {}), "encode: the text is not UTF-8 at byte 5 (0xC3); texts must be encoded as UTF-8.",
                       rote::ArgumentError);
}

TEST_CASE("tokenizer: a folder gives roles and limits, and is saved byte for byte") {
  const TempFolder from, to;
  from.file("tokenizer.json", tiny_json());
  from.file("tokenizer_config.json",
            R"({"pad_token": {"content": "[MASK]"}, "model_max_length": 512, "padding_side": "left", "mask_token": null})");
  from.file("special_tokens_map.json", R"({"pad_token": "[PAD]", "sep_token": "fox"})");
  from.file("vocab.txt", "[PAD]\n[UNK]\n");
  from.file("model.safetensors", "not ours");
  const Tokenizer tokenizer = Tokenizer::from_folder(from.path());
  CHECK(tokenizer.pad_token_id() == 4);  // tokenizer_config.json comes first
  CHECK(tokenizer.sep_token_id() == 8);
  CHECK(tokenizer.cls_token_id() == 2);
  CHECK(tokenizer.mask_token_id() == 4);
  CHECK(tokenizer.unk_token_id() == 1);
  CHECK(tokenizer.model_max_length() == 512);
  CHECK(tokenizer.padding_side() == Side::left);
  CHECK(tokenizer.truncation_side() == Side::right);

  tokenizer.save(to.path());
  CHECK(tokenizer.files().size() == 4);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"}) {
    CHECK(rote::testing::read_text(to.file(name)) == rote::testing::read_text(from.file(name)));
  }
  CHECK_FALSE(std::filesystem::exists(to.file("model.safetensors")));
  CHECK(Tokenizer::from_folder(to.path()).encode("the fox").ids == tokenizer.encode("the fox").ids);
  CHECK_THROWS_AS(tokenizer.save(to.file("not/there")), rote::IoError);
}

TEST_CASE("tokenizer: without a limit in the files there is none") {
  const TempFolder folder;
  folder.file("tokenizer.json", tiny_json());
  CHECK(Tokenizer::from_folder(folder.path()).model_max_length() == std::nullopt);
  folder.file("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  CHECK(Tokenizer::from_folder(folder.path()).model_max_length() == std::nullopt);
}

TEST_CASE("tokenizer: missing and broken files are refused in one sentence") {
  const TempFolder folder;
  CHECK_THROWS_WITH_AS(Tokenizer::from_folder(folder.path()),
                       (rote::str("tokenizer: ", folder.path(),
                                  " has no tokenizer.json, no vocab.txt and no vocab.json with merges.txt; give a checkpoint folder that "
                                  "holds its tokenizer.")
                            .c_str()),
                       rote::IoError);
  CHECK_THROWS_AS(Tokenizer::from_file(folder.file("nothing.json")), rote::IoError);

  const std::string good = tiny_json();
  CHECK(refusal(good) == "accepted");
  CHECK(refusal(good.substr(0, 100)) == "tokenizer: t.json is not a JSON object (100 bytes); it may be cut short or another file.");
  CHECK(refusal("{}") == "tokenizer: t.json has no \"model\"; the file must be a complete tokenizer.json.");
  CHECK(refusal(replaced(good, "\"BertNormalizer\"", "\"NFX\"")) ==
        "tokenizer: t.json.normalizer: normalizer NFX is not known; known are BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, "
        "Strip, Prepend, Replace, Nmt, ByteLevel, Precompiled.");
  CHECK(refusal(replaced(good, "\"BertPreTokenizer\"", "\"UnicodeScripts\"")) ==
        "tokenizer: t.json.pre_tokenizer: pre-tokenizer UnicodeScripts is not known; known are BertPreTokenizer, ByteLevel, "
        "CharDelimiterSplit, Digits, FixedLength, Metaspace, Punctuation, Split, Whitespace, WhitespaceSplit.");
  CHECK(refusal(replaced(good, "\"TemplateProcessing\"", "\"Other\"")) ==
        "tokenizer: t.json.post_processor: post-processor Other is not known; known are TemplateProcessing, BertProcessing, "
        "RobertaProcessing, ByteLevel.");
  CHECK(refusal(replaced(good, "{\"type\":\"WordPiece\",\"prefix\"", "{\"type\":\"Other\",\"prefix\"")) ==
        "tokenizer: t.json.decoder: decoder Other is not known; known are WordPiece, BPEDecoder, ByteLevel, ByteFallback, Metaspace, Fuse, "
        "Strip, Replace, CTC.");
  CHECK(refusal(replaced(good, "\"type\":\"WordPiece\",\"unk", "\"type\":\"Other\",\"unk")) ==
        "tokenizer: t.json.model: model Other is not known; known are BPE, Unigram, WordLevel, WordPiece.");
  CHECK(refusal(replaced(good, "\"fox\":8", "\"fox\":-8")) ==
        "tokenizer: t.json.model.vocab[\"fox\"] is -8; it must be an integer in [0, 2^31).");
  CHECK(refusal(replaced(good, "\"lowercase\":true", "\"lowercase\":1")) ==
        "tokenizer: t.json.normalizer.lowercase is number; it must be true or false.");
  CHECK(refusal(replaced(good, "{\"id\":\"A\",\"type_id\":0}", "{\"id\":\"B\",\"type_id\":0}")) ==
        "tokenizer: t.json.post_processor.single[1].Sequence.id is \"B\"; it must be A.");
}

TEST_CASE("tokenizer: BertProcessing is the template of BERT") {
  const std::string json = tiny_json();
  const size_t begin = json.find("\"post_processor\""), end = json.find("\"decoder\"");
  const TempFolder folder;
  const std::string bert = "\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",3],\"cls\":[\"[CLS]\",2]},\n";
  const Tokenizer other = Tokenizer::from_file(folder.file("tokenizer.json", json.substr(0, begin) + bert + json.substr(end)));
  const Encoding a = other.encode("the fox", "hello"), b = tiny().encode("the fox", "hello");
  CHECK(a.ids == b.ids);
  CHECK(a.type_ids == b.type_ids);
  CHECK(a.tokens == b.tokens);
}

TEST_CASE("tokenizer: without a post-processor the texts stand alone") {
  const std::string json = tiny_json();
  const size_t begin = json.find("\"post_processor\""), end = json.find("\"decoder\"");
  const TempFolder folder;
  const Tokenizer bare = Tokenizer::from_file(folder.file("tokenizer.json", json.substr(0, begin) + json.substr(end)));
  CHECK(bare.encode("the fox", "hello").ids == Ids{5, 8, 32});
  CHECK(bare.encode("the fox", "hello").type_ids == Ids{0, 0, 1});
  CHECK(bare.encode("the", {.padding = Padding{.length = 3}}).sequence_ids == Ids{0, 0, 0});
}
