// trainer/fields.h — the row table of an argument struct: each field's name, type, default, help, words and rules in one place.
// Holds no argument and no parser: trainer/arguments.cpp has the rows, trainer/parser.h the command line.
//
// The parser, --help, JSON and the checks all read these rows. A default is the member's own initial value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/value.h"

namespace rote {

enum class FieldKind { boolean, integer, real, text, map, any };

enum class FieldAction {
  apply,   // does what it says
  map,     // an older spelling of another field, given with a warning
  ignore,  // accepted, without effect here; says so once when it is not the default
  reject,  // only the default is accepted
};

struct ArgumentRow {
  std::string name;
  std::string help;                 // one clause, no full stop
  std::string unit = "";            // updates, epochs, rows …
  std::vector<Value> words = {};    // the allowed values; empty: all of the type
  std::string flag_word = "";       // where a bare --name and true stand for this word, false for the first of `words`
  std::optional<Number> at_least = {};
  std::optional<Number> below = {};
  FieldAction action = FieldAction::apply;
  std::string reason = "";          // reject, ignore: why
  std::string maps_to = "";         // map: the field that takes the value
  std::vector<std::string> aliases = {};  // "max_length" for --max_length, "e" for -e
  bool one_word = false;            // a list of which the command line takes a single word
  bool required = false;            // has no default

