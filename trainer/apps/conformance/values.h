// trainer/apps/conformance/values.h — cases as values: reading a file of them, looking into maps, the floats that JSON lacks. Runs none.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trainer/apps/conformance/report.h"
#include "trainer/value.h"

namespace rote::conformance {

// The map in a JSON file; {"float": "nan"} and its like are numbers. Throws IoError where it cannot be read, ArgumentError where it is none.
ValueMap read_cases(const std::filesystem::path& path);

// The value under `name`, null where there is none or `of` is no map.
const Value& at(const Value& of, const std::string& name);
// The text there, `otherwise` where it is none.
std::string text_at(const Value& of, const std::string& name, const std::string& otherwise = "");
std::vector<std::string> words_at(const Value& of, const std::string& name);

// The first of `names` that does not occur in the text, dashes and underscores alike; empty where all do.
std::string missing_name(const std::string& text, const std::vector<std::string>& names);

// Where a case wants values and each line of the refusal says that something cannot be used, it waits for what is not built: the first of them.
std::string waits_for(const std::string& refusal);

// Runs the cases of every file at `path`. `run` throws Waiting for one that is skipped, and returns what is wrong, empty for nothing.
struct Waiting {
  std::string reason;
};
void run_cases(const std::filesystem::path& path, Report& report, const std::function<std::string(const ValueMap& file, const Value& one)>& run);

}  // namespace rote::conformance
