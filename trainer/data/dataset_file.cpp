// trainer/data/dataset_file.cpp — opening and reading the file.
#include "trainer/data/dataset_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "kernels/check.h"

namespace rote::data {

namespace {

constexpr size_t kTextBytes = 1 << 20;  // handed over at a time

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

// Texts as they come, handed over when there are enough.
class Batches {
 public:
  explicit Batches(const std::function<void(std::vector<Text>&)>& take) : take_(take) {}
  void add(std::string text, int64_t line) {
    bytes_ += text.size();
    texts_.push_back({std::move(text), line});
    if (bytes_ >= kTextBytes) flush();
  }
  void flush() {
    if (!texts_.empty()) take_(texts_);
    texts_.clear();
    bytes_ = 0;
  }

 private:
  const std::function<void(std::vector<Text>&)>& take_;
  std::vector<Text> texts_;
  size_t bytes_ = 0;
};

void read_lines(const TextSource& source, Batches& batches) {
  std::ifstream in = open(source.path);
  int64_t line = 0;
  for (std::string text; std::getline(in, text);) {
    if (++line == 1 && text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    if (text.ends_with('\r') && !in.eof()) text.pop_back();
    if (source.keep_linebreaks && !in.eof()) text += '\n';
    batches.add(std::move(text), line);
    text.clear();
  }
  ROTE_CHECK(!in.bad(), IoError, source.path, ": broke off while it was read (", std::strerror(errno), ").");
  ROTE_CHECK(line > 0, ArgumentError, source.path, ": is empty; a file of texts has at least one line.");
}

}  // namespace

std::string read_rows(const std::string& path, const std::vector<std::string>& suffixes) {
  check_name(path, suffixes);
  std::ifstream in = open(path);
  std::ostringstream text;
  text << in.rdbuf();
  ROTE_CHECK(!in.bad(), IoError, path, ": broke off while it was read (", std::strerror(errno), ").");
  return text.str();
}

Table read_table(const std::string& path) {
  const std::string text = read_rows(path, {".csv", ".tsv", ".jsonl"}), suffix = suffix_of(path);
  return parse_table(text, suffix == ".csv" ? TableFormat::csv : suffix == ".tsv" ? TableFormat::tsv : TableFormat::jsonl, path);
}

void read_texts(const TextSource& source, const std::function<void(std::vector<Text>& texts)>& take) {
  check_name(source.path, {".txt", ".csv", ".tsv", ".jsonl"});
  Batches batches(take);
  if (suffix_of(source.path) == ".txt") {
    read_lines(source, batches);
  } else {
    Table table = read_table(source.path);
    const size_t column = table.column(source.column);
    for (size_t row = 0; row < table.rows.size(); ++row) batches.add(std::move(table.rows[row][column]), table.lines[row]);
  }
  batches.flush();
}

}  // namespace rote::data
