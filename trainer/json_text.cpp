// trainer/json_text.cpp — the JSON writer, and the reader on top of nlohmann_json.
#include "trainer/json_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include "kernels/check.h"
#include "trainer/python_text.h"

namespace rote {

namespace {

// One code point from UTF-8 at `at`, which moves past it; U+FFFD for bytes that are not UTF-8.
uint32_t next_code_point(const std::string& text, size_t& at) {
  const unsigned char lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4 || at + static_cast<size_t>(more) > text.size()) return 0xFFFD;
  uint32_t point = lead & (0x3Fu >> more);
  for (int i = 0; i < more; ++i) {
    const unsigned char byte = static_cast<unsigned char>(text[at + static_cast<size_t>(i)]);
    if ((byte & 0xC0) != 0x80) return 0xFFFD;
    point = point << 6 | (byte & 0x3F);
  }
  at += static_cast<size_t>(more);
  return point;
}

void write_unit(std::string& out, uint32_t unit) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "\\u%04x", unit);
  out += buffer;
}

void write_string(std::string& out, const std::string& text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const uint32_t point = next_code_point(text, at);
    switch (point) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default:
        if (point >= 0x20 && point < 0x7F) out += static_cast<char>(point);
        else if (point < 0x10000) write_unit(out, point);
        else {
          write_unit(out, 0xD800 + ((point - 0x10000) >> 10));
          write_unit(out, 0xDC00 + ((point - 0x10000) & 0x3FF));
        }
    }
  }
  out += '"';
}

void write_float(std::string& out, double value) {
  if (std::isnan(value)) out += "NaN";
  else if (std::isinf(value)) out += value > 0 ? "Infinity" : "-Infinity";
  else out += python_float(value);
}

void new_line(std::string& out, const JsonStyle& style, int depth) {
  if (style.indent < 0) return;
  out += '\n';
  out.append(static_cast<size_t>(style.indent * depth), ' ');
}

void write(std::string& out, const Value& value, const JsonStyle& style, int depth) {
  if (const std::string* text = value.as_text()) return write_string(out, *text);
  if (const double* number = value.as_float()) return write_float(out, *number);
  if (const int64_t* number = value.as_int()) {
    out += std::to_string(*number);
    return;
  }
  if (const bool* flag = value.as_bool()) {
    out += *flag ? "true" : "false";
    return;
  }
  if (const ValueList* list = value.as_list()) {
    out += '[';
    for (size_t i = 0; i < list->size(); ++i) {
      if (i > 0) out += style.indent < 0 ? ", " : ",";
      new_line(out, style, depth + 1);
      write(out, (*list)[i], style, depth + 1);
    }
    if (!list->empty()) new_line(out, style, depth);
    out += ']';
    return;
  }
  if (const ValueMap* map = value.as_map()) {
    ValueMap sorted;
    if (style.sort_keys) {
      sorted = *map;
      sorted.sort_by_name();
      map = &sorted;
    }
    out += '{';
    bool first = true;
    for (const auto& [name, item] : *map) {
      if (!first) out += style.indent < 0 ? ", " : ",";
      first = false;
      new_line(out, style, depth + 1);
      write_string(out, name);
      out += ": ";
      write(out, item, style, depth + 1);
    }
    if (!map->empty()) new_line(out, style, depth);
    out += '}';
    return;
  }
  out += "null";
}

// Python's bare words are no JSON for the library: they travel through it as strings that begin with a NUL.
const std::pair<const char*, double> kWords[] = {{"-Infinity", -std::numeric_limits<double>::infinity()},
                                                 {"Infinity", std::numeric_limits<double>::infinity()},
                                                 {"NaN", std::numeric_limits<double>::quiet_NaN()}};

std::string with_words_quoted(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\' && i + 1 < text.size()) out += text[i++];
    else if (text[i] == '"') inside = !inside;
    else if (!inside) {
      for (const auto& [word, number] : kWords) {
        const std::string spelled = word;
        if (text.compare(i, spelled.size(), spelled) != 0) continue;
        out += "\"\\u0000" + spelled + "\"";
        i += spelled.size();
        break;
      }
      if (i >= text.size()) break;
      if (text[i] == '"') inside = true;
    }
    out += text[i];
  }
  return out;
}

