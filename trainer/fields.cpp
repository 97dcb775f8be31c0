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

bool gives_way(const ArgumentRow& older, const Value& present) {
  double steps = 1;
  const bool to_be_filled = older.kind == FieldKind::real && present.number(steps) && steps == 0;
  return !older.adds && !present.is_null() && !to_be_filled;
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
  if (row.or_text) one += " or a text";
  if (row.list) one = "a list, each " + one;
  return row.optional ? one + ", or nothing" : one;
}

namespace {

const WordRule* rule_of(const ArgumentRow& row, const Value& value) {
  if (row.rules.empty()) return nullptr;
  const std::string word = python_str(value);
  const auto rule = std::find_if(row.rules.begin(), row.rules.end(), [&](const WordRule& r) { return word == r.word; });
  return rule == row.rules.end() ? nullptr : &*rule;
}

std::string word_fault(const ArgumentRow& row, const Value& value) {
  if (const WordRule* rule = rule_of(row, value))
    return rule->action == FieldAction::reject ? str("--", row.name, ": ", rule->word, " cannot be used, ", rule->text, ".") : "";
  if (row.words.empty() || value.is_null() || std::find(row.words.begin(), row.words.end(), value) != row.words.end()) return "";
  if (row.or_text && value.as_text()) return "";
  std::vector<std::string> known;
  for (const Value& word : row.words) known.push_back(python_str(word));
  const std::string near = nearest(python_str(value), known.data(), static_cast<int64_t>(known.size()));
  return str("--", row.name, ": there is no ", python_str(value), near.empty() ? "" : str("; did you mean ", near, "?"),
             near.empty() ? "; choose one of " : " The words are ", joined_words(row), value.as_bool() ? ", in quotes." : ".");  // YAML's no is false
}

std::string range_fault(const ArgumentRow& row, const Value& value) {
  double number = 0;
  if (!value.number(number)) return "";
  std::string bounds;
  bool inside = true;
  const auto bound = [&](const std::optional<Number>& limit, const char* words, bool holds) {
    if (!limit) return;
    inside = inside && holds;
    bounds += str(bounds.empty() ? "" : " and ", words, python_str(*limit));
  };
  bound(row.at_least, "at least ", row.at_least && number >= *row.at_least);
  bound(row.at_most, "at most ", row.at_most && number <= *row.at_most);
  bound(row.below, "below ", row.below && number < *row.below);
  return inside ? "" : str("--", row.name, ": is ", python_str(value), "; it must be ", bounds, ".");
}

}  // namespace

std::string fault_of(const ArgumentRow& row, const Value& value) {
  if (row.required && (value.is_null() || value == Value("") || value == Value(ValueList())))
    return str("--", row.name, ": is required; it must be ", expected(row), ".");
  const ValueList one = {value};
  for (const Value& item : row.list && value.as_list() ? *value.as_list() : one) {
    const std::string fault = word_fault(row, item);
    if (!fault.empty()) return fault;
    const std::string range = range_fault(row, item);
    if (!range.empty()) return range;
  }
  return row.action == FieldAction::reject && value != row.default_value ? refusal(row, python_str(value)) : "";
}

std::string refusal(const ArgumentRow& row, const std::string& value) { return str("--", row.name, ": ", value, " cannot be used, ", row.reason, "."); }

std::string warning_of(const ArgumentRow& row, const Value& value) {
  if (value == row.default_value) return "";
  if (row.action == FieldAction::ignore) return str("--", row.name, ": has no effect, ", row.reason, ".");
  const WordRule* rule = rule_of(row, value);
  if (rule && rule->action == FieldAction::map) return str("--", row.name, ": ", rule->word, " stands for ", rule->text, ".");
  if (rule && rule->action == FieldAction::ignore) return str("--", row.name, ": ", rule->word, " has no effect, ", rule->text, ".");
  return "";
}

std::string word_in_use(const ArgumentRow& row, const std::string& word) {
  const WordRule* rule = rule_of(row, word);
  return rule && rule->action == FieldAction::map ? rule->text : word;
}

