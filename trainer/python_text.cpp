// trainer/python_text.cpp — how Python's repr spells numbers, strings, lists and maps.
#include "trainer/python_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace rote {

namespace {

std::string special_float(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

// Past ASCII: the blanks, controls, formats and private characters, which Python escapes. What no Unicode version has assigned is taken for a letter.
constexpr std::pair<char32_t, char32_t> kUnprintable[] = {
    {0x80, 0xA0},     {0xAD, 0xAD},     {0x600, 0x605},   {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},
    {0x8E2, 0x8E2},   {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200F},   {0x2028, 0x202F},   {0x205F, 0x206F},   {0x3000, 0x3000},
    {0xD800, 0xF8FF}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x13438}, {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE00FF}, {0xF0000, 0x10FFFF}};

bool is_unprintable(char32_t c) {
  return c < 0x20 || c == 0x7F || std::any_of(std::begin(kUnprintable), std::end(kUnprintable), [&](const auto& range) { return c >= range.first && c <= range.second; });
}

// The code point whose bytes begin at `at`, which moves past them.
char32_t next_code_point(const std::string& text, size_t& at) {
  const unsigned char first = static_cast<unsigned char>(text[at++]);
  if (first < 0xC0) return first;
  char32_t c = first & (first < 0xE0 ? 0x1F : first < 0xF0 ? 0x0F : 0x07);
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) c = (c << 6) | (static_cast<unsigned char>(text[at++]) & 0x3F);
  return c;
}

// By 2, 4 or 8 hexadecimal digits.
std::string escaped(char32_t c) {
  const int digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
  std::string out = digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += "0123456789abcdef"[(c >> shift) & 15];
  return out;
}

std::string quoted(const std::string& text) {
  // Python prefers the single quote unless only that one occurs inside.
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    const size_t from = at;
    const char32_t c = next_code_point(text, at);
    if (c == static_cast<unsigned char>(quote) || c == '\\') (out += '\\') += text[from];
    else if (c == '\n') out += "\\n";
    else if (c == '\r') out += "\\r";
    else if (c == '\t') out += "\\t";
    else if (is_unprintable(c)) out += escaped(c);
    else out.append(text, from, at - from);
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
