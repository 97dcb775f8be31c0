// trainer/fields.cpp — taking values into members, and what a row has to say about a value.
#include "trainer/fields.h"

#include <algorithm>
#include <cctype>

#include "kernels/check.h"
#include "trainer/json_text.h"
#include "trainer/parser.h"
#include "trainer/python_text.h"

namespace rote {

bool take(const Value& value, bool& member) {
  if (const bool* b = value.as_bool()) member = *b;
  return value.as_bool() != nullptr;
}

bool take(const Value& value, int64_t& member) {
  if (const int64_t* i = value.as_int()) member = *i;
  return value.as_int() != nullptr;
}

bool take(const Value& value, Number& member) {
  if (const int64_t* i = value.as_int()) member = *i;
  else if (const double* d = value.as_float()) member = *d;
  else return false;
  return true;
}

bool take(const Value& value, std::string& member) {
  if (const std::string* text = value.as_text()) member = *text;
  return value.as_text() != nullptr;
}

bool take(const Value& value, Value& member) {
  member = value;
  return true;
}

namespace {

// Texts that spell a number, true or false become that, at any depth: in JSON inside of a command line quotes are easily one too many.
Value converted(const Value& value) {
  if (const ValueMap* map = value.as_map()) {
    ValueMap all;
    for (const auto& [name, one] : *map) all.set(name, converted(one));
    return all;
  }
  if (const ValueList* list = value.as_list()) {
    ValueList all;
    for (const Value& one : *list) all.push_back(converted(one));
    return all;
  }
  const std::string* text = value.as_text();
  if (text == nullptr) return value;
  std::string lower = *text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "true" || lower == "false") return lower == "true";
  if (const auto whole = parse_int(*text)) return *whole;
  if (const auto real = parse_float(*text)) return *real;
  return value;
}

}  // namespace

bool take(const Value& value, ValueMap& member) {
  Value read = value;
  if (const std::string* text = value.as_text(); text != nullptr && text->starts_with("{")) {
    try {
      read = converted(parse_json(*text, "a map"));
    } catch (const Error&) {
      return false;
    }
  }
  if (const ValueMap* map = read.as_map()) member = *map;
  return read.as_map() != nullptr;
}

std::string joined_words(const ArgumentRow& row, size_t limit) {
  std::string out;
  for (size_t i = 0; i < row.words.size(); ++i) {
    if (limit > 0 && i == limit) return out + ", …";
    out += (i > 0 ? ", " : "") + python_str(row.words[i]);
  }
  return out;
}

std::string expected(const ArgumentRow& row) {
  std::string one;
  if (!row.words.empty()) one = "one of " + joined_words(row);
  else switch (row.kind) {
      case FieldKind::boolean: one = "true or false"; break;
      case FieldKind::integer: one = "a whole number"; break;
      case FieldKind::real: one = "a number"; break;
      case FieldKind::text: one = "a text"; break;
      case FieldKind::map: one = "a map, as {\"name\": 0.5}"; break;
      case FieldKind::any: one = "a value"; break;
    }
  if (row.list) one = "a list, each " + one;
  return row.optional ? one + ", or nothing" : one;
}

namespace {

std::string word_fault(const ArgumentRow& row, const Value& value) {
  if (row.words.empty() || value.is_null() || std::find(row.words.begin(), row.words.end(), value) != row.words.end()) return "";
  std::vector<std::string> known;
  for (const Value& word : row.words) known.push_back(python_str(word));
  const std::string near = nearest(python_str(value), known.data(), static_cast<int64_t>(known.size()));
  return str("--", row.name, ": there is no ", python_str(value), near.empty() ? "" : str("; did you mean ", near, "?"),
             near.empty() ? "; choose one of " : " The words are ", joined_words(row), ".");
}

std::string range_fault(const ArgumentRow& row, const Value& value) {
  double number = 0;
  if (!value.number(number)) return "";
  const bool low = row.at_least && !(number >= *row.at_least);
  const bool high = row.below && !(number < *row.below);
  if (!low && !high) return "";
  return str("--", row.name, ": is ", python_str(value), "; it must be ", row.at_least ? "at least " + python_str(*row.at_least) : "",
             row.at_least && row.below ? " and " : "", row.below ? "below " + python_str(*row.below) : "", ".");
}

}  // namespace

std::string fault_of(const ArgumentRow& row, const Value& value) {
  if (row.action == FieldAction::reject && value != row.default_value)
    return str("--", row.name, ": ", python_str(value), " cannot be used, ", row.reason, ".");
  if (row.required && (value.is_null() || value == Value("") || value == Value(ValueList())))
    return str("--", row.name, ": is required; it must be ", expected(row), ".");
  const ValueList one = {value};
  for (const Value& item : row.list&& value.as_list() ? *value.as_list() : one) {
    const std::string fault = word_fault(row, item);
    if (!fault.empty()) return fault;
    const std::string range = range_fault(row, item);
    if (!range.empty()) return range;
  }
  return "";
}

std::string type_fault(const ArgumentRow& row, const Value& value) {
  return str("--", row.name, ": got ", python_repr(value), "; it must be ", expected(row), ".");
}

std::string plain_name(const std::string& flag) {
  std::string name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

const ArgumentRow* nearest_row(const std::string& given, const std::vector<ArgumentRow>& rows) {
  std::vector<std::string> known;
  for (const ArgumentRow& row : rows) known.push_back(row.name);
  const std::string near = nearest(plain_name(given.substr(0, given.find('='))), known.data(), static_cast<int64_t>(known.size()));
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const ArgumentRow& r) { return r.name == near; });
  return row == rows.end() ? nullptr : &*row;
}

std::string unknown_name(const std::string& given, const std::vector<ArgumentRow>& rows) {
  const std::string who = given.starts_with("-") ? given : "--" + given;
  const ArgumentRow* meant = nearest_row(given, rows);
  if (!meant) return who + ": no such argument; --help lists them.";
  return str(who, ": no such argument; did you mean --", meant->name, meant->words.empty() ? "" : " (" + joined_words(*meant, 3) + ")", "?");
}

Value normalised(const ArgumentRow& row, const Value& value) {
  if (row.one_word && value.as_text()) return ValueList{value};
  if (row.one_word && value.is_null() && !row.optional) return ValueList();
  if (!row.flag_word.empty() && value.as_bool()) return *value.as_bool() ? Value(row.flag_word) : row.words.front();
  return value;
}

void throw_faults(const std::vector<std::string>& faults) {
  if (!faults.empty()) throw ArgumentError(faults);
}

}  // namespace rote
