// trainer/data/table.h — Table, named columns of text, and reading one from CSV, TSV or JSONL text. No files (dataset_file.h), no labels, no tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rote::data {

// `text` without a byte-order mark. Throws ArgumentError, led by `source` and the line, where it is not UTF-8 or holds a NUL.
std::string_view checked_text(std::string_view text, const std::string& source);

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
Table parse_table(const std::string& text, TableFormat format, const std::string& source);

}  // namespace rote::data
