// trainer/apps/conformance/values.cpp — looking into cases, and the loop over them.
#include "trainer/apps/conformance/values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/json_text.h"

namespace rote::conformance {

namespace {

Value with_floats(const Value& value) {
  if (const ValueList* list = value.as_list()) {
    ValueList out;
    for (const Value& item : *list) out.push_back(with_floats(item));
    return out;
  }
  const ValueMap* map = value.as_map();
  if (!map) return value;
  const Value* word = map->size() == 1 ? map->find("float") : nullptr;
  if (word && word->as_text()) {
    const double infinity = std::numeric_limits<double>::infinity();
    return *word->as_text() == "nan" ? std::nan("") : *word->as_text() == "inf" ? infinity : -infinity;
  }
  ValueMap out;
  for (const auto& [name, item] : *map) out.set(name, with_floats(item));
  return out;
}

std::string dashed(std::string text) {
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

}  // namespace

ValueMap read_cases(const std::filesystem::path& path) {
  const Value read = with_floats(parse_json(read_file(path.string()), path.string()));
  ROTE_CHECK(read.as_map(), ArgumentError, path.string(), ": holds no map; it must be a file of cases.");
  return *read.as_map();
}

const Value& at(const Value& of, const std::string& name) {
  static const Value none;
  const Value* found = of.as_map() ? of.as_map()->find(name) : nullptr;
  return found ? *found : none;
}

std::string text_at(const Value& of, const std::string& name, const std::string& otherwise) {
  const std::string* text = at(of, name).as_text();
  return text ? *text : otherwise;
}

std::vector<std::string> words_at(const Value& of, const std::string& name) {
  std::vector<std::string> words;
  if (const ValueList* list = at(of, name).as_list())
    for (const Value& word : *list)
      if (word.as_text()) words.push_back(*word.as_text());
  return words;
}

std::string missing_name(const std::string& text, const std::vector<std::string>& names) {
  const std::string plain = dashed(text);
  for (const std::string& name : names)
    if (plain.find(dashed(name)) == std::string::npos) return name;
  return "";
}

std::string waits_for(const std::string& refusal) {
  std::istringstream lines(refusal);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" cannot be used, since ") == std::string::npos) return "";
    if (first.empty()) first = line;
  }
  return first;
}

void run_cases(const std::filesystem::path& path, Report& report, const std::function<std::string(const ValueMap& file, const Value& one)>& run) {
  for (const std::filesystem::path& file : case_files(path, "")) {
    const ValueMap all = read_cases(file);
    const Value* cases = all.find("cases");
    ROTE_CHECK(cases && cases->as_list(), ArgumentError, file.string(), ": has no list of cases.");
    for (const Value& one : *cases->as_list()) {
      const std::string id = text_at(one, "id");
      if (!report.wants(text_at(all, "family"), id)) continue;
      std::string found;
      try {
        found = run(all, one);
      } catch (const Waiting& waiting) {
        report.skip(id, waiting.reason);
        continue;
      } catch (const Error& fault) {
        found = fault.text;
      }
      if (found.empty()) report.pass(id);
      else report.fail(id, found);
    }
  }
}

}  // namespace rote::conformance
