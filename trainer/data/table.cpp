// trainer/data/table.cpp — splitting delimited text and JSON lines into rows.
#include "trainer/data/table.h"

#include <algorithm>

#include "kernels/check.h"
#include "trainer/json_text.h"
#include "trainer/python_text.h"

namespace rote::data {

namespace {

// Length of the UTF-8 sequence at `at`, 0 where there is none (RFC 3629: no overlong form, no surrogate, nothing past U+10FFFF).
size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> unsigned { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0; };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

// Whether a quoted field goes on behind lines of delimited text, as Splitter would read them.
class OpenQuotes {
 public:
  bool after(std::string_view line, char separator) {
    for (const char c : line) {
      if (state_ == State::quoted) state_ = c == '"' ? State::closing : State::quoted;
      else if (c == '"' && state_ != State::plain) state_ = State::quoted;
      else state_ = c == separator ? State::begin : State::plain;
    }
    return state_ == State::quoted;
  }

 private:
  enum class State { begin, plain, quoted, closing };  // closing: behind a quote that ends the field or is the first of two
  State state_ = State::begin;
};

// One record of delimited text, field by field.
class Splitter {
 public:
  Splitter(std::string_view text, char separator, const std::string& source, int64_t line)
      : text_(text), separator_(separator), source_(source), line_(line) {}

  // The fields up to the end of the line; none for an empty line.
  std::vector<std::string> row() {
    if (take_line_end()) return {};
    std::vector<std::string> fields;
    while (true) {
      fields.push_back(field());
      if (at_end() || take_line_end()) return fields;
      ++at_;  // the separator
    }
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  bool at_line_end() const { return text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n"; }

  bool take_line_end() {
    if (at_end() || !at_line_end()) return false;
    at_ += text_[at_] == '\n' ? 1 : 2;
    ++line_;
    return true;
  }

  std::string field() {
    std::string out;
    if (at_end() || text_[at_] != '"') {
      while (!at_end() && text_[at_] != separator_ && !at_line_end()) out += text_[at_++];
      return out;
    }
    const int64_t begun = line_;
    ++at_;
    while (true) {
      ROTE_CHECK(!at_end(), ArgumentError, source_, ":", begun,
                 ": a quoted field begins here and does not end; quotes inside one are written twice.");
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        out += text_[at_++];
        continue;
      }
      if (text_.substr(at_, 2) == "\"\"") out += '"', at_ += 2;
      else break;
    }
    ++at_;
    ROTE_CHECK(
        at_end() || text_[at_] == separator_ || at_line_end(), ArgumentError, source_, ":", line_,
        ": text follows the closing quote of a field; a field that begins with a quote ends with one, and quotes inside it are written twice.");
    return out;
  }

  std::string_view text_;
  char separator_;
  const std::string& source_;
  size_t at_ = 0;
  int64_t line_;
};

std::vector<std::string> columns_of(const ValueMap& object) {
  std::vector<std::string> names;
  for (const auto& entry : object) names.push_back(entry.first);
  return names;
}

bool is_list_of_texts(const Value& value) {
  const ValueList* list = value.as_list();
  return list && std::all_of(list->begin(), list->end(), [](const Value& item) { return item.as_text() && item.as_text()->find(',') == std::string::npos; });
}

std::string listed(const ValueList& texts) {
  std::string out;
  for (const Value& text : texts) out += (out.empty() ? "" : ",") + *text.as_text();
  return out;
}

}  // namespace

size_t Table::column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found != columns.end()) return static_cast<size_t>(found - columns.begin());
  const std::string near = nearest(name, columns.data(), static_cast<int64_t>(columns.size()));
  throw ArgumentError(str(source, ": has no column ", name, near.empty() ? "" : "; did you mean " + near + "?",
                          near.empty() ? "; it has " : " It has ", joined(columns), "."));
}

std::string Table::place(size_t row) const { return str(source, ":", lines[row]); }

