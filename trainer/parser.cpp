// trainer/parser.cpp — reading the words of a command line row by row, and the help text.
#include "trainer/parser.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "kernels/check.h"
#include "trainer/python_text.h"

namespace rote {

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Blanks around and single underscores between digits, which Python's numbers may have, taken away; nothing where an underscore is elsewhere.
std::optional<std::string> bare_number(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\n\r\f\v");
  if (first == std::string::npos) return {};
  const std::string trimmed = text.substr(first, text.find_last_not_of(" \t\n\r\f\v") - first + 1);
  const auto digit_at = [&](size_t i) { return i < trimmed.size() && std::isdigit(static_cast<unsigned char>(trimmed[i])); };
  std::string out;
  for (size_t i = 0; i < trimmed.size(); ++i) {
    if (trimmed[i] != '_') out += trimmed[i];
    else if (i == 0 || !digit_at(i - 1) || !digit_at(i + 1)) return {};
  }
  if (out[0] == '+' && out.size() > 1 && out[1] != '-' && out[1] != '+') out.erase(0, 1);
  return out;
}

}  // namespace

std::optional<int64_t> parse_int(const std::string& text) {
  const std::optional<std::string> bare = bare_number(text);
  int64_t value = 0;
  if (!bare) return {};
  const auto [end, error] = std::from_chars(bare->data(), bare->data() + bare->size(), value);
  if (error != std::errc() || end != bare->data() + bare->size()) return {};
  return value;
}

std::optional<double> parse_float(const std::string& text) {
  const std::optional<std::string> bare = bare_number(text);
  if (!bare || bare->find('(') != std::string::npos) return {};  // nan(1) is C's, not Python's
  double value = 0;
  const auto [end, error] = std::from_chars(bare->data(), bare->data() + bare->size(), value);
  if (end != bare->data() + bare->size()) return {};
  if (error == std::errc::result_out_of_range) {
    // Too large or too small: the sign of the exponent tells, or whether anything stands before the point.
    const std::string number = lower(*bare);
    const size_t e = number.find('e');
    const bool large = e != std::string::npos ? number[e + 1] != '-' : number.find_first_of("123456789") < number.find('.');
    value = large ? std::numeric_limits<double>::infinity() : 0.0;
    return number[0] == '-' ? -value : value;
  }
  if (error != std::errc()) return {};
  return value;
}

namespace {

// A row as the command line sees it: the names that lead to it, and whether this one sets false.
struct Flag {
  std::string name;  // without dashes in front, underscores inside
  bool is_short = false;
  bool negated = false;
  size_t group = 0, row = 0;
};

bool takes_no_form(const ArgumentRow& row) { return row.kind == FieldKind::boolean && !row.list && row.default_value == Value(true); }
// A bare --name is complete.
bool value_may_lack(const ArgumentRow& row) {
  const bool plain_bool = row.kind == FieldKind::boolean && !row.list && !(row.optional && row.default_value.is_null());
  return plain_bool || !row.flag_word.empty();
}

std::vector<Flag> flags_of(const std::vector<RowGroup>& groups) {
  std::vector<Flag> flags;
  const auto add = [&](Flag flag) {
    for (const Flag& other : flags)
      ROTE_CHECK(other.name != flag.name || other.is_short != flag.is_short, ArgumentError, "--", flag.name,
                 ": two arguments have this name; rename one.");
    flags.push_back(std::move(flag));
  };
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t r = 0; r < groups[g].rows.size(); ++r) {
      const ArgumentRow& row = groups[g].rows[r];
      add({row.name, false, false, g, r});
      for (const std::string& alias : row.aliases) add({plain_name(alias), alias.size() == 1, false, g, r});
      if (takes_no_form(row)) add({"no_" + row.name, false, true, g, r});
    }
  }
  add({"help", false, false, groups.size(), 0});
  add({"h", true, false, groups.size(), 0});
  return flags;
}

