// trainer/data/dataset_file.h — a file on disk into its bytes, a Table of rows, or texts. The formats of tables: table.h.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
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
// The same, rows read as they are asked for.
TableReader open_table(const std::string& path);

// `train.csv of 1234 bytes`: what tells a file from another, wherever it lies.
std::string name_and_size(const std::string& path);

struct Text {
  std::string text;
  int64_t line = 0;  // of the file, from 1
};

struct TextSource {
  std::string path;              // .txt, each line a text, or a table
  std::string column = "text";   // of a table
  bool keep_linebreaks = false;  // of a .txt file: lines end with their LF (CRLF too); the last one where the file has it
};

// The texts of a source in order, some at a time: no more is held than these. A byte-order mark in front is skipped.
// Throws as read_table(), and ArgumentError where a .txt file is empty.
class TextReader {
 public:
  explicit TextReader(const TextSource& source);
  // The next texts, about a megabyte of them; none at the end.
  std::vector<Text> next();

 private:
  void add_line(std::vector<Text>& texts);
  void add_rows(std::vector<Text>& texts);

  TextSource source_;
  std::ifstream lines_;               // of a .txt file
  std::optional<TableReader> table_;  // of others
  int64_t line_ = 0;
  bool is_over_ = false;
};

}  // namespace rote::data
