// tests/trainer/text_gguf_tokenizer_test.cpp — tokenizers in the metadata of .gguf files: ids as transformers 5.24 gives them, and files that lie.
#include "trainer/text/gguf_tokenizer.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/gguf_bytes.h"
#include "tests/support/place.h"
#include "trainer/text/tokenizer.h"

using namespace rote::text;
using rote::testing::file_of;
using rote::testing::GgufBytes;
using rote::testing::TempFolder;
using Ids = std::vector<int64_t>;

namespace {

const std::vector<std::string> kTokens = {"<end>", "<tool>", "a", "b", "Ġ", "1", "2", "'", "S", "ab", "Ġa", "Ġab", "12", "'S", "Ġ1", "Ġ12", "ĠĠ", "Ã", "©"};
const std::vector<std::string> kMerges = {"a b", "Ġ a", "Ġ ab", "1 2", "' S", "Ġ 1", "Ġ 12", "Ġ Ġ"};
const std::string kText = "ab ab 12  12'S<tool>a<end> é";

struct Metadata {
  GgufBytes bytes;
  uint64_t count = 0;

  Metadata& word(const char* key, const std::string& value) { return bytes.word(key, value), ++count, *this; }
  Metadata& u32(const char* key, uint32_t value) { return bytes.u32(key, value), ++count, *this; }
  Metadata& truth(const char* key, bool value) { return bytes.truth(key, value), ++count, *this; }
  Metadata& words(const char* key, const std::vector<std::string>& all) { return bytes.words(key, all), ++count, *this; }
  Metadata& types(const std::vector<int32_t>& all) { return bytes.i32s("tokenizer.ggml.token_type", all), ++count, *this; }
  Metadata& scores(const std::vector<float>& all) { return bytes.f32s("tokenizer.ggml.scores", all), ++count, *this; }
  std::string file() const { return file_of(bytes, count, {}); }
};

Metadata byte_level(const std::string& pre) {
  std::vector<int32_t> types(kTokens.size(), 1);
  types[0] = 3, types[1] = 4;
  Metadata m;
  m.word("general.architecture", "llama").u32("llama.context_length", 64).word("tokenizer.ggml.model", "gpt2").word("tokenizer.ggml.pre", pre);
  m.words("tokenizer.ggml.tokens", kTokens).types(types).words("tokenizer.ggml.merges", kMerges);
  return m.u32("tokenizer.ggml.bos_token_id", 0).u32("tokenizer.ggml.eos_token_id", 0);
}

Metadata sentencepiece() {
  Metadata m;
  m.word("tokenizer.ggml.model", "llama");
  m.words("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "<0x41>", "<0xC3>", "<0xA9>", "▁", "a", "b", "c", "ab", "bc", "abc", "▁a", "▁ab", "<x>"});
  m.types({2, 3, 3, 6, 6, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4}).scores({0, 0, 0, 0, 0, 0, -10, -11, -12, -13, -1, -2, -3, -4, -5, 0});
  return m.u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2).u32("tokenizer.ggml.unknown_token_id", 0);
}

Tokenizer tokenizer_of(const Metadata& m) {
  const TempFolder folder;
  return Tokenizer::from_folder(folder.file("x.gguf", m.file()));
}

// What loading ends in, without "tokenizer: PATH".
std::string refusal(const std::string& file) {
  const TempFolder folder;
  const std::string path = folder.file("x.gguf", file);
  try {
    Tokenizer::from_folder(path);
  } catch (const rote::Error& e) {
    const std::string text = e.what();
    const size_t at = text.find(path);
    return at == std::string::npos ? text : text.substr(at + path.size());
  }
  return "";
}

}  // namespace

