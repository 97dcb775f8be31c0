// trainer/data/dataset_file.h — a file on disk into its bytes, a Table of rows, or texts. The formats of tables: table.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trainer/data/table.h"

namespace rote::data {

// The bytes of a file whose name ends in one of `suffixes`.
// Throws IoError where it cannot be read, ArgumentError where it is a folder or ends otherwise.
std::string read_rows(const std::string& path, const std::vector<std::string>& suffixes);

// Reads `path` by the end of its name: .csv, .tsv, .jsonl.
// Throws IoError where the file cannot be read, ArgumentError where it is a folder, of another kind, or its content is at fault.
Table read_table(const std::string& path);

struct Text {
  std::string text;
  int64_t line = 0;  // of the file, from 1
};

struct TextSource {
  std::string path;              // .txt, each line a text, or a table
  std::string column = "text";   // of a table
  bool keep_linebreaks = false;  // of a .txt file: lines end with their LF (CRLF too); the last one where the file has it
};

// Hands the texts over in order, some at a time: of a .txt file no more is held than these. A byte-order mark in front is skipped.
// Throws as read_table(), and ArgumentError where a .txt file is empty.
void read_texts(const TextSource& source, const std::function<void(std::vector<Text>& texts)>& take);

}  // namespace rote::data
