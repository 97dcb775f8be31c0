// tests/trainer/text_auto_tokenizer_test.cpp — tokenizers by name, and whether their texts begin with a blank.
#include "trainer/text/auto_tokenizer.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "kernels/check.h"
#include "tests/trainer/tiny_model.h"

using namespace rote;
using text::AutoTokenizer;
using text::Tokenizer;

namespace {

// Letters and the blank as bytes; `steps` stand around them.
std::string byte_level_json(const std::string& pre_tokenizer, const std::string& post_processor) {
  return R"({"version":"1.0","added_tokens":[],"normalizer":null,"pre_tokenizer":)" + pre_tokenizer + R"(,"post_processor":)" + post_processor +
         R"(,"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"H":0,"i":1,"Ġ":2},"merges":[]}})";
}

std::vector<int64_t> ids(const Tokenizer& tokenizer, const char* text) { return tokenizer.encode(text).ids; }

}  // namespace

TEST_CASE("AutoTokenizer: a folder, or a name in the hub's cache; made by from_pretrained alone") {
  CHECK_FALSE(std::is_default_constructible_v<AutoTokenizer>);
  const testing::TempFolder cache;
  const std::string snapshot = cache.file("models--owner--small/snapshots/") + std::string(40, 'a');
  std::filesystem::create_directories(snapshot);
  std::filesystem::create_directories(cache.file("models--owner--small/refs"));
  cache.file("models--owner--small/refs/main", std::string(40, 'a'));
  cache.file("models--owner--small/snapshots/" + std::string(40, 'a') + "/tokenizer.json", testing::tiny_tokenizer_json());
  CHECK(ids(AutoTokenizer::from_pretrained(snapshot), "good film") == std::vector<int64_t>{2, 4, 8, 3});
  CHECK(ids(AutoTokenizer::from_pretrained("owner/small", {.cache_dir = cache.path()}), "good film") == std::vector<int64_t>{2, 4, 8, 3});
  CHECK_THROWS_AS(AutoTokenizer::from_pretrained("owner/other", {.cache_dir = cache.path()}), IoError);
}

TEST_CASE("AutoTokenizer: add_prefix_space stands in place of what the file says, and is saved") {
  struct Row {
    const char *pre_tokenizer, *post_processor;
    bool begins_with_blank;  // as the file has it
  };
  const Row rows[] = {
      {R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true})", R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true})", false},
      {R"({"type":"ByteLevel","add_prefix_space":true})", "null", true},
      {R"({"type":"ByteLevel"})", "null", true},
      {R"({"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"ByteLevel","add_prefix_space":false}]})",
       R"({"type":"Sequence","processors":[{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false}]})", false},
  };
  const std::vector<int64_t> bare{0, 1}, blank{2, 0, 1};
  for (const Row& row : rows) {
    CAPTURE(row.pre_tokenizer);
    const testing::TempFolder folder, saved;
    folder.file("tokenizer.json", byte_level_json(row.pre_tokenizer, row.post_processor));
    CHECK(ids(AutoTokenizer::from_pretrained(folder.path()), "Hi") == (row.begins_with_blank ? blank : bare));
    const Tokenizer with = AutoTokenizer::from_pretrained(folder.path(), {.add_prefix_space = true});
    const Tokenizer without = AutoTokenizer::from_pretrained(folder.path(), {.add_prefix_space = false});
    CHECK(ids(with, "Hi") == blank);
    CHECK(ids(with, " Hi") == blank);
    CHECK(ids(without, "Hi") == bare);
    CHECK(ids(without, " Hi") == blank);
    CHECK(with.encode("Hi").offsets.back() == std::pair<int64_t, int64_t>{1, 2});
    with.save(saved.path());
    CHECK(ids(Tokenizer::from_folder(saved.path()), "Hi") == blank);
  }
}

TEST_CASE("AutoTokenizer: add_prefix_space of a tokenizer that is not byte-level is refused") {
  const testing::TempFolder folder;
  folder.file("tokenizer.json", testing::tiny_tokenizer_json());
  CHECK_THROWS_WITH_AS(AutoTokenizer::from_pretrained(folder.path(), {.add_prefix_space = true}),
                       ("tokenizer: " + folder.path() + "/tokenizer.json has no ByteLevel pre-tokenizer; add_prefix_space is of byte-level tokenizers, leave it out.").c_str(),
                       ArgumentError);
}