TEST_CASE("gguf tokenizer: words of a byte-level BPE are cut as tokenizer.ggml.pre says") {
  struct Row {
    const char* pre;
    Ids ids;
  };
  const Row rows[] = {{"default", {9, 11, 15, 4, 15, 7, 8, 1, 2, 0, 4, 17, 18}},
                      {"gpt-2", {9, 11, 15, 4, 15, 7, 8, 1, 2, 0, 4, 17, 18}},
                      {"smollm", {9, 11, 4, 5, 6, 16, 5, 6, 7, 8, 1, 2, 0, 4, 17, 18}},
                      {"dbrx", {9, 11, 4, 12, 4, 4, 12, 13, 1, 2, 0, 4, 17, 18}},
                      {"llama-bpe", {0, 9, 11, 4, 12, 4, 4, 12, 13, 1, 2, 0, 4, 17, 18}},
                      {"qwen2", {9, 11, 4, 5, 6, 4, 4, 5, 6, 13, 1, 2, 0, 4, 17, 18}},
                      {"tekken", {0, 9, 11, 4, 5, 6, 4, 4, 5, 6, 13, 1, 2, 0, 4, 17, 18}},
                      {"gpt-4o", {9, 11, 4, 12, 4, 4, 12, 13, 1, 2, 0, 4, 17, 18}}};
  for (const Row& row : rows) {
    CAPTURE(row.pre);
    const Tokenizer tokenizer = tokenizer_of(byte_level(row.pre));
    CHECK(tokenizer.encode(kText).ids == row.ids);
    CHECK(tokenizer.decode(row.ids) == "ab ab 12  12'S<tool>a é");
    CHECK(tokenizer.model_max_length() == 64);
  }
}

TEST_CASE("gguf tokenizer: bos and eos are put around as the file says, and are special whatever their type") {
  Metadata m = byte_level("llama-bpe");
  CHECK(tokenizer_of(m.truth("tokenizer.ggml.add_bos_token", false)).encode("ab").ids == Ids{9});
  m.truth("tokenizer.ggml.add_eos_token", true);
  CHECK(tokenizer_of(m).encode("ab").ids == Ids{9, 0});
  const Encoding pair = tokenizer_of(m).encode("ab", "a");
  CHECK(pair.ids == Ids{9, 0, 2, 0});
  CHECK(pair.type_ids == Ids{0, 0, 1, 1});
  Metadata plain;
  plain.word("tokenizer.ggml.model", "gpt2").words("tokenizer.ggml.tokens", kTokens).words("tokenizer.ggml.merges", kMerges);
  CHECK(tokenizer_of(plain).token_to_id("<end>") == 0);
  CHECK(tokenizer_of(plain.u32("tokenizer.ggml.padding_token_id", 0)).pad_token_id() == 0);
  CHECK(tokenizer_of(plain).decode({0, 9}) == "ab");
}

TEST_CASE("gguf tokenizer: a whole word that is a token needs no merges only where its kind says so") {
  for (const bool whole : {false, true}) {
    Metadata m;
    m.word("tokenizer.ggml.model", "gpt2").word("tokenizer.ggml.pre", whole ? "llama-bpe" : "dbrx").words("tokenizer.ggml.tokens", {"a", "b", "ab"});
    CHECK(tokenizer_of(m.words("tokenizer.ggml.merges", {})).encode("ab").ids == (whole ? Ids{2} : Ids{0, 1}));
  }
}

TEST_CASE("gguf tokenizer: sentencepiece's merges are recovered from its scores, best first") {
  const TempFolder folder;
  const std::string path = folder.file("x.gguf", sentencepiece().file());
  const std::string model = read_gguf_tokenizer(rote::GgufFile::open(path)).model;
  CHECK(model.substr(model.find("\"merges\"")) == R"("merges":[["a","b"],["b","c"],["ab","c"],["a","bc"],["▁","a"],["▁a","b"],["▁","ab"]]})");
  const Tokenizer tokenizer = Tokenizer::from_folder(path);
  CHECK(tokenizer.encode("abc bcab<x>éA").ids == Ids{1, 6, 12, 6, 11, 10, 15, 4, 5, 3});
  CHECK(tokenizer.encode("  ab").ids == Ids{1, 6, 14});
  CHECK(tokenizer.encode("a", "b").ids == Ids{1, 13, 1, 6, 8});
  CHECK(tokenizer.decode({1, 6, 12, 6, 11, 10, 15, 4, 5, 3}) == "abc bcab<x>éA");
  Metadata m = sentencepiece();
  CHECK(tokenizer_of(m.truth("tokenizer.ggml.add_space_prefix", false).truth("tokenizer.ggml.add_bos_token", false)).encode("abc").ids == Ids{12});
  Metadata listed = sentencepiece();
  CHECK(tokenizer_of(listed.words("tokenizer.ggml.merges", {"b c"})).encode("abc").ids == Ids{1, 6, 7, 11});
}