namespace {

bool has_kind(const ArgumentRow& row, const Value& value) {
  double number = 0;
  if (!row.words.empty()) return !value.is_null() && !value.as_list() && !value.as_map();  // word_fault looks for it among the words
  switch (row.kind) {
    case FieldKind::boolean: return value.as_bool();
    case FieldKind::integer: return value.as_int();
    case FieldKind::real: return value.number(number);
    case FieldKind::text: return value.as_text();
    case FieldKind::map: return value.as_map();
    case FieldKind::any: return true;
  }
  return false;
}

std::optional<Value> fitted_item(const ArgumentRow& row, const Value& value) {
  if (row.or_text && value.as_text()) return value;
  if (row.kind != FieldKind::map) return has_kind(row, value) ? std::optional<Value>(value) : std::nullopt;
  ValueMap map;
  return take(value, map) ? std::optional<Value>(map) : std::nullopt;
}

}  // namespace

std::optional<Value> fitted(const ArgumentRow& row, const Value& given) {
  const Value value = normalised(row, given);
  if (value.is_null()) return row.optional || row.kind == FieldKind::any ? std::optional<Value>(value) : std::nullopt;
  if (!row.list) return fitted_item(row, value);
  if (!value.as_list()) return {};
  ValueList items;
  for (const Value& item : *value.as_list()) {
    const std::optional<Value> fit = fitted_item(row, item);
    if (!fit) return {};
    items.push_back(*fit);
  }
  return items;
}

ArgumentRow detail::row_of(const RowSpec& spec) {
  ArgumentRow row{.name = spec.name, .help = spec.help, .unit = spec.unit, .rules = spec.rules, .flag_word = spec.flag_word, .at_least = spec.at_least,
                  .at_most = spec.at_most, .below = spec.below, .action = spec.action, .reason = spec.reason, .maps_to = spec.maps_to, .adds = spec.adds,
                  .enum_name = spec.enum_name, .or_true = spec.or_true, .one_word = spec.one_word, .bare = spec.bare, .required = spec.required, .beside = spec.beside};
  if (spec.words) row.words.assign(spec.words().begin(), spec.words().end());
  for (const char* alias : spec.aliases)
    if (alias) row.aliases.push_back(alias);
  return row;
}

std::string type_fault(const ArgumentRow& row, const Value& value) {
  const std::string* text = value.as_text();
  const bool no_point = row.kind == FieldKind::real && text && parse_float(*text) && text->find_first_of("eE") != std::string::npos && text->find('.') == std::string::npos;
  return str("--", row.name, ": got ", python_repr(value), "; it must be ", expected(row), no_point ? "; YAML takes an exponent after a point only, as 1.0e-4." : ".");
}

std::string plain_name(const std::string& flag) {
  std::string name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

const ArgumentRow* nearest_row(const std::string& given, const std::vector<const ArgumentRow*>& rows) {
  const std::string name = plain_name(given.substr(0, given.find('=')));
  for (const bool works : {true, false}) {  // a name that does something first
    std::vector<std::string> known;
    for (const ArgumentRow* row : rows)
      if ((row->action == FieldAction::apply) == works) known.push_back(row->name);
    const std::string near = nearest(name, known.data(), static_cast<int64_t>(known.size()));
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const ArgumentRow* r) { return r->name == near; });
    if (!near.empty() && row != rows.end()) return *row;
  }
  return nullptr;
}

std::string unknown_name(const std::string& given, const std::vector<const ArgumentRow*>& rows) {
  const std::string who = given.starts_with("-") ? given : "--" + given;
  const ArgumentRow* meant = nearest_row(given, rows);
  if (!meant) return who + ": no such argument; --help lists them.";
  return str(who, ": no such argument; did you mean --", meant->name, meant->words.empty() ? "" : " (" + joined_words(*meant, 3) + ")", "?");
}

std::string said_of_map(std::string fault, const std::string& who) {
  const std::string meant = "did you mean --";
  if (const size_t at = fault.find(meant); at != std::string::npos) fault.erase(at + meant.size() - 2, 2);
  return (who.empty() ? "" : who + ": ") + fault.substr(2);
}

Value normalised(const ArgumentRow& row, const Value& value) {
  if (row.one_word && value.as_text()) return *value.as_text() == "" ? ValueList() : ValueList{value};
  if (row.one_word && value.is_null() && !row.optional) return ValueList();
  if (row.or_true && value.as_bool()) return *value.as_bool() ? Value("true") : Value();
  if (!row.flag_word.empty() && value.as_bool()) return *value.as_bool() ? Value(row.flag_word) : row.words.front();
  return value;
}

void throw_faults(const std::vector<std::string>& faults) {
  if (!faults.empty()) throw ArgumentError(faults);
}

}  // namespace rote
