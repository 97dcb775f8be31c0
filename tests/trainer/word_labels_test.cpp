// tests/trainer/word_labels_test.cpp — classes of words onto the pieces that a tokenizer makes of them.
#include "trainer/data/word_labels.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "tests/trainer/tiny_model.h"

namespace rote::testing {

namespace {

using Ids = std::vector<int64_t>;

text::Tokenizer tiny_tokenizer() {
  const TempFolder folder;
  return text::Tokenizer::from_file(folder.file("tokenizer.json", tiny_tokenizer_json()));
}

Ids feature(const data::Dataset& rows, int64_t row, const char* name) { return data::find(rows.at(row), name)->whole; }

}  // namespace

TEST_CASE("tag_set: each once and sorted; one alone is refused") {
  CHECK(data::tag_set(data::parse_conll("a\tX\nb\tO\n\nc\tX\n", "x.tsv")) == std::vector<std::string>{"O", "X"});
  CHECK(data::tag_set(data::parse_tagged_lines("{\"tokens\": [\"a\", \"b\"], \"ner_tags\": [10, 9]}", "x.jsonl")) == std::vector<std::string>{"9", "10"});
  CHECK_THROWS_WITH_AS(data::tag_set(data::parse_conll("a\tX\n", "x.tsv")), "x.tsv: has the tag X alone; a classifier needs two or more.", ArgumentError);
  CHECK_THROWS_WITH_AS(data::tag_set(data::parse_tagged_lines("{\"tokens\": [], \"ner_tags\": []}", "x.jsonl")), "x.jsonl: has no tag; a classifier needs two or more.",
                       ArgumentError);
}

TEST_CASE("labelled_words: the first piece of a word has its class, others and special tokens -100; a word without pieces leaves nothing") {
  const text::Tokenizer tokenizer = tiny_tokenizer();
  const data::TaggedText text = data::parse_conll("Films\tB-X\n\u200b\tO\nplaying\tO\nfilms\tB-Y\n", "x.tsv");
  const std::vector<std::string> labels = {"B-X", "B-Y", "I-X", "O"};
  const auto first = data::labelled_words(text, labels, tokenizer, {.max_length = 16});
  CHECK(feature(*first, 0, "input_ids") == Ids{2, 8, 19, 22, 21, 8, 19, 3});
  CHECK(feature(*first, 0, "token_type_ids") == Ids{0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(feature(*first, 0, "labels") == Ids{-100, 0, -100, 3, -100, 1, -100, -100});
  // I-X follows B-X; B-Y has no I-Y among the labels.
  const auto all = data::labelled_words(text, labels, tokenizer, {.max_length = 16, .label_all_tokens = true});
  CHECK(feature(*all, 0, "labels") == Ids{-100, 0, 2, 3, 3, 1, 1, -100});
  const auto cut = data::labelled_words(text, labels, tokenizer, {.max_length = 5});
  CHECK(feature(*cut, 0, "input_ids") == Ids{2, 8, 19, 22, 3});
  CHECK(feature(*cut, 0, "labels") == Ids{-100, 0, -100, 3, -100});
}

TEST_CASE("labelled_words: words that follow each other are told apart, be they equal; a sentence without words is two special tokens") {
  const text::Tokenizer tokenizer = tiny_tokenizer();
  const auto rows = data::labelled_words(data::parse_tagged_lines("{\"tokens\": [\"good\", \"good\", \"?\"], \"ner_tags\": [\"A\", \"B\", \"A\"]}\n{\"tokens\": [], \"ner_tags\": []}\n", "x.jsonl"),
                                         {"A", "B"}, tokenizer, {.max_length = 16});
  CHECK(feature(*rows, 0, "input_ids") == Ids{2, 4, 4, 1, 3});
  CHECK(feature(*rows, 0, "labels") == Ids{-100, 0, 1, 0, -100});
  CHECK(feature(*rows, 1, "labels") == Ids{-100, -100});
}

TEST_CASE("labelled_words: a tag that the model lacks is named with its sentence; numbers stand for classes where they are no label") {
  const text::Tokenizer tokenizer = tiny_tokenizer();
  CHECK_THROWS_WITH_AS(data::labelled_words(data::parse_conll("good\tA\n\nbad\tC\n", "x.tsv"), {"A", "B"}, tokenizer, {}), "x.tsv:3: label \"C\" is none of the model's: A, B.",
                       ArgumentError);
  const auto tagged = [](const std::string& tag) { return data::parse_tagged_lines("{\"tokens\": [\"good\"], \"ner_tags\": [" + tag + "]}", "x.jsonl"); };
  CHECK(feature(*data::labelled_words(tagged("1"), {"A", "B"}, tokenizer, {}), 0, "labels") == Ids{-100, 1, -100});
  CHECK(feature(*data::labelled_words(tagged("1"), {"1", "5"}, tokenizer, {}), 0, "labels") == Ids{-100, 0, -100});
  CHECK_THROWS_WITH_AS(data::labelled_words(tagged("2"), {"A", "B"}, tokenizer, {}), "x.jsonl:1: label \"2\" is none of the model's: A, B.", ArgumentError);
  CHECK_THROWS_AS(data::labelled_words(tagged("-1"), {"A", "B"}, tokenizer, {}), ArgumentError);
  CHECK_THROWS_AS(data::labelled_words(tagged("\"1\""), {"A", "B"}, tokenizer, {}), ArgumentError);
}

TEST_CASE("labelled_words: with a blank before, words of a byte-level tokenizer are those of running text") {
  const TempFolder folder;
  const std::string json = R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}, "post_processor": null,
"decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
"model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": false,
"byte_fallback": false, "ignore_merges": false, "vocab": {"a": 0, "b": 1, "\u0120": 2, "\u0120a": 3}, "merges": [["\u0120", "a"]]}})";
  const text::Tokenizer tokenizer = text::Tokenizer::from_file(folder.file("tokenizer.json", json));
  const data::TaggedText text = data::parse_conll("ab\tX\nb\tY\n", "x.tsv");
  CHECK(feature(*data::labelled_words(text, {"X", "Y"}, tokenizer, {}), 0, "input_ids") == Ids{0, 1, 1});
  const auto rows = data::labelled_words(text, {"X", "Y"}, tokenizer, {.blank_before_words = true});
  CHECK(feature(*rows, 0, "input_ids") == tokenizer.encode(" ab b").ids);
  CHECK(feature(*rows, 0, "labels") == Ids{0, -100, 1, -100});
}

}  // namespace rote::testing
