// trainer/python_text.h — numbers and values as Python prints them, because the file formats and log lines are Python's. No JSON.
//
// Nothing here looks at the locale: the same bytes on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/value.h"

namespace rote {

// Shortest text that reads back to the same double; exponent form below 1e-4 and from 1e16 on: 0.1, 1.0, 5e-05, 1e+16, inf, nan.
std::string python_float(double value);

// C's `%.<digits>g`: 4 gives 5e-05, 1.234e+04, 0.3172.
std::string general_float(double value, int digits);
// `%.<decimals>f`: 1 gives 70.0.
std::string fixed_float(double value, int decimals);

// `value` printed with `decimals` decimals, rounded from its exact binary value, and read back.
double rounded(double value, int decimals);

// repr(value): None, True, 1, 0.5, 'text', [1, 'a'], {'k': 1}.
std::string python_repr(const Value& value);
// str(value): as repr, but text stands bare.
std::string python_str(const Value& value);

// between.join(words).
std::string joined(const std::vector<std::string>& words, const char* between = ", ");

// UTF-8 text of a file on its way to a terminal: control characters, which would move the cursor, are `?` (U+0000 to 1F, 7F to 9F).
std::string shown(const std::string& text);

// Number of code points of UTF-8 text.
int64_t code_points(const std::string& text);

}  // namespace rote
