// tests/trainer/dataset_test.cpp — rows in memory and their lengths; files of rows. The formats: table_test.cpp.
#include "trainer/data/dataset.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "trainer/data/dataset_file.h"

namespace rote::testing {

TEST_CASE("ListDataset: gives back its rows") {
  const data::ListDataset rows({{{"a", data::Feature::list(std::vector<int64_t>{1, 2})}}, {{"b", data::Feature::single(0.5f)}}});
  CHECK(rows.size() == 2);
  CHECK(data::find(rows.at(0), "a")->length() == 2);
  CHECK(data::find(rows.at(1), "b")->fractions[0] == 0.5f);
  CHECK(data::find(rows.at(0), "b") == nullptr);
}

TEST_CASE("lengths_of: the length column where rows have it, else the size of the main input") {
  const data::Feature ids = data::Feature::list(std::vector<int64_t>{1, 2, 3});
  const data::ListDataset rows({{{"input_ids", ids}}, {{"input_ids", ids}, {"length", data::Feature::single(int64_t{7})}}});
  CHECK(data::lengths_of(rows, "length", "input_ids") == std::vector<int64_t>{3, 7});
  CHECK(data::lengths_of(rows, "other", "input_ids") == std::vector<int64_t>{3, 3});
  CHECK_THROWS_WITH_AS(data::lengths_of(rows, "length", "x"), "train_sampling_strategy: row 0 has neither a whole length under length nor x; it needs one of them.", ArgumentError);
}

TEST_CASE("read_table: by the end of the name; folders, other kinds and missing files are refused") {
  const TempFolder folder;
  CHECK(data::read_table(folder.file("x.tsv", "a\tb\n1\t2\n")).rows[0][1] == "2");
  CHECK(data::read_table(folder.file("x.csv", "a,b\n1,2\n")).rows[0][1] == "2");
  CHECK(data::read_table(folder.file("x.jsonl", "{\"a\": \"1\"}\n")).rows[0][0] == "1");
  CHECK_THROWS_WITH_AS(data::read_table(folder.file("x.txt", "a")), (folder.file("x.txt") + ": ends in .txt; .csv, .tsv and .jsonl can be read.").c_str(), ArgumentError);
  CHECK_THROWS_WITH_AS(data::read_table(folder.file("none.csv")), (folder.file("none.csv") + ": cannot be read (No such file or directory).").c_str(), IoError);
  CHECK_THROWS_WITH_AS(data::read_table(folder.path()), (folder.path() + ": is a folder; a .csv, .tsv or .jsonl file is needed.").c_str(), ArgumentError);
}

namespace {

// All texts as line:text, and how many times texts were handed over.
std::pair<std::vector<std::string>, int> texts_of(const data::TextSource& source) {
  std::vector<std::string> texts;
  int times = 0;
  data::TextReader reader(source);
  for (std::vector<data::Text> some = reader.next(); !some.empty(); some = reader.next()) {
    ++times;
    for (const data::Text& one : some) texts.push_back(str(one.line, ":", one.text));
  }
  return {texts, times};
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("TextReader: lines of a .txt file, with or without their ends, or a column of a table") {
  const TempFolder folder;
  const std::string lines = folder.file("x.txt", "\xEF\xBB\xBFone\r\n\n two \nend");
  CHECK(texts_of({.path = lines}).first == Texts{"1:one", "2:", "3: two ", "4:end"});
  CHECK(texts_of({.path = lines, .keep_linebreaks = true}).first == Texts{"1:one\n", "2:\n", "3: two \n", "4:end"});
  CHECK(texts_of({.path = folder.file("y.csv", "a,b\n1,\"x\ny\"\n2,z\n"), .column = "b", .keep_linebreaks = true}).first == Texts{"2:x\ny", "4:z"});
  CHECK(texts_of({.path = lines}).second == 1);
  std::string long_text;
  for (int i = 0; i < 300; ++i) long_text += std::string(10000, 'x') + "\n";
  const auto [texts, times] = texts_of({.path = folder.file("long.txt", long_text)});
  CHECK(texts.size() == 300);
  CHECK(times == 3);  // a megabyte at a time
}

TEST_CASE("TextReader: empty files, folders, other kinds and missing columns are refused") {
  const TempFolder folder;
  CHECK_THROWS_WITH_AS(texts_of({.path = folder.file("x.txt", "")}), (folder.file("x.txt") + ": is empty; a file of texts has at least one line.").c_str(), ArgumentError);
  CHECK_THROWS_WITH_AS(texts_of({.path = folder.path()}), (folder.path() + ": is a folder; a .txt, .csv, .tsv or .jsonl file is needed.").c_str(), ArgumentError);
  CHECK_THROWS_AS(texts_of({.path = folder.file("none.txt")}), IoError);
  CHECK_THROWS_AS(texts_of({.path = folder.file("x.md", "a")}), ArgumentError);
  CHECK_THROWS_AS(texts_of({.path = folder.file("x.csv", "a\n1\n"), .column = "text"}), ArgumentError);
}

}  // namespace rote::testing