bool is_negative_number(const std::string& word) {
  return word[0] == '-' && word.size() > 1 && (std::isdigit(static_cast<unsigned char>(word[1])) || word[1] == '.') && parse_float(word);
}

// What a word is before it is looked up: a flag begins with a dash, is no negative number and has no blank inside.
bool looks_like_flag(const std::string& word) {
  if (word.size() < 2 || word[0] != '-' || is_negative_number(word)) return false;
  const std::string name = word.substr(0, word.find('='));
  return name.find(' ') == std::string::npos;
}

std::optional<bool> parse_bool(const std::string& text) {
  const std::string word = lower(text);
  for (const char* yes : {"yes", "true", "t", "y", "1"})
    if (word == yes) return true;
  for (const char* no : {"no", "false", "f", "n", "0"})
    if (word == no) return false;
  return {};
}

class Reader {
 public:
  Reader(const std::vector<std::string>& words, const std::vector<RowGroup>& groups) : words_(words), groups_(groups), flags_(flags_of(groups)) {
    for (const RowGroup& group : groups) {
      out_.values.emplace_back(group.rows.size());
      all_rows_.insert(all_rows_.end(), group.rows.begin(), group.rows.end());
    }
  }

  Reading read() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (word == "--") {
        out_.remaining.insert(out_.remaining.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
        break;
      }
      if (looks_like_flag(word)) read_flag(word);
      else out_.remaining.push_back(word);
    }
    for (const RowGroup& group : groups_) check_required(group, out_.values[static_cast<size_t>(&group - groups_.data())]);
    return std::move(out_);
  }

 private:
  void fault(const std::string& name, std::string text) {
    out_.faulty_names.push_back(name);
    out_.faults.push_back(std::move(text));
  }

  // All flags that `name` may stand for: the exact one, or those it begins.
  std::vector<const Flag*> matches(const std::string& name, bool is_short) const {
    std::vector<const Flag*> found;
    for (const Flag& flag : flags_) {
      if (flag.is_short != is_short) continue;
      if (flag.name == name) return {&flag};
      const bool begins = !is_short && flag.name.starts_with(name);
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const Flag* f) { return f->group == flag.group && f->row == flag.row && f->negated == flag.negated; });
      if (begins && !known) found.push_back(&flag);
    }
    return found;
  }

  void read_flag(const std::string& word) {
    const bool is_short = word[1] != '-';
    std::optional<std::string> value;
    std::string spelled = word;
    if (const size_t equals = word.find('='); equals != std::string::npos) {
      spelled = word.substr(0, equals);
      value = word.substr(equals + 1);
    }
    std::vector<const Flag*> found = matches(plain_name(spelled), is_short && spelled.size() == 2);
    if (found.empty() && is_short && word.size() > 2) {  // -e0.5
      found = matches(word.substr(1, 1), true);
      if (!found.empty()) value = word.substr(2);
    }
    if (found.empty()) return unknown(word);
    if (found.size() > 1) {
      std::string names;
      for (const Flag* flag : found) {
        names += (names.empty() ? "--" : ", --") + flag->name;
        out_.faulty_names.push_back(flag->name);
      }
      skip_values();
      return fault(spelled, spelled + ": is the beginning of " + names + "; write one of them in full.");
    }
    if (found[0]->group == groups_.size()) out_.help = true;
    else read_value(*found[0], value);
  }

  void unknown(const std::string& word) {
    // The name that was meant has no value now, so that rules about it would mislead.
    if (const ArgumentRow* meant = nearest_row(word, all_rows_)) out_.faulty_names.push_back(meant->name);
    fault(word, unknown_name(word, all_rows_));
    skip_values();
  }

  void skip_values() {
    while (at_ < words_.size() && words_[at_] != "--" && !looks_like_flag(words_[at_])) ++at_;
  }

  void read_value(const Flag& flag, const std::optional<std::string>& attached) {
    const ArgumentRow& row = groups_[flag.group].rows[flag.row];
    if (flag.negated) {
      if (attached) return fault(row.name, "--" + flag.name + ": takes no value; write --" + row.name + "=" + *attached + ".");
      return store(flag, row, false);
    }
    std::vector<std::string> given;
    if (attached) given.push_back(*attached);
    else {
      const bool many = row.list && !row.one_word;
      while (at_ < words_.size() && (many || given.empty()) && words_[at_] != "--" && !looks_like_flag(words_[at_])) given.push_back(words_[at_++]);
    }
    if (given.empty()) {
      if (value_may_lack(row)) return store(flag, row, row.flag_word.empty() ? Value(true) : Value(row.flag_word));
      return fault(row.name, "--" + row.name + ": needs a value, " + expected(row) + ".");
    }
    ValueList values;
    for (const std::string& text : given) {
      const std::optional<Value> value = convert(row, text);
      if (!value)
        return fault(row.name, "--" + row.name + ": got " + (text.empty() ? "an empty text" : text) + "; it must be " + expected(row) + ".");
      ArgumentRow plain = row;
      plain.action = FieldAction::apply;  // words only: the rest is judged once, with the whole struct
      plain.at_least = plain.below = {};
      plain.required = false;
      if (const std::string wrong = fault_of(plain, *value); !wrong.empty()) return fault(row.name, wrong);
      values.push_back(*value);
    }
    store(flag, row, row.list ? Value(values) : values.front());
  }

  std::optional<Value> convert(const ArgumentRow& row, const std::string& text) const {
    for (const Value& word : row.words)
      if (python_str(word) == text) return word;
    const bool flag_like = row.kind == FieldKind::boolean || !row.flag_word.empty();
    if (const std::optional<bool> truth = flag_like ? parse_bool(text) : std::nullopt) return normalised(row, *truth);
    switch (row.kind) {
      case FieldKind::boolean: return {};
      case FieldKind::integer:
        if (const std::optional<int64_t> number = parse_int(text)) return Value(*number);
        return {};
      case FieldKind::real:
        if (const std::optional<double> number = parse_float(text)) return Value(*number);
        return {};
      default: return Value(text);
    }
  }

  void store(const Flag& flag, const ArgumentRow& row, Value value) {
    if (row.action == FieldAction::map) return store_mapped(row, value);
    if (row.action == FieldAction::ignore && value != row.default_value)
      out_.warnings.push_back("--" + row.name + ": has no effect, " + row.reason + ".");
    out_.values[flag.group][flag.row] = std::move(value);
  }

  void store_mapped(const ArgumentRow& older, const Value& value) {
    const std::vector<const Flag*> target = matches(older.maps_to, false);
    ROTE_ASSERT(target.size() == 1, "an older name maps to a field of the same command");
    out_.warnings.push_back("--" + older.name + ": is the older name of --" + older.maps_to + ".");
    const ArgumentRow& row = groups_[target[0]->group].rows[target[0]->row];
    const std::optional<Value> converted = value.as_text() ? convert(row, *value.as_text()) : value;
    if (!converted) return fault(row.name, type_fault(row, value));
    store(*target[0], row, *converted);
  }

  void check_required(const RowGroup& group, const std::vector<std::optional<Value>>& values) {
    for (size_t r = 0; r < group.rows.size(); ++r) {
      const ArgumentRow& row = group.rows[r];
      const bool faulty = std::find(out_.faulty_names.begin(), out_.faulty_names.end(), row.name) != out_.faulty_names.end();
      if (!row.required || values[r] || faulty) continue;
      if (const std::string missing = fault_of(row, row.default_value); !missing.empty()) fault(row.name, missing);
    }
  }

  const std::vector<std::string>& words_;
  const std::vector<RowGroup>& groups_;
  std::vector<Flag> flags_;
  std::vector<ArgumentRow> all_rows_;
  size_t at_ = 0;
  Reading out_;
};

}  // namespace

