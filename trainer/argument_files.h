// trainer/argument_files.h — files of arguments: .args files of words, JSON and YAML maps. Judges no argument.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainer/parser.h"

namespace rote {

struct ArgsFiles {
  std::string program = "";                        // argv[0]: <program>.args, the suffix replaced, is read where it is there
  bool look_for_args_file = true;                  // false: it is not
  std::optional<std::string> args_filename = {};   // in its place
  std::string args_file_flag = "";                 // "--cfg": each --cfg FILE among the words gives one more file, the later wins
};

// The words of those files, parted at white space, and then `words` without args_file_flag: the last one said wins, so that the line does.
// Throws IoError where a file that was named is not there, ArgumentError where the flag has no value.
std::vector<std::string> with_args_files(const std::vector<std::string>& words, const ArgsFiles& files);

// The map of names and values in a file. Throw IoError where it cannot be read, ArgumentError where it is no such map.
ValueMap read_json_map(const std::string& path);
ValueMap read_yaml_map(const std::string& path);
// The one or the other by the suffix: .json, .yaml or .yml.
ValueMap read_config_file(const std::string& path);

// What Usage::config takes: the line over such a file. Throws ArgumentError, with the faults of the line, for a file that cannot be read at all.
Reading line_over_file(const std::string& path, const std::vector<RowGroup>& groups, Reading line);

}  // namespace rote
