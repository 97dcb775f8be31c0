// trainer/data/dataset_file.cpp — opening and reading the file.
#include "trainer/data/dataset_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kernels/check.h"

namespace rote::data {

namespace {

TableFormat format_of(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (suffix == ".csv") return TableFormat::csv;
  if (suffix == ".tsv") return TableFormat::tsv;
  ROTE_CHECK(suffix == ".jsonl", ArgumentError, path, ": ends in ", suffix.empty() ? "no suffix" : suffix, "; .csv, .tsv and .jsonl can be read.");
  return TableFormat::jsonl;
}

}  // namespace

Table read_table(const std::string& path) {
  std::error_code none;
  ROTE_CHECK(!std::filesystem::is_directory(path, none), ArgumentError, path, ": is a folder; a .csv, .tsv or .jsonl file is needed.");
  const TableFormat format = format_of(path);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  ROTE_CHECK(in.good(), IoError, path, ": cannot be read (", std::strerror(errno), ").");
  std::ostringstream text;
  text << in.rdbuf();
  ROTE_CHECK(!in.bad(), IoError, path, ": broke off while it was read (", std::strerror(errno), ").");
  return parse_table(text.str(), format, path);
}

}  // namespace rote::data
