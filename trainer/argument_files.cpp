// trainer/argument_files.cpp — finding and reading files of arguments.
#include "trainer/argument_files.h"

#include <filesystem>
#include <sstream>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/json_text.h"
#include "trainer/yaml_text.h"

namespace rote {

namespace fs = std::filesystem;

namespace {

// The values of `flag`, which with them leaves the words.
std::vector<std::string> taken_out(std::vector<std::string>& words, const std::string& flag) {
  std::vector<std::string> values, kept;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (!words[i].starts_with("-") || plain_name(words[i].substr(0, equals)) != plain_name(flag)) {
      kept.push_back(words[i]);
    } else if (equals != std::string::npos) {
      values.push_back(words[i].substr(equals + 1));
    } else {
      ROTE_CHECK(i + 1 < words.size() && !words[i + 1].starts_with("--"), ArgumentError, flag, ": needs a value, the file of arguments.");
      values.push_back(words[++i]);
    }
  }
  words = kept;
  return values;
}

ValueMap map_of(const Value& read, const std::string& path) {
  ROTE_CHECK(read.as_map(), ArgumentError, path, ": holds no map of arguments; it must be names with their values.");
  return *read.as_map();
}

}  // namespace

std::vector<std::string> with_args_files(const std::vector<std::string>& words, const ArgsFiles& files) {
  std::vector<std::string> line = words, paths;
  if (files.args_filename) {
    paths.push_back(*files.args_filename);
  } else if (files.look_for_args_file && !files.program.empty()) {
    const std::string beside = fs::path(files.program).replace_extension(".args").string();
    if (fs::is_regular_file(beside)) paths.push_back(beside);
  }
  if (!files.args_file_flag.empty())
    for (std::string& path : taken_out(line, files.args_file_flag)) paths.push_back(std::move(path));
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::istringstream in(read_file(path));
    for (std::string word; in >> word;) all.push_back(word);
  }
  all.insert(all.end(), line.begin(), line.end());
  return all;
}

ValueMap read_json_map(const std::string& path) { return map_of(parse_json(read_file(path), path), path); }

ValueMap read_yaml_map(const std::string& path) { return map_of(parse_yaml(read_file(path), path), path); }

ValueMap read_config_file(const std::string& path) {
  const std::string suffix = fs::path(path).extension().string();
  if (suffix == ".json") return map_of(parse_json(read_file(path), path, Twice::refuse), path);
  ROTE_CHECK(suffix == ".yaml" || suffix == ".yml", ArgumentError, path, ": is no file of arguments; its name must end in .json, .yaml or .yml.");
  return map_of(parse_yaml(read_file(path), path, Twice::refuse), path);
}

Reading line_over_file(const std::string& path, const std::vector<RowGroup>& groups, Reading line) {
  try {
    Reading file = read_map(read_config_file(path), groups, {.allow_aliases = true, .who = path});
    return merged(std::move(file), std::move(line), groups);
  } catch (const Error& fault) {
    line.faults.push_back(fault.text);
  }
  throw_faults(line.faults);  // nothing is said of what is missing: it may stand in that file
  return line;
}

}  // namespace rote
