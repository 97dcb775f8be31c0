// tests/trainer/labelled_rows_test.cpp — labels into classes, texts and numbers into features.
#include "trainer/data/labelled_rows.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "tests/trainer/tiny_model.h"

namespace rote::testing {

namespace {

data::Table table_of(const std::string& text) { return data::parse_table(text, data::TableFormat::csv, "x.csv"); }

text::Tokenizer tiny_tokenizer() {
  const TempFolder folder;
  return text::Tokenizer::from_file(folder.file("tokenizer.json", tiny_tokenizer_json()));
}

using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("label_set: each once, whole numbers by value, other labels by bytes") {
  CHECK(data::label_set(table_of("label\nb\na\nb\nA\n"), "label") == Labels{"A", "a", "b"});
  CHECK(data::label_set(table_of("label\n10\n9\n-1\n9\n"), "label") == Labels{"-1", "9", "10"});
  CHECK(data::label_set(table_of("label\n10\n9\nx\n"), "label") == Labels{"10", "9", "x"});
  CHECK_THROWS_WITH_AS(data::label_set(table_of("label,t\na,1\n\"\",2\n"), "label"), "x.csv:3: the label in column label is empty; every row needs one.", ArgumentError);
}

TEST_CASE("tokenized: ids, types and class of each row, cut to the length") {
  const text::Tokenizer tokenizer = tiny_tokenizer();
  const data::Table table = table_of("text,other,label\nGood films,bad,pos\nbad,good film,neg\n");
  const auto one = data::tokenized(table, {.text = {"text"}, .label = "label"}, {"neg", "pos"}, tokenizer, 16);
  CHECK(one->size() == 2);
  CHECK(data::find(one->at(0), "input_ids")->whole == std::vector<int64_t>{2, 4, 8, 19, 3});
  CHECK(data::find(one->at(0), "label")->whole == std::vector<int64_t>{1});
  CHECK(data::find(one->at(1), "label")->whole == std::vector<int64_t>{0});
  const auto cut = data::tokenized(table, {.text = {"text"}, .label = ""}, {}, tokenizer, 4);
  CHECK(data::find(cut->at(0), "input_ids")->whole == std::vector<int64_t>{2, 4, 8, 3});
  CHECK(data::find(cut->at(0), "label") == nullptr);
  const auto pair = data::tokenized(table, {.text = {"text", "other"}, .label = "label"}, {"neg", "pos"}, tokenizer, 16);
  CHECK(data::find(pair->at(1), "input_ids")->whole == std::vector<int64_t>{2, 5, 3, 4, 8, 3});
  CHECK(data::find(pair->at(1), "token_type_ids")->whole == std::vector<int64_t>{0, 0, 0, 1, 1, 1});
}

TEST_CASE("tokenized: a label that the model lacks is named with its row") {
  const text::Tokenizer tokenizer = tiny_tokenizer();
  CHECK_THROWS_WITH_AS(data::tokenized(table_of("text,label\ngood,pos\nbad,meh\n"), {.text = {"text"}, .label = "label"}, {"neg", "pos"}, tokenizer, 16),
                       "x.csv:3: label \"meh\" is none of the model's: neg, pos.", ArgumentError);
}

TEST_CASE("tokenized: labels as numbers, and several a row as ones and zeros") {
  const text::Tokenizer tokenizer = tiny_tokenizer();
  const data::Table measured = table_of("text,label\ngood,2.5\nbad,-1\n");
  const auto numbers = data::tokenized(measured, {.text = {"text"}, .label = "label", .kind = data::LabelKind::number}, {}, tokenizer, 16);
  CHECK(data::find(numbers->at(0), "label")->fractions == std::vector<float>{2.5f});
  CHECK(data::find(numbers->at(1), "label")->is_single);
  for (const std::string wrong : {"x", "nan", "inf", "", "1e999", "2.5 "}) {
    const std::string said = "x.csv:2: column label holds \"" + wrong + "\"; it must be a number.";
    CHECK_THROWS_WITH_AS(data::tokenized(table_of("text,label\ngood," + wrong + "\n"), {.text = {"text"}, .label = "label", .kind = data::LabelKind::number}, {}, tokenizer, 16),
                         said.c_str(), ArgumentError);
  }
  const data::Table listed = data::parse_table("{\"text\": \"good\", \"label\": [\"b\", \"a\"]}\n{\"text\": \"bad\", \"label\": []}\n", data::TableFormat::jsonl, "x.jsonl");
  CHECK(listed.list_columns == Labels{"label"});
  const data::Table typed = data::parse_table("text\tlabel\ngood\tb, a\nbad\t\n", data::TableFormat::tsv, "x.tsv");
  for (const data::Table& table : {listed, typed}) {
    CHECK(data::several_label_set(table, "label") == Labels{"a", "b"});
    const auto rows = data::tokenized(table, {.text = {"text"}, .label = "label", .kind = data::LabelKind::several}, {"a", "b", "c"}, tokenizer, 16);
    CHECK(data::find(rows->at(0), "label")->fractions == std::vector<float>{1, 1, 0});
    CHECK(data::find(rows->at(1), "label")->fractions == std::vector<float>{0, 0, 0});
    CHECK_THROWS_AS(data::tokenized(table, {.text = {"text"}, .label = "label", .kind = data::LabelKind::several}, {"a"}, tokenizer, 16), ArgumentError);
  }
  CHECK_THROWS_WITH_AS(data::several_label_set(data::parse_table("text\tlabel\ngood\ta,,b\n", data::TableFormat::tsv, "x.tsv"), "label"),
                       "x.tsv:2: column label holds \"a,,b\"; between commas stand labels.", ArgumentError);
  CHECK_THROWS_WITH_AS(data::tokenized(data::parse_table("{\"text\": [\"good\"]}", data::TableFormat::jsonl, "x.jsonl"), {.text = {"text"}, .label = ""}, {}, tokenizer, 16),
                       "x.jsonl: column text holds lists; a text is needed.", ArgumentError);
}

TEST_CASE("holds_fractions: numbers that are not all whole") {
  CHECK(data::holds_fractions(table_of("label\n1\n2.5\n"), "label"));
  CHECK(data::holds_fractions(table_of("label\n1.0\n2.0\n"), "label"));
  CHECK_FALSE(data::holds_fractions(table_of("label\n1\n2\n"), "label"));
  CHECK_FALSE(data::holds_fractions(table_of("label\n1.5\nx\n"), "label"));
}

TEST_CASE("numbers: every other column becomes an element of x") {
  const auto rows = data::numbers(table_of("a,label,b\n0.5,1,-2e3\n1,0,7\n"), "label", {"0", "1"});
  CHECK(data::find(rows->at(0), "x")->fractions == std::vector<float>{0.5f, -2000.0f});
  CHECK(data::find(rows->at(1), "label")->whole == std::vector<int64_t>{0});
  CHECK_THROWS_WITH_AS(data::numbers(table_of("a,label\n1,0\n2x,0\n"), "label", {"0"}), "x.csv:3: column a holds \"2x\"; it must be a number.", ArgumentError);
}

TEST_CASE("LabelledStream: the rows of tokenized, pass after pass; a row at fault is named when it comes") {
  const TempFolder folder;
  const text::Tokenizer tokenizer = tiny_tokenizer();
  std::string text = "text,label\n";
  for (int i = 0; i < 150; ++i) text += std::string(i % 2 ? "Good films" : "\"bad,\nfilm\"") + (i % 3 ? ",pos\n" : ",neg\n");
  const std::string path = folder.file("x.csv", text);
  const data::LabelledStream::Options options{.columns = {.text = {"text"}, .label = "label"}, .labels = {"neg", "pos"}, .max_length = 16};
  const auto rows = data::tokenized(data::parse_table(text, data::TableFormat::csv, "x.csv"), options.columns, options.labels, tokenizer, 16);
  data::LabelledStream stream(path, options, tokenizer);
  CHECK(stream.fingerprint() == str(std::filesystem::path(path).filename().string(), " of ", std::filesystem::file_size(path), " bytes"));
  for (int64_t pass = 0; pass < 2; ++pass) {
    stream.restart(pass);
    for (int64_t row = 0; row < 150; ++row) {
      const std::optional<data::Example> example = stream.next();
      REQUIRE(example.has_value());
      CHECK(data::find(*example, "input_ids")->whole == data::find(rows->at(row), "input_ids")->whole);
      CHECK(data::find(*example, "label")->whole == data::find(rows->at(row), "label")->whole);
    }
    CHECK_FALSE(stream.next().has_value());
  }
  folder.file("x.csv", text + "good,meh\n");
  stream.restart(0);
  for (int64_t row = 0; row < 128; ++row) stream.next();
  CHECK_THROWS_WITH_AS(stream.next(), (path + ":227: label \"meh\" is none of the model's: neg, pos.").c_str(), ArgumentError);
}

TEST_CASE("distinct_values: each where it stands first, with what label_set and holds_fractions need") {
  const TempFolder folder;
  const data::Table values = data::distinct_values(folder.file("x.tsv", "text\tlabel\na\tx\nb\ty\nc\tx\n"), "label");
  CHECK(values.rows.size() == 2);
  CHECK(values.lines == std::vector<int64_t>{2, 3});
  CHECK(data::label_set(values, "label") == Labels{"x", "y"});
  CHECK(data::holds_fractions(data::distinct_values(folder.file("y.csv", "label\n1\n0.5\n1\n"), "label"), "label"));
  const data::Table lists = data::distinct_values(folder.file("z.jsonl", "{\"label\": [\"b\", \"a\"]}\n{\"label\": [\"a\"]}\n"), "label");
  CHECK(lists.list_columns == Labels{"label"});
  CHECK(data::several_label_set(lists, "label") == Labels{"a", "b"});
  CHECK_THROWS_AS(data::distinct_values(folder.file("x.tsv"), "none"), ArgumentError);
}

}  // namespace rote::testing