Reading read_words(const std::vector<std::string>& words, const std::vector<RowGroup>& groups) { return Reader(words, groups).read(); }

void detail::add_resolved(Reading& reading, const std::vector<std::string>& faults) {
  for (const std::string& fault : faults) {
    const bool misleading = std::any_of(reading.faulty_names.begin(), reading.faulty_names.end(), [&](const std::string& name) {
      const size_t at = fault.find("--" + name);
      const size_t after = at + 2 + name.size();
      return at != std::string::npos && (after >= fault.size() || !(std::isalnum(static_cast<unsigned char>(fault[after])) || fault[after] == '_'));
    });
    if (!misleading) reading.faults.push_back(fault);
  }
}

void detail::refuse_remaining(Reading& reading) {
  for (const std::string& word : reading.remaining) reading.faults.push_back(word + ": belongs to no argument; a value follows its --name.");
}

namespace {

std::string placeholder(const ArgumentRow& row) {
  if (row.kind == FieldKind::boolean && !row.list) return value_may_lack(row) ? "" : " true|false";
  const char* one = row.kind == FieldKind::integer ? " INT" : row.kind == FieldKind::real ? " NUMBER" : !row.words.empty() ? " WORD" : " TEXT";
  return row.list && !row.one_word ? std::string(one) + "..." : one;
}

// Empty where there is nothing to show: absent, an empty text or list, a flag that is off.
std::string shown_default(const Value& value) {
  if (value.is_null()) return "";
  if (const bool* flag = value.as_bool()) return *flag ? "true" : "";
  if (!value.as_list()) return python_str(value);
  std::string out;
  for (const Value& item : *value.as_list()) out += (out.empty() ? "" : " ") + python_str(item);
  return out;
}

std::string help_line(const ArgumentRow& row) {
  std::string left = "  --" + row.name;
  if (takes_no_form(row)) left = "  --[no_]" + row.name;
  for (const std::string& alias : row.aliases) left += (alias.size() == 1 ? ", -" : ", --") + alias;
  left += placeholder(row);
  std::string right = row.help;
  if (!row.unit.empty()) right += ", in " + row.unit;
  if (!row.words.empty()) right += ": " + joined_words(row);
  if (row.required) right += " (required)";
  else if (const std::string shown = shown_default(row.default_value); !shown.empty()) right += " (" + shown + ")";
  constexpr size_t kColumn = 44;
  const std::string gap = left.size() + 2 <= kColumn ? std::string(kColumn - left.size(), ' ') : "\n" + std::string(kColumn, ' ');
  return left + gap + right + "\n";
}

}  // namespace