// Deeper files are no work of ours, and each level costs stack.
constexpr int kDeepest = 200;

Value to_value(const nlohmann::ordered_json& json, const std::string& who, int depth) {
  ROTE_CHECK(depth <= kDeepest, ArgumentError, who, ": is nested deeper than ", kDeepest, " levels.");
  switch (json.type()) {
    case nlohmann::json::value_t::boolean: return json.get<bool>();
    case nlohmann::json::value_t::number_integer: return json.get<int64_t>();
    case nlohmann::json::value_t::number_unsigned: {
      const uint64_t number = json.get<uint64_t>();
      if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return static_cast<double>(number);
      return static_cast<int64_t>(number);
    }
    case nlohmann::json::value_t::number_float: return json.get<double>();
    case nlohmann::json::value_t::string: {
      const std::string& text = json.get_ref<const std::string&>();
      if (!text.empty() && text[0] == '\0')
        for (const auto& [word, number] : kWords)
          if (text.compare(1, std::string::npos, word) == 0) return number;
      return text;
    }
    case nlohmann::json::value_t::array: {
      ValueList list;
      for (const auto& item : json) list.push_back(to_value(item, who, depth + 1));
      return list;
    }
    case nlohmann::json::value_t::object: {
      ValueMap map;
      for (const auto& [name, item] : json.items()) map.set(name, to_value(item, who, depth + 1));
      return map;
    }
    default: return {};
  }
}

}  // namespace

std::string json_text(const Value& value, JsonStyle style) {
  std::string out;
  write(out, value, style, 0);
  return out;
}

namespace {

// Watches the names of each map that is open.
class Names {
 public:
  explicit Names(const std::string& who) : who_(who) {}

  bool see(nlohmann::ordered_json::parse_event_t event, const nlohmann::ordered_json& value) {
    using Event = nlohmann::ordered_json::parse_event_t;
    if (event == Event::object_start) open_.emplace_back();
    else if (event == Event::object_end) open_.pop_back();
    else if (event == Event::key) add(value.get_ref<const std::string&>());
    return true;
  }

 private:
  void add(const std::string& name) {
    ROTE_CHECK(open_.back().insert(name).second, ArgumentError, who_, ": ", name, " is given twice; give it once.");
    ROTE_CHECK(open_.back().size() <= kMostNames, ArgumentError, who_, ": has more than ", kMostNames, " names; it is no file of arguments.");
  }

  const std::string& who_;
  std::vector<std::set<std::string>> open_;
};

// What the library's text says of a number: it stands in quotes.
std::string quoted(const std::string& text) {
  const size_t begin = text.find('\''), end = text.rfind('\'');
  return begin == end ? "" : ", " + text.substr(begin + 1, end - begin - 1);
}

}  // namespace

Value parse_json(const std::string& text, const std::string& who, Twice twice) {
  const std::string plain = with_words_quoted(text);
  try {
    Names names(who);
    nlohmann::ordered_json::parser_callback_t watch;
    if (twice == Twice::refuse) watch = [&](int, nlohmann::ordered_json::parse_event_t event, nlohmann::ordered_json& value) { return names.see(event, value); };
    return to_value(nlohmann::ordered_json::parse(plain, watch), who, 0);
  } catch (const nlohmann::json::parse_error& fault) {
    const auto end = plain.begin() + static_cast<std::ptrdiff_t>(std::min(fault.byte, plain.size()));
    const bool is_line = plain.find('\n') == std::string::npos;  // which `who` may number already
    throw ArgumentError(str(who, ": is not JSON", is_line ? "" : str(" at line ", 1 + std::count(plain.begin(), end, '\n')),
                            "; names and texts stand in double quotes, parts are parted by commas."));
  } catch (const nlohmann::json::exception& fault) {
    throw ArgumentError(str(who, ": holds a number that no double can take", quoted(fault.what()), "; they end at 1.8e308."));
  }
}

}  // namespace rote
