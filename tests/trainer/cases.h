// tests/trainer/cases.h — the shared golden cases as values: reads one JSON file of a family. Holds no case.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "tests/support/place.h"
#include "trainer/json_text.h"

namespace rote::testing {

// {"float": "nan"} stands for a number that JSON does not have.
inline Value with_special_floats(const Value& value) {
  if (const ValueList* list = value.as_list()) {
    ValueList out;
    for (const Value& item : *list) out.push_back(with_special_floats(item));
    return out;
  }
  const ValueMap* map = value.as_map();
  if (!map) return value;
  const Value* word = map->size() == 1 ? map->find("float") : nullptr;
  if (word && word->as_text()) return parse_json(*word->as_text() == "nan" ? "NaN" : *word->as_text() == "inf" ? "Infinity" : "-Infinity", "case");
  ValueMap out;
  for (const auto& [name, item] : *map) out.set(name, with_special_floats(item));
  return out;
}

// The cases of conformance/<file>; says that they are skipped and is empty where the shared folder is not there.
inline ValueMap shared_cases(const std::string& file) {
  if (shared_folder().empty()) {
    MESSAGE("skipped: no shared folder");
    return {};
  }
  const std::string path = shared_folder() + "/conformance/" + file;
  return *with_special_floats(parse_json(read_text(path), path)).as_map();
}

inline const Value& at(const Value& map, const std::string& name) {
  static const Value none;
  const Value* found = map.as_map() ? map.as_map()->find(name) : nullptr;
  return found ? *found : none;
}

inline std::string text_at(const Value& map, const std::string& name) {
  const std::string* text = at(map, name).as_text();
  return text ? *text : "";
}

}  // namespace rote::testing
