// trainer/json_text.h — values to and from JSON as Python's json module writes it. No files.
#pragma once

#include <string>

#include "trainer/value.h"

namespace rote {

struct JsonStyle {
  int indent = 2;          // blanks a level; below 0: all on one line
  bool sort_keys = false;  // by code point, at every level
};

// ASCII only (other characters as \uXXXX), floats as python_float, NaN and Infinity as bare words, no line feed at the end.
std::string json_text(const Value& value, JsonStyle style = {});

// Reads JSON with NaN, Infinity and -Infinity as bare words; the last of two equal keys wins.
// `who` begins the error text. Throws ArgumentError with the line of the first fault.
Value parse_json(const std::string& text, const std::string& who);

}  // namespace rote
