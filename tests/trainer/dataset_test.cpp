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
  CHECK_THROWS_WITH_AS(data::lengths_of(rows, "length", "x"), "group_by_length: row 0 has neither a whole length under length nor x; it needs one of them.", ArgumentError);
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

}  // namespace rote::testing