std::string_view checked_text(std::string_view text, const std::string& source, int64_t first_line) {
  int64_t line = first_line;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at);
    ROTE_CHECK(length > 0, ArgumentError, source, ":", line, ": is not UTF-8; save the file in that encoding.");
    ROTE_CHECK(text[at] != '\0', ArgumentError, source, ":", line, ": holds a NUL byte; a text file has none.");
    if (text[at] == '\n') ++line;
    at += length;
  }
  if (first_line == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

TableReader::TableReader(NextLine next_line, TableFormat format, std::string source) : next_line_(std::move(next_line)), format_(format) {
  head_.source = std::move(source);
}

// The lines of the next row that are not blank, or the header.
bool TableReader::next_record(Record& record) {
  std::string_view line;
  do {
    if (!next_line_(line)) return false;
    record.line = ++line_;
    record.text = checked_text(line, head_.source, line_);
  } while (record.text.find_first_not_of(head_.columns.empty() || format_ == TableFormat::jsonl ? " \t\r\n" : "\r\n") == std::string_view::npos);
  if (format_ == TableFormat::jsonl) return true;
  OpenQuotes quotes;
  const char separator = format_ == TableFormat::tsv ? '\t' : ',';
  if (!quotes.after(record.text, separator)) return true;
  joined_ = record.text;
  while (next_line_(line)) {
    joined_ += checked_text(line, head_.source, ++line_);
    if (!quotes.after(line, separator)) break;
  }
  record.text = joined_;
  return true;
}

void TableReader::add_delimited(const Record& record, Table& table) {
  std::vector<std::string> fields = Splitter(record.text, format_ == TableFormat::tsv ? '\t' : ',', head_.source, record.line).row();
  std::vector<std::string>& columns = head_.columns;
  if (columns.empty()) {
    columns = std::move(fields);
    for (size_t i = 0; i < columns.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        ROTE_CHECK(columns[i] != columns[j], ArgumentError, head_.source, ":", record.line, ": two columns are named ", columns[i], "; rename one.");
    return;
  }
  ROTE_CHECK(fields.size() == columns.size(), ArgumentError, head_.source, ":", record.line, ": has ", fields.size(), fields.size() == 1 ? " field" : " fields",
             " where the header names ", columns.size(), " (", joined(columns), ").");
  table.rows.push_back(std::move(fields));
  table.lines.push_back(record.line);
}

void TableReader::add_json(const Record& record, Table& table) {
  const std::string place = str(head_.source, ":", record.line);
  const std::string_view line = record.text.substr(0, record.text.find_last_not_of("\r\n") + 1);
  const Value read = parse_json(std::string(line), place);
  const ValueMap* object = read.as_map();
  ROTE_CHECK(object && !object->empty(), ArgumentError, place,
             ": is no object with named values; each line must be one, like {\"text\": \"…\", \"label\": \"…\"}.");
  if (head_.columns.empty()) head_.columns = columns_of(*object);
  std::vector<std::string> row;
  for (const std::string& column : head_.columns) {
    const Value* value = object->find(column);
    ROTE_CHECK(value, ArgumentError, place, ": has no ", column, "; the first row has ", joined(head_.columns), ".");
    ROTE_CHECK(value->as_text() || value->as_int() || value->as_float() || is_list_of_texts(*value), ArgumentError, place, ": ", column, " is ",
               json_text(*value), "; only texts, numbers and lists of texts without commas are read.");
    row.push_back(value->as_list() ? listed(*value->as_list()) : python_str(*value));
    if (value->as_list() && std::find(head_.list_columns.begin(), head_.list_columns.end(), column) == head_.list_columns.end())
      head_.list_columns.push_back(column);
  }
  ROTE_CHECK(object->size() == head_.columns.size(), ArgumentError, place, ": has ", joined(columns_of(*object)), " where the first row has ",
             joined(head_.columns), ".");
  table.rows.push_back(std::move(row));
  table.lines.push_back(record.line);
}

Table TableReader::next(size_t most) {
  Table table;
  Record record;
  while (table.rows.size() < most && next_record(record)) {
    if (format_ == TableFormat::jsonl) add_json(record, table);
    else add_delimited(record, table);
  }
  rows_ += static_cast<int64_t>(table.rows.size());
  ROTE_CHECK(!head_.columns.empty(), ArgumentError, head_.source, ": is empty; it must have named columns and at least one row.");
  ROTE_CHECK(rows_ > 0, ArgumentError, head_.source, ": has a header (", joined(head_.columns), ") and no rows.");
  table.source = head_.source;
  table.columns = head_.columns;
  table.list_columns = head_.list_columns;
  return table;
}

Table parse_table(std::string_view text, TableFormat format, const std::string& source) {
  const auto next_line = [text](std::string_view& line) mutable {
    line = text.substr(0, text.find('\n') == std::string_view::npos ? text.size() : text.find('\n') + 1);
    text.remove_prefix(line.size());
    return !line.empty();
  };
  return TableReader(next_line, format, source).next(std::string_view::npos);
}

}  // namespace rote::data
