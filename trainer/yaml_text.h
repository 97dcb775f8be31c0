// trainer/yaml_text.h — YAML 1.1 into values, by yaml-cpp where the build found it. No files.
#pragma once

#include <string>

#include "trainer/json_text.h"
#include "trainer/value.h"

namespace rote {

// True where this build reads YAML.
bool has_yaml();

// One document. Plain scalars are what YAML 1.1 says: yes, No and on are booleans, ~ is nothing, 010 is 8, 1.5e-3 a float, and 1e-3, for want of a point,
// a text. Of two equal keys what `twice` says; << brings in what the map itself does not have.
// `who` begins the error text. Throws ArgumentError with the line of the first fault, and in a build without yaml-cpp always.
Value parse_yaml(const std::string& text, const std::string& who, Twice twice = Twice::take_last);

}  // namespace rote
