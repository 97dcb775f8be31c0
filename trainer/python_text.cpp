// trainer/python_text.cpp — how Python's repr spells numbers, strings, lists and maps.
#include "trainer/python_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace rote {

namespace {

std::string special_float(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

std::string quoted(const std::string& text) {
  // Python prefers the single quote unless only that one occurs inside.
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\r') out += "\\r";
    else if (c == '\t') out += "\\t";
    else if (byte < 0x20 || byte == 0x7f) {
      const char* digits = "0123456789abcdef";
      ((out += "\\x") += digits[byte >> 4]) += digits[byte & 15];
    } else out += c;
  }
  return out += quote;
}

}  // namespace

std::string python_float(double value) {
  if (!std::isfinite(value)) return special_float(value);
  // Shortest digits come as d.ddde+XX; only where the point goes is Python's own rule.
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string scientific(buffer, end);
  const size_t e = scientific.find('e');
  const int exponent = std::atoi(scientific.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return scientific;

  const bool negative = scientific[0] == '-';
  std::string digits;
  for (const char c : scientific.substr(0, e))
    if (c >= '0' && c <= '9') digits += c;
  std::string out = negative ? "-" : "";
  if (exponent < 0) return out + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const size_t before_point = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= before_point) return out + digits + std::string(before_point - digits.size(), '0') + ".0";
  return out + digits.substr(0, before_point) + "." + digits.substr(before_point);
}

std::string general_float(double value, int digits) {
  if (!std::isfinite(value)) return special_float(value);
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits).ptr};
}

std::string fixed_float(double value, int decimals) {
  if (!std::isfinite(value)) return special_float(value);
  char buffer[400];  // the largest double has 309 digits before the point
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr};
}

double rounded(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  const std::string text = fixed_float(value, decimals);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

std::string python_repr(const Value& value) {
  if (const std::string* text = value.as_text()) return quoted(*text);
  if (const ValueList* list = value.as_list()) {
    std::string out = "[";
    for (const Value& item : *list) out += (out.size() > 1 ? ", " : "") + python_repr(item);
    return out + "]";
  }
  if (const ValueMap* map = value.as_map()) {
    std::string out = "{";
    for (const auto& [name, item] : *map) out += (out.size() > 1 ? ", " : "") + quoted(name) + ": " + python_repr(item);
    return out + "}";
  }
  return python_str(value);
}

std::string python_str(const Value& value) {
  if (value.is_null()) return "None";
  if (const bool* b = value.as_bool()) return *b ? "True" : "False";
  if (const int64_t* i = value.as_int()) return std::to_string(*i);
  if (const double* d = value.as_float()) return python_float(*d);
  if (const std::string* text = value.as_text()) return *text;
  return python_repr(value);
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) out += (i == 0 ? "" : between) + words[i];
  return out;
}

std::string shown(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]), next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool in_two_bytes = c == 0xC2 && next >= 0x80 && next <= 0x9F;
    out += c < 0x20 || c == 0x7f || in_two_bytes ? '?' : text[i];
    if (in_two_bytes) ++i;
  }
  return out;
}

int64_t code_points(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace rote
