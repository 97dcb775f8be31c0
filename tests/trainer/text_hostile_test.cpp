// tests/trainer/text_hostile_test.cpp — tokenizer.json files that lie: one sentence each, and no more memory than the file is worth.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "trainer/text/tokenizer.h"

using namespace rote::text;
using rote::testing::TempFolder;

namespace {

// n entries that are all alike.
std::string list_of(const std::string& entry, int n) {
  std::string list = entry;
  while (--n > 0) list += "," + entry;
  return "[" + list + "]";
}

const std::string kModel = R"("model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]})";

// What loading and encoding with the file ends in; empty where both work.
std::string outcome(const std::string& json) {
  const TempFolder folder;
  try {
    const Tokenizer tokenizer = Tokenizer::from_file(folder.file("tokenizer.json", json));
    tokenizer.decode(tokenizer.encode("abba \u00E9").ids);
  } catch (const rote::Error& e) {
    return e.what();
  }
  return "";
}

std::string with(const std::string& members) { return "{" + kModel + "," + members + "}"; }

}  // namespace

TEST_CASE("hostile: each fault is refused in one sentence") {
  CHECK(outcome("{" + kModel + "}").empty());
  const std::vector<std::string> files = {
      std::string(1 << 20, '['),
      "{\"model\":" + std::string(1 << 20, '{'),
      with("\"normalizer\":" + std::string(60, '[') + std::string(60, ']')),
      R"({"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}})",
      R"({"model":{"type":"BPE","vocab":{"a":4294967296},"merges":[]}})",
      R"({"model":{"type":"BPE","vocab":{"a":1e3},"merges":[]}})",
      R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}})",
      R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a a"]}})",
      R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[["a"]]}})",
      R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[7]}})",
      R"({"model":{"type":"BPE","vocab":{"a":0},"merges":{}}})",
      R"({"model":{"type":"BPE","dropout":0.5,"vocab":{"a":0},"merges":[]}})",
      R"({"model":{"type":"BPE","continuing_subword_prefix":"####","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}})",
      R"({"model":{"type":"Unigram","unk_id":9,"vocab":[["a",0]]}})",
      R"({"model":{"type":"Unigram","unk_id":-1,"vocab":[["a",0]]}})",
      R"({"model":{"type":"Unigram","vocab":[["a"]]}})",
      R"({"model":{"type":"Unigram","vocab":[["a",1e999]]}})",
      R"({"model":{"type":"Unigram","vocab":[]}})",
      "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"\xFF\":0},\"merges\":[]}}",
      R"({"model":{"type":"BPE","vocab":{"\ud800":0},"merges":[]}})",
      R"({"model":[]})",
      with(R"("added_tokens":[{"id":-1,"content":"x"}])"),
      with(R"("added_tokens":[{"id":99999999999,"content":"x"}])"),
      with(R"("added_tokens":{})"),
      with(R"("post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":-1}}],"pair":[],"special_tokens":{}})"),
      with(R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x","type_id":0}}],"pair":[],"special_tokens":{}})"),
      with(R"("normalizer":{"type":"Precompiled","precompiled_charsmap":"/////wAAAAA="})"),
      with(R"("normalizer":{"type":"Replace","pattern":{"Regex":"((((("},"content":""})"),
      with(R"("pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?:(?:a{900}){900}){900}"},"behavior":"Isolated","invert":false})"),
      with(R"("pre_tokenizer":{"type":"Split","pattern":{"Regex":"a"},"behavior":"Sideways","invert":false})"),
      with(R"("pre_tokenizer":{"type":"FixedLength","length":0})"),
      with(R"("decoder":{"type":"Strip","content":"ab","start":1,"stop":1})"),
      with(R"("decoder":{"type":"Strip","content":"a","start":99999999999999999999,"stop":1})"),
      with("\"normalizer\":{\"type\":\"Prepend\",\"prepend\":\"" + std::string(1 << 20, 'x') + "\"}"),
      with("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"" + std::string(1 << 20, 'x') + "\"},\"behavior\":\"Removed\"}"),
      with("\"added_tokens\":" + list_of("{\"content\":\"\"}", 70000)),
      with("\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":" + list_of("1", 70000) + "}"),
      with("\"added_tokens\":[{\"id\":3,\"content\":\"" + std::string(1 << 20, 'x') + "\"}]"),
  };
  for (const std::string& file : files) {
    CAPTURE(file.substr(0, 160));
    const std::string said = outcome(file);
    CHECK_FALSE(said.empty());
    CHECK(said.size() < 600);
    CHECK(said.find('\n') == std::string::npos);
  }
}

TEST_CASE("hostile: odd but lawful files load") {
  CHECK(outcome(R"({"model":{"type":"BPE","vocab":{"a":0,"b":0,"ab":0},"merges":["a b","a b"]}})").empty());  // merges that go in circles
  CHECK(outcome(R"({"model":{"type":"BPE","merges":[],"vocab":{}}})").empty());
  CHECK(outcome(R"({"model":{"type":"BPE","vocab":{"":0,"a":2147483647},"merges":[]}})").empty());
  CHECK(outcome(with(R"("decoder":{"type":"Strip","content":"a","start":2147483647,"stop":2147483647})")).empty());
  CHECK(outcome(with(R"("added_tokens":[{"id":7,"content":""},{"id":7,"content":"a"},{"id":7,"content":"zz"}])")).empty());
}

TEST_CASE("hostile: a file cut short or changed in any byte is refused or read, never more") {
  std::string sequence;
  for (int i = 0; i < 3; ++i) sequence += R"({"type":"Replace","pattern":{"Regex":"[a-c]+(?=b)|\\s{2,}"},"content":"x"},)";
  const std::string whole = with("\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" + sequence +
                                 R"({"type":"NFKC"}]},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true},"decoder":{"type":"ByteLevel"})");
  REQUIRE(outcome(whole).empty());
  for (size_t n = 0; n < whole.size(); n += 3) CHECK_FALSE(outcome(whole.substr(0, n)).empty());
  std::mt19937 random(1);
  for (int round = 0; round < 600; ++round) {
    std::string changed = whole;
    for (int k = 0; k < 2; ++k) changed[random() % changed.size()] = static_cast<char>(round % 2 ? random() % 128 : "\"{}[],:0a\\"[random() % 10]);
    CHECK(outcome(changed).find('\n') == std::string::npos);
  }
}