  // Filled in by field() from the member.
  FieldKind kind = FieldKind::any;
  bool optional = false;
  bool list = false;
  Value default_value = {};
};

// --- Values of members ---

// An enum takes part by `WordList words_of(E)` beside it: the word of each enumerator, in order.
using WordList = std::vector<std::string>;

template <class E>
concept WordEnum = requires(E e) {
  { words_of(e) } -> std::same_as<WordList>;
};

template <WordEnum E>
std::string word_of(E e) {
  return words_of(e)[static_cast<size_t>(e)];
}

inline Value value_of(bool member) { return member; }
inline Value value_of(int64_t member) { return member; }
inline Value value_of(Number member) { return member; }
inline Value value_of(const std::string& member) { return member; }
inline Value value_of(const Value& member) { return member; }
inline Value value_of(const ValueMap& member) { return member; }
template <WordEnum E>
Value value_of(E member) { return word_of(member); }
template <class T>
Value value_of(const std::vector<T>& member) {
  ValueList list;
  for (const T& item : member) list.push_back(value_of(item));
  return list;
}
template <class T>
Value value_of(const std::optional<T>& member) { return member ? value_of(*member) : Value(); }

// Takes `value` into a member; false where its type does not fit. An integer fits a real, null an absent optional.
bool take(const Value& value, bool& member);
bool take(const Value& value, int64_t& member);
bool take(const Value& value, Number& member);
bool take(const Value& value, std::string& member);
bool take(const Value& value, Value& member);
bool take(const Value& value, ValueMap& member);
template <WordEnum E>
bool take(const Value& value, E& member) {
  const std::string* word = value.as_text();
  const WordList words = words_of(member);
  for (size_t i = 0; word && i < words.size(); ++i) {
    if (words[i] != *word) continue;
    member = static_cast<E>(i);
    return true;
  }
  return false;
}
template <class T>
bool take(const Value& value, std::vector<T>& member) {
  const ValueList* list = value.as_list();
  if (!list) return false;
  std::vector<T> items(list->size());
  for (size_t i = 0; i < list->size(); ++i) {
    if (!take((*list)[i], items[i])) return false;
  }
  member = std::move(items);
  return true;
}
template <class T>
bool take(const Value& value, std::optional<T>& member) {
  T held{};
  if (!value.is_null() && !take(value, held)) return false;
  member = value.is_null() ? std::optional<T>() : std::optional<T>(held);
  return true;
}

// --- The table ---

template <class A>
struct Field {
  ArgumentRow row;
  std::function<Value(const A&)> get;        // empty for a mapped older name
  std::function<bool(A&, const Value&)> set;
};

template <class A>
struct ArgumentTable {
  std::string title;  // heading in --help
  std::vector<Field<A>> fields;
  // Rules across fields: fills derived values in and returns the faults. May be empty.
  std::function<std::vector<std::string>(A&)> resolve = nullptr;
};

namespace detail {

template <class M>
void describe(ArgumentRow& row, const M*) {
  if constexpr (std::same_as<M, bool>) row.kind = FieldKind::boolean;
  else if constexpr (std::same_as<M, int64_t>) row.kind = FieldKind::integer;
  else if constexpr (std::same_as<M, Number>) row.kind = FieldKind::real;
  else if constexpr (std::same_as<M, std::string>) row.kind = FieldKind::text;
  else if constexpr (std::same_as<M, ValueMap>) row.kind = FieldKind::map;
  else if constexpr (WordEnum<M>) {
    row.kind = FieldKind::text;
    for (const std::string& word : words_of(M())) row.words.push_back(word);
  }
}
template <class M>
void describe(ArgumentRow& row, const std::vector<M>*) {
  row.list = true;
  describe(row, static_cast<const M*>(nullptr));
}
template <class M>
void describe(ArgumentRow& row, const std::optional<M>*) {
  row.optional = true;
  describe(row, static_cast<const M*>(nullptr));
}

}  // namespace detail

// One row of a table: the member and what is to be said of it.
template <class A, class M>
Field<A> field(M A::*member, ArgumentRow row) {
  detail::describe(row, static_cast<const M*>(nullptr));
  row.default_value = value_of(A().*member);
  return {std::move(row), [member](const A& args) { return value_of(args.*member); },
          [member](A& args, const Value& value) { return take(value, args.*member); }};
}

// An older name: what is given under it goes to the field `row.maps_to`.
template <class A>
Field<A> older_name(ArgumentRow row) {
  row.action = FieldAction::map;
  return {std::move(row), nullptr, nullptr};
}

// --- What the rows say ---

// `a whole number`, `true or false`, `one of linear, cosine`: what a value of this row must be.
std::string expected(const ArgumentRow& row);
// Words of a row joined by commas, at most `limit` of them and then `…` (0: all).
std::string joined_words(const ArgumentRow& row, size_t limit = 0);
// The fault of a value of the right type against words, range and action; empty where there is none.
std::string fault_of(const ArgumentRow& row, const Value& value);
// `--eval-steps` -> eval_steps.
std::string plain_name(const std::string& flag);
// `--name: got 2.5; it must be a whole number.`
std::string type_fault(const ArgumentRow& row, const Value& value);
// The row whose name is nearest to a word as it was typed; nullptr where none is near.
const ArgumentRow* nearest_row(const std::string& given, const std::vector<ArgumentRow>& rows);
// `--nam: no such argument; did you mean --name?`, with the words of the row that is meant.
std::string unknown_name(const std::string& given, const std::vector<ArgumentRow>& rows);
// The value that a list or flag-word row makes of a looser spelling in JSON: text for a one-word list, true for a flag word.
Value normalised(const ArgumentRow& row, const Value& value);

template <class A>
ValueMap to_map(const A& args) {
  ValueMap map;
  for (const Field<A>& f : A::table().fields)
    if (f.get) map.set(f.row.name, f.get(args));
  return map;
}

// The rows with the values of `args` as defaults.
template <class A>
std::vector<ArgumentRow> rows_of(const A& args) {
  std::vector<ArgumentRow> rows;
  for (const Field<A>& f : A::table().fields) {
    rows.push_back(f.row);
    if (f.get) rows.back().default_value = f.get(args);
  }
  return rows;
}

// Faults of every row and then those across fields; fills derived values in. Empty: `args` is usable. Running it again changes nothing.
template <class A>
std::vector<std::string> resolve(A& args) {
  std::vector<std::string> faults;
  for (const Field<A>& f : A::table().fields) {
    if (!f.get) continue;
    const std::string fault = fault_of(f.row, f.get(args));
    if (!fault.empty()) faults.push_back(fault);
  }
  if (A::table().resolve)
    for (std::string& fault : A::table().resolve(args)) faults.push_back(std::move(fault));
  return faults;
}

// Throws one ArgumentError that holds every text, a line each; returns where there is none.
void throw_faults(const std::vector<std::string>& faults);

// The struct with derived values filled in. Throws ArgumentError naming every fault.
template <class A>
A resolved(A args) {
  throw_faults(resolve(args));
  return args;
}

// The field of this name; for an older name the field it stands for. nullptr where there is none.
template <class A>
const Field<A>* find_field(const std::string& name) {
  for (const Field<A>& f : A::table().fields)
    if (f.row.name == name) return f.set ? &f : find_field<A>(f.row.maps_to);
  return nullptr;
}

struct FromMap {
  bool allow_extra_keys = false;  // keys without a field are left alone
  std::string who = "";           // the file, for error texts: `s.json: seed: got …` in place of `--seed: got …`
};

// The struct that to_map made `map` of; missing keys take defaults. Not resolved. Throws ArgumentError naming every key at fault.
template <class A>
A from_map(const ValueMap& map, const FromMap& options = {}) {
  A args;
  std::vector<std::string> faults;
  for (const auto& [name, value] : map) {
    const Field<A>* f = find_field<A>(name);
    if (f && !f->set(args, normalised(f->row, value))) faults.push_back(type_fault(f->row, value));
    if (!f && !options.allow_extra_keys) faults.push_back(unknown_name(name, rows_of(args)));
  }
  if (!options.who.empty())
    for (std::string& fault : faults) fault = options.who + ": " + fault.substr(2);
  throw_faults(faults);
  return args;
}

}  // namespace rote