std::string help_text(const Usage& usage, const std::vector<RowGroup>& groups) {
  const bool has_rows = std::any_of(groups.begin(), groups.end(), [](const RowGroup& group) { return !group.rows.empty(); });
  std::string out = "usage: " + usage.program + (has_rows ? " [--name value ...]" : "") + (usage.positional.empty() ? "" : " " + usage.positional) + "\n";
  if (!usage.about.empty()) out += usage.about + "\n";
  std::string example;
  for (const RowGroup& group : groups) {
    if (group.rows.empty()) continue;
    out += "\n" + group.title + (group.title.empty() ? "" : ":\n");
    for (const ArgumentRow& row : group.rows) {
      if (row.action != FieldAction::apply) continue;  // what has no effect here is not offered
      out += help_line(row);
      if (example.empty() && row.name.find('_') != std::string::npos) example = row.name;
    }
  }
  if (!example.empty()) {
    std::string dashed = example;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    out += "\nDefaults stand in parentheses. --" + dashed + " is --" + example + "; the beginning of a name will do where it fits one only.\n";
  }
  return out;
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "%s\n", warning.c_str());
}

int run_program(const std::function<int()>& body) {
  try {
    return body();
  } catch (const HelpRequested& help) {
    std::fputs(help.what(), stdout);
    return 0;
  } catch (const ArgumentError& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 2;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 1;
  }
}

}  // namespace rote