TEST_CASE("gguf tokenizer: saved, it is a folder that gives the same ids, with the chat template") {
  Metadata m = byte_level("smollm");
  const Tokenizer tokenizer = tokenizer_of(m.word("tokenizer.chat_template", "{% for m in messages %}\n\"{{ m }}\"{% endfor %}"));
  const TempFolder folder;
  tokenizer.save(folder.path());
  CHECK(Tokenizer::from_folder(folder.path()).encode(kText).ids == tokenizer.encode(kText).ids);
  const std::string config = rote::testing::read_text(folder.file("tokenizer_config.json"));
  CHECK(config.find(R"("bos_token": "<end>")") != std::string::npos);
  CHECK(config.find(R"("chat_template": "{% for m in messages %}\u000a\"{{ m }}\"{% endfor %}")") != std::string::npos);
  CHECK(config.find(R"("tokenizer_class": "PreTrainedTokenizerFast")") != std::string::npos);
}

TEST_CASE("gguf tokenizer: what is not known or cannot be is refused in one sentence") {
  CHECK(refusal(byte_level("mystery").file()).find(": tokenizer.ggml.pre is \"mystery\"; known are default gpt-2 ") == 0);
  CHECK(refusal(byte_level("").file()).find(": tokenizer.ggml.pre is \"\"; known are ") == 0);
  CHECK(refusal(Metadata().word("tokenizer.ggml.model", "bert").file()) == ": tokenizer.ggml.model is \"bert\"; gpt2 and llama are read.");
  CHECK(refusal(Metadata().word("general.architecture", "llama").file()) == ": tokenizer.ggml.model is \"\"; gpt2 and llama are read.");
  CHECK(refusal(Metadata().word("tokenizer.ggml.model", "gpt2").file()) == " has no tokenizer.ggml.tokens; it is no whole model.");
  Metadata short_types;
  short_types.word("tokenizer.ggml.model", "gpt2").words("tokenizer.ggml.tokens", {"a", "b"}).types({1});
  CHECK(refusal(short_types.file()) == " has 2 tokens but 1 of tokenizer.ggml.token_type; there must be as many.");
  Metadata no_scores;
  no_scores.word("tokenizer.ggml.model", "llama").words("tokenizer.ggml.tokens", {"a", "b"});
  CHECK(refusal(no_scores.file()) == " lists no merges and 0 of tokenizer.ggml.scores for 2 tokens; there must be as many.");
  CHECK(refusal(no_scores.scores({0, std::numeric_limits<float>::quiet_NaN()}).file()) == ": tokenizer.ggml.scores[1] is NaN; it must be a number.");
  Metadata far = byte_level("default");
  CHECK(refusal(far.u32("tokenizer.ggml.padding_token_id", 99).file()) == ": tokenizer.ggml.padding_token_id is 99 of 19 tokens; it must be the number of one.");
  Metadata latin;
  latin.word("tokenizer.ggml.model", "gpt2").words("tokenizer.ggml.tokens", {"\xE9"});
  CHECK(refusal(latin.file()) == ": tokenizer.ggml.tokens is not UTF-8; it must be.");
  Metadata strange;
  strange.word("tokenizer.ggml.model", "gpt2").words("tokenizer.ggml.tokens", {"a"}).words("tokenizer.ggml.merges", {"a b"});
  CHECK(refusal(strange.file()).find("model.merges[0] needs \"b\", which is not in the vocabulary") != std::string::npos);
}

TEST_CASE("gguf tokenizer: a few bytes that stand for very many merges are refused, or cost what they say") {
  std::vector<std::string> runs;
  std::vector<float> scores;
  for (size_t n = 1; n <= 900; ++n) runs.push_back(std::string(n, 'a')), scores.push_back(-static_cast<float>(n));
  Metadata m;
  m.word("tokenizer.ggml.model", "llama").words("tokenizer.ggml.tokens", runs).scores(scores);
  CHECK(refusal(m.file()) == " would need a tokenizer.json larger than itself; the file is damaged.");
}

TEST_CASE("gguf tokenizer: a file cut short or changed in any byte is refused or read, never more") {
  for (const std::string& whole : {byte_level("smollm").file(), sentencepiece().file()}) {
    REQUIRE(refusal(whole).empty());
    for (size_t n = 0; n + 32 < whole.size(); n += 7) CHECK_FALSE(refusal(whole.substr(0, n)).empty());
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (at % 2 ? 0xFF : 1 << at % 8));
      CHECK(refusal(changed).find('\n') == std::string::npos);
    }
  }
}
