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

// Of two equal keys of a map the last wins; or the second is a fault, as are more than kMostNames: of what people write by hand.
enum class Twice { take_last, refuse };
constexpr size_t kMostNames = 1000;

// Reads JSON with NaN, Infinity and -Infinity as bare words.
// `who` begins the error text. Throws ArgumentError with the line of the first fault, where there are several.
Value parse_json(const std::string& text, const std::string& who, Twice twice = Twice::take_last);

}  // namespace rote
