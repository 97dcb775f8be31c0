// trainer/data/dataset_file.cpp — opening and reading the file.
#include "trainer/data/dataset_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <utility>

#include "kernels/check.h"

namespace rote::data {

namespace {

constexpr size_t kTextBytes = 1 << 20;  // of texts handed over at a time

std::string suffix_of(const std::string& path) { return std::filesystem::path(path).extension().string(); }

// `.csv, .tsv and .jsonl`.
std::string listed(const std::vector<std::string>& names, const char* last) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : i + 1 == names.size() ? last : ", ") + names[i];
  return out;
}

void check_name(const std::string& path, const std::vector<std::string>& suffixes) {
  std::error_code none;
  ROTE_CHECK(!std::filesystem::is_directory(path, none), ArgumentError, path, ": is a folder; a ", listed(suffixes, " or "), " file is needed.");
  const std::string suffix = suffix_of(path);
  ROTE_CHECK(std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end(), ArgumentError, path, ": ends in ", suffix.empty() ? "no suffix" : suffix,
             "; ", listed(suffixes, " and "), " can be read.");
}

std::ifstream open(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  ROTE_CHECK(in.good(), IoError, path, ": cannot be read (", std::strerror(errno), ").");
  return in;
}

void check_whole(const std::ifstream& in, const std::string& path) {
  ROTE_CHECK(!in.bad(), IoError, path, ": broke off while it was read (", std::strerror(errno), ").");
}

}  // namespace

std::string name_and_size(const std::string& path) {
  std::error_code none;
  return str(std::filesystem::path(path).filename().string(), " of ", std::filesystem::file_size(path, none), " bytes");
}

std::string read_rows(const std::string& path, const std::vector<std::string>& suffixes) {
  check_name(path, suffixes);
  std::ifstream in = open(path);
  std::ostringstream text;
  text << in.rdbuf();
  check_whole(in, path);
  return text.str();
}

TableReader open_table(const std::string& path) {
  check_name(path, {".csv", ".tsv", ".jsonl"});
  const std::string suffix = suffix_of(path);
  const auto next_line = [path, in = std::make_shared<std::ifstream>(open(path)), text = std::string()](std::string_view& line) mutable {
    const bool has_line = static_cast<bool>(std::getline(*in, text));
    check_whole(*in, path);
    if (has_line && !in->eof()) text += '\n';
    line = text;
    return has_line;
  };
  return TableReader(next_line, suffix == ".csv" ? TableFormat::csv : suffix == ".tsv" ? TableFormat::tsv : TableFormat::jsonl, path);
}

Table read_table(const std::string& path) { return open_table(path).next(std::numeric_limits<size_t>::max()); }

TextReader::TextReader(const TextSource& source) : source_(source) {
  check_name(source.path, {".txt", ".csv", ".tsv", ".jsonl"});
  if (suffix_of(source.path) == ".txt") lines_ = open(source.path);
  else table_.emplace(open_table(source.path));
}

void TextReader::add_line(std::vector<Text>& texts) {
  std::string text;
  if (!std::getline(lines_, text)) {
    check_whole(lines_, source_.path);
    ROTE_CHECK(line_ > 0, ArgumentError, source_.path, ": is empty; a file of texts has at least one line.");
    is_over_ = true;
    return;
  }
  if (++line_ == 1 && text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  if (text.ends_with('\r') && !lines_.eof()) text.pop_back();
  if (source_.keep_linebreaks && !lines_.eof()) text += '\n';
  texts.push_back({std::move(text), line_});
}

void TextReader::add_rows(std::vector<Text>& texts) {
  Table rows = table_->next(64);
  const size_t column = rows.column(source_.column);
  for (size_t row = 0; row < rows.rows.size(); ++row) texts.push_back({std::move(rows.rows[row][column]), rows.lines[row]});
  is_over_ = rows.rows.empty();
}

std::vector<Text> TextReader::next() {
  std::vector<Text> texts;
  size_t bytes = 0;
  for (size_t seen = 0; !is_over_ && bytes < kTextBytes;) {
    if (table_) add_rows(texts);
    else add_line(texts);
    for (; seen < texts.size(); ++seen) bytes += texts[seen].text.size();
  }
  return texts;
}

}  // namespace rote::data
