// trainer/hf_argument_parser.h — HfArgumentParser: one or several argument structs from a command line, .args files, a map, JSON or YAML. Holds no argument.
//
//   HfArgumentParser<ModelArguments, TrainingArguments> parser;
//   auto [model_args, training_args] = parser.parse_args_into_dataclasses(argc, argv).values;
// A struct takes part by its table() (fields.h). Every call throws ArgumentError with all faults together, and HelpRequested for --help (run_program prints
// both). Programs that need none of it call parse<A>() of parser.h, which reads a command line alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainer/argument_files.h"
#include "trainer/parser.h"

namespace rote {

struct LineOptions {
  bool return_remaining_strings = false;  // words that no struct takes are left in Parsed::positional; else they are faults
  ArgsFiles files = {};
};

// The words of the files, then those of the line. The last group is that of flags added by hand.
Reading read_line(const std::vector<std::string>& words, const Usage& usage, const std::vector<RowGroup>& groups, const LineOptions& options = {});
// The map against all groups, with a fault for what is missing.
Reading read_whole_map(const ValueMap& map, const std::vector<RowGroup>& groups, const FromMap& options = {});
// The values of one group, defaults where nothing was said.
ValueMap values_of(const RowGroup& group, const std::vector<std::optional<Value>>& values);

template <class... A>
class HfArgumentParser {
 public:
  // Throws ArgumentError where two flags have one name.
  explicit HfArgumentParser(Usage usage = {}) : HfArgumentParser(std::move(usage), A()...) {}
  HfArgumentParser(Usage usage, A... defaults)
      : usage_(std::move(usage)), groups_{RowGroup{A::table().title, rows_of(defaults)}..., RowGroup{}}, defaults_(std::move(defaults)...) {
    read_words({}, groups_);
  }

  // A flag of no struct; its value comes back in Parsed::extra.
  void add_argument(ArgumentRow row) {
    std::vector<RowGroup> more = groups_;
    more.back().rows.push_back(std::move(row));
    read_words({}, more);
    groups_ = std::move(more);
  }

  Parsed<A...> parse_args_into_dataclasses(const std::vector<std::string>& words, const LineOptions& options = {}) const {
    return finished(read_line(words, usage_, groups_, options));
  }
  // <argv[0]>.args is looked for.
  Parsed<A...> parse_args_into_dataclasses(int argc, const char* const* argv, LineOptions options = {}) const {
    if (argc > 0) options.files.program = argv[0];
    return parse_args_into_dataclasses(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), options);
  }
  Parsed<A...> parse_dict(const ValueMap& map, const FromMap& options = {}) const { return finished(read_whole_map(map, groups_, options)); }
  Parsed<A...> parse_json_file(const std::string& path, FromMap options = {}) const {
    if (options.who.empty()) options.who = path;
    return parse_dict(read_json_map(path), options);
  }
  Parsed<A...> parse_yaml_file(const std::string& path, FromMap options = {}) const {
    if (options.who.empty()) options.who = path;
    return parse_dict(read_yaml_map(path), options);
  }

 private:
  Parsed<A...> finished(const Reading& reading) const {
    Parsed<A...> parsed = std::apply([&](const A&... args) { return settled(reading, groups_, args...); }, defaults_);
    parsed.extra = values_of(groups_.back(), reading.values.back());
    return parsed;
  }

  Usage usage_;
  std::vector<RowGroup> groups_;
  std::tuple<A...> defaults_;
};

}  // namespace rote
