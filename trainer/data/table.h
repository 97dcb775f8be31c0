// trainer/data/table.h — Table, named columns of text, and reading one from CSV, TSV or JSONL text. No files (dataset_file.h), no labels, no tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rote::data {

// `text` without the byte-order mark that a first line may begin with. Throws ArgumentError, led by `source` and the line, where it is not UTF-8 or
// holds a NUL.
std::string_view checked_text(std::string_view text, const std::string& source, int64_t first_line = 1);

struct Table {
  std::string source;  // file name for error texts
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // [row][column]
  std::vector<int64_t> lines;                  // [row]: line of the source on which the row begins, from 1
  std::vector<std::string> list_columns = {};  // whose values were lists of texts: `a,b`

  // Index of a column. Throws ArgumentError that lists the columns there are, the nearest first.
  size_t column(const std::string& name) const;
  // `x.tsv:17`, for error texts about a row.
  std::string place(size_t row) const;
};

enum class TableFormat { csv, tsv, jsonl };

// CSV and TSV: the first line names the columns. A field that begins with a quote ends with one and may hold separators, line ends and doubled quotes
// (RFC 4180); a quote inside any other field stands for itself. JSONL: one object a line, of texts, numbers and lists of texts
// without commas; the first names the columns.
// Lines end with LF or CRLF, empty ones are skipped, a byte-order mark in front too.
// Throws ArgumentError, one sentence that begins with `source` and the line: not UTF-8, NUL, ragged rows, open quotes, no rows.
Table parse_table(std::string_view text, TableFormat format, const std::string& source);

// The same of lines as they come: no more is held than the rows that are handed over.
class TableReader {
 public:
  // Gives the next line with its end; false where there is none. The view must hold until the next call.
  using NextLine = std::function<bool(std::string_view& line)>;

  TableReader(NextLine next_line, TableFormat format, std::string source);
  // The next rows, at most so many; none at the end. Throws as parse_table().
  Table next(size_t most);

 private:
  struct Record {
    std::string_view text;  // with the end of its last line
    int64_t line = 0;       // on which it begins
  };
  bool next_record(Record& record);
  void add_delimited(const Record& record, Table& table);
  void add_json(const Record& record, Table& table);

  NextLine next_line_;
  TableFormat format_;
  Table head_;               // source, columns and list columns so far
  std::string joined_;       // the lines of a record that has several
  int64_t line_ = 0, rows_ = 0;
};

}  // namespace rote::data
