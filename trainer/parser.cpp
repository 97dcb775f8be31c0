// trainer/parser.cpp — reading the words of a command line row by row. Maps: parser_map.cpp; --help: parser_help.cpp.
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

bool takes_no_form(const ArgumentRow& row) { return row.kind == FieldKind::boolean && !row.list && row.default_value == Value(true); }

bool value_may_lack(const ArgumentRow& row) {
  const bool plain_bool = row.kind == FieldKind::boolean && !row.list && !(row.optional && row.default_value.is_null());
  return plain_bool || row.bare || !row.flag_word.empty();
}

namespace {

// A row as the command line sees it: the names that lead to it, and whether this one sets false.
struct Flag {
  std::string name;  // without dashes in front, underscores inside
  bool is_short = false;
  bool negated = false;
  bool beside = false;  // no beginning of it will do where one of another flag does
  size_t group = 0, row = 0;
};

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
      const bool beside = row.beside;
      add({.name = row.name, .beside = beside, .group = g, .row = r});
      for (const std::string& alias : row.aliases) add({.name = plain_name(alias), .is_short = plain_name(alias).size() == 1, .beside = beside, .group = g, .row = r});
      if (takes_no_form(row)) add({.name = "no_" + row.name, .negated = true, .beside = beside, .group = g, .row = r});
    }
  }
  add({.name = "help", .group = groups.size()});
  add({.name = "h", .is_short = true, .group = groups.size()});
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
  Reader(const std::vector<std::string>& words, const std::vector<RowGroup>& groups, UnknownFlags unknown, BareFlags bare)
      : words_(words), groups_(groups), unknown_(unknown), bare_(bare), flags_(flags_of(groups)) {
    for (const RowGroup& group : groups) {
      out_.values.emplace_back(group.rows.size());
      for (const ArgumentRow& row : group.rows) all_rows_.push_back(&row);
    }
  }

  Reading read() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (word == "--") {
        if (unknown_ == UnknownFlags::keep) out_.remaining.push_back(word);
        out_.remaining.insert(out_.remaining.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
        break;
      }
      if (looks_like_flag(word)) read_flag(word);
      else out_.remaining.push_back(word);
    }
    detail::settle_older_names(out_, groups_);
    return std::move(out_);
  }

 private:
  void fault(const std::string& name, std::string text) {
    out_.faulty_names.push_back(name);
    out_.faults.push_back(std::move(text));
  }

  // All flags that `name` may stand for: the exact one, or those it begins.
  std::vector<const Flag*> matches(const std::string& name, bool is_short) const {
    for (const Flag& flag : flags_)
      if (flag.is_short == is_short && flag.name == name) return {&flag};
    if (is_short || name.empty()) return {};
    for (const bool beside : {false, true}) {
      std::vector<const Flag*> found;
      for (const Flag& flag : flags_) {
        const bool known = std::any_of(found.begin(), found.end(),
                                       [&](const Flag* f) { return f->group == flag.group && f->row == flag.row && f->negated == flag.negated; });
        if (!flag.is_short && flag.beside == beside && flag.name.starts_with(name) && !known) found.push_back(&flag);
      }
      if (!found.empty()) return found;
    }
    return {};
  }

  void read_flag(const std::string& word) {
    const bool is_short = word[1] != '-';
    std::optional<std::string> value;
    std::string spelled = word;
    if (const size_t equals = word.find('='); equals != std::string::npos) {
      spelled = word.substr(0, equals);
      value = word.substr(equals + 1);
    }
    std::vector<const Flag*> found;
    if (!is_short || spelled.size() == 2) found = matches(plain_name(spelled), is_short);
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
    if (unknown_ == UnknownFlags::keep) return out_.remaining.push_back(word);
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
      return judge(flag, row, false);
    }
    std::vector<std::string> given;
    if (attached) given.push_back(*attached);
    else {
      const bool many = row.list && !row.one_word;
      const bool takes_truth = bare_ == BareFlags::take_truth && row.kind == FieldKind::boolean && value_may_lack(row);
      while (at_ < words_.size() && (many || given.empty()) && words_[at_] != "--" && !looks_like_flag(words_[at_]) && (!takes_truth || parse_bool(words_[at_])))
        given.push_back(words_[at_++]);
    }
    if (given.empty()) {
      if (row.action == FieldAction::reject && !value_may_lack(row)) return fault(row.name, refusal(row, "it"));
      if (value_may_lack(row)) return judge(flag, row, row.flag_word.empty() ? Value(true) : Value(row.flag_word));
      return fault(row.name, "--" + row.name + ": needs a value, " + expected(row) + ".");
    }
    ValueList values;
    if (row.one_word && given.front().empty()) return judge(flag, row, ValueList());
    for (const std::string& text : given) {
      const std::optional<Value> value = convert(row, text);
      if (!value && row.action == FieldAction::reject) return fault(row.name, refusal(row, text));
      if (!value)
        return fault(row.name, "--" + row.name + ": got " + (text.empty() ? "an empty text" : text) + "; it must be " + expected(row) + ".");
      ArgumentRow item = row;
      item.detached = false;  // words only: the whole is judged below
      if (const std::string wrong = detail::reading_fault(item, *value); !wrong.empty()) return fault(row.name, wrong);
      values.push_back(*value);
    }
    if (!row.list) return judge(flag, row, values.front());
    judge(flag, row, row.one_word ? normalised(row, values.front()) : Value(values));
  }

  static std::optional<Value> convert(const ArgumentRow& row, const std::string& text) {
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
      case FieldKind::map: return fitted(row, text);
      default: return Value(text);
    }
  }

  void judge(const Flag& flag, const ArgumentRow& row, const Value& value) {
    const std::string wrong = detail::reading_fault(row, value);
    wrong.empty() ? store(flag, row, value) : fault(row.name, wrong);
  }

  void store(const Flag& flag, const ArgumentRow& row, Value value) {
    if (row.action == FieldAction::map && row.kind == FieldKind::any) store_older(flag, row, value);
    else out_.values[flag.group][flag.row] = std::move(value);
  }

  // In the type of the row that the older name stands for.
  void store_older(const Flag& flag, const ArgumentRow& older, const Value& value) {
    const std::vector<const Flag*> target = matches(older.maps_to, false);
    ROTE_ASSERT(target.size() == 1, "an older name maps to a field of the same command");
    const ArgumentRow& row = groups_[target[0]->group].rows[target[0]->row];
    const std::optional<Value> converted = value.as_text() ? convert(row, *value.as_text()) : value;
    if (!converted) return fault(row.name, type_fault(row, value));
    if (const std::string wrong = detail::reading_fault(row, *converted); !wrong.empty()) return fault(row.name, wrong);
    out_.values[flag.group][flag.row] = *converted;
  }

  const std::vector<std::string>& words_;
  const std::vector<RowGroup>& groups_;
  UnknownFlags unknown_;
  BareFlags bare_;
  std::vector<Flag> flags_;
  std::vector<const ArgumentRow*> all_rows_;
  size_t at_ = 0;
  Reading out_;
};

}  // namespace

std::string detail::reading_fault(ArgumentRow row, const Value& value) {
  if (!row.detached) {
    row.at_least = row.at_most = row.below = {};
    row.action = FieldAction::apply;
  }
  row.required = false;
  return fault_of(row, value);
}

Reading read_words(const std::vector<std::string>& words, const std::vector<RowGroup>& groups, UnknownFlags unknown, BareFlags bare) {
  return Reader(words, groups, unknown, bare).read();
}

}  // namespace rote
