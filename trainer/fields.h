// trainer/fields.h — the row table of an argument struct: each field's name, type, default, help, words and rules in one place.
// Holds no argument and no parser: trainer/arguments.cpp has the rows, trainer/parser.h the command line.
//
// The parser, --help, JSON and the checks all read these rows. A default is the member's own initial value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
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

// What is to be said of one word that a field may be given.
struct WordRule {
  const char* word;    // as text: "adamw_8bit", "True"
  FieldAction action;  // map: stands for the word in `text`, with a warning; ignore, reject: `text` says why
  const char* text;
};

// What is to be said of a field, in literals, so that a table of hundreds costs little.
struct RowSpec {
  const char* name;
  const char* help = "";                              // one clause, no full stop
  const char* unit = "";                              // updates, epochs, rows …
  const std::vector<std::string>& (*words)() = nullptr;  // the allowed words; none: those of the member's enum, or all of the type
  std::span<const WordRule> rules = {};               // of single words, allowed or not
  const char* flag_word = "";                         // where a bare --name and true stand for this word, false for the first of the words
  std::optional<Number> at_least = {};
  std::optional<Number> at_most = {};
  std::optional<Number> below = {};
  FieldAction action = FieldAction::apply;
  const char* reason = "";                            // reject, ignore: why
  const char* maps_to = "";                           // map: the field that takes the value
  bool adds = false;                                  // map: a part of that field, which is taken beside it
  const char* aliases[4] = {};                        // "max_length" for --max_length, "e" for -e
  const char* enum_name = "";                         // in display texts the value is Name.WORD
  bool or_true = false;                               // a text: true stands for the word, false for nothing, as YAML and JSON have them
  bool one_word = false;                              // a list of which the command line takes a single word
  bool bare = false;                                  // an optional truth: a bare --name is true all the same
  bool required = false;                              // has no default
  bool beside = false;                                // no field of the present Hugging Face class: not in to_dict, no beginning of it will do
};

// The same as the parser and --help see it, with what follows from the member. Tables that are made at run time fill it themselves.
struct ArgumentRow {
  std::string name;
  std::string help = "";
  std::string unit = "";
  std::vector<Value> words = {};
  std::span<const WordRule> rules = {};
  std::string flag_word = "";
  std::optional<Number> at_least = {};
  std::optional<Number> at_most = {};
  std::optional<Number> below = {};
  FieldAction action = FieldAction::apply;
  std::string reason = "";
  std::string maps_to = "";
  bool adds = false;
  std::vector<std::string> aliases = {};
  std::string enum_name = "";
  bool or_true = false;
  bool one_word = false;
  bool bare = false;
  bool required = false;
  bool beside = false;

  FieldKind kind = FieldKind::any;
  bool optional = false;
  bool list = false;
  bool or_text = false;   // a text is fine too; on the command line only where the kind is `map`
  bool detached = false;  // no member holds the value: it is judged where it is read
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
// One of a type or a text: std::variant<bool, std::string>.
template <class T>
Value value_of(const std::variant<T, std::string>& member) {
  const std::string* text = std::get_if<std::string>(&member);
  return text ? Value(*text) : value_of(std::get<T>(member));
}
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
bool take(const Value& value, std::variant<T, std::string>& member) {
  T held{};
  if (const std::string* text = value.as_text()) member = *text;
  else if (take(value, held)) member = held;
  else return false;
  return true;
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
void describe(ArgumentRow& row, const std::variant<M, std::string>*) {
  row.or_text = true;
  describe(row, static_cast<const M*>(nullptr));
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

ArgumentRow row_of(const RowSpec& spec);

// Gives and takes the value of a member. One type for both: each costs a program its name and two functions more.
template <class A, class M>
struct Member {
  M A::*at;
  Value operator()(const A& args) const { return value_of(args.*at); }
  bool operator()(A& args, const Value& value) const { return take(value, args.*at); }
};

}  // namespace detail

// One row of a table: the member and what is to be said of it.
template <class A, class M>
Field<A> field(M A::*member, const RowSpec& spec) {
  ArgumentRow row = detail::row_of(spec);
  detail::describe(row, static_cast<const M*>(nullptr));
  row.default_value = value_of(A().*member);
  const detail::Member<A, M> both{member};
  return {std::move(row), both, both};
}

// An older name: what is given under it goes to the field `maps_to`.
template <class A>
Field<A> older_name(const RowSpec& spec) {
  ArgumentRow row = detail::row_of(spec);
  row.action = FieldAction::map;
  row.beside = row.detached = true;
  return {std::move(row), nullptr, nullptr};
}

// A name without a member, since none of its values but the default does anything: action reject or ignore, or those of `rules`.
template <class A, class M>
Field<A> memberless(const RowSpec& spec, const M& default_value) {
  ArgumentRow row = detail::row_of(spec);
  row.detached = true;
  detail::describe(row, static_cast<const M*>(nullptr));
  const Value value = row.default_value = value_of(default_value);
  if (spec.beside) return {std::move(row), nullptr, [](A&, const Value&) { return true; }};
  return {std::move(row), [value](const A&) { return value; }, [](A&, const Value&) { return true; }};
}

// An older name of its own type, which `into` brings into the struct after all other values.
template <class A, class M>
Field<A> older_name(const RowSpec& spec, void (*into)(A&, const M&)) {
  Field<A> older = older_name<A>(spec);
  detail::describe(older.row, static_cast<const M*>(nullptr));
  older.row.default_value = value_of(M());
  older.set = [into](A& args, const Value& value) {
    M given{};
    const bool fits = take(value, given);
    if (fits) into(args, given);
    return fits;
  };
  return older;
}

// Takes every row of a table over into that of a struct that derives from its struct.
template <class Derived, class A>
std::vector<Field<Derived>> inherited(const ArgumentTable<A>& table) {
  std::vector<Field<Derived>> fields;
  for (const Field<A>& f : table.fields) fields.push_back({f.row, f.get, f.set});
  return fields;
}

// --- What the rows say ---

// `a whole number`, `true or false`, `one of linear, cosine`: what a value of this row must be.
std::string expected(const ArgumentRow& row);
// Whether an older name gives way to what the same source says under the present one. What is absent says nothing, and a share of steps stands in for 0.
bool gives_way(const ArgumentRow& older, const Value& present);
// Words of a row joined by commas, at most `limit` of them and then `…` (0: all).
std::string joined_words(const ArgumentRow& row, size_t limit = 0);
// The fault of a value of the right type against words, range and action; empty where there is none.
std::string fault_of(const ArgumentRow& row, const Value& value);
// `--eval-steps` -> eval_steps.
std::string plain_name(const std::string& flag);
// `--fsdp: full_shard cannot be used, since …`: of a row whose action is reject.
std::string refusal(const ArgumentRow& row, const std::string& value);
// What is to be said of a value that is given and not the default: that it has no effect, or stands for another word. Mostly empty.
std::string warning_of(const ArgumentRow& row, const Value& value);
// The word that a word stands for by the rules of its row, mostly itself.
std::string word_in_use(const ArgumentRow& row, const std::string& word);
// The value in the type of the row: an integer as a float, JSON in a text as a map. Nothing where it is of another type.
std::optional<Value> fitted(const ArgumentRow& row, const Value& value);
// `--name: got 2.5; it must be a whole number.`
std::string type_fault(const ArgumentRow& row, const Value& value);
// The row whose name is nearest to a word as it was typed; nullptr where none is near.
const ArgumentRow* nearest_row(const std::string& given, const std::vector<const ArgumentRow*>& rows);
// `--nam: no such argument; did you mean --name?`, with the words of the row that is meant.
std::string unknown_name(const std::string& given, const std::vector<const ArgumentRow*>& rows);
// `--size: …; did you mean --extent?` as it is said of a map: `c.json: size: …; did you mean extent?`. `who` may be empty.
std::string said_of_map(std::string fault, const std::string& who);
// The value that a list or flag-word row makes of a looser spelling in JSON: text for a one-word list, true for a flag word.
Value normalised(const ArgumentRow& row, const Value& value);

template <class A>
ValueMap to_map(const A& args) {
  ValueMap map;
  for (const Field<A>& f : A::table().fields)
    if (f.get) map.set(f.row.name, f.get(args));
  return map;
}

// The rows with the values of `args` as defaults. What was required and has another value than in a new struct is so no more.
template <class A>
std::vector<ArgumentRow> rows_of(const A& args) {
  std::vector<ArgumentRow> rows;
  for (const Field<A>& f : A::table().fields) {
    rows.push_back(f.row);
    if (!f.get) continue;
    rows.back().default_value = f.get(args);
    rows.back().required = f.row.required && rows.back().default_value == f.row.default_value;
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

namespace detail {

template <class A>
std::vector<const ArgumentRow*> row_pointers() {
  std::vector<const ArgumentRow*> rows;
  for (const Field<A>& f : A::table().fields) rows.push_back(&f.row);
  return rows;
}

// The row of an older name; nullptr where it is none.
template <class A>
const ArgumentRow* older_row(const std::string& name) {
  for (const Field<A>& f : A::table().fields)
    if (f.row.name == name) return f.row.action == FieldAction::map ? &f.row : nullptr;
  return nullptr;
}

}  // namespace detail

struct FromMap {
  bool allow_extra_keys = false;  // keys without a field are left alone
  bool allow_aliases = false;     // a key may be an alias of a row, but not beside its name
  std::string who = "";           // the file, for error texts: `s.json: seed: got …` in place of `--seed: got …`
};

// The struct that to_map made `map` of; missing keys take defaults. Not resolved. Throws ArgumentError naming every key at fault.
template <class A>
A from_map(const ValueMap& map, const FromMap& options = {}) {
  A args;
  std::vector<std::string> faults;
  for (const bool older : {false, true}) {  // a field under its own name first: what is left of an older name is brought in after it
    for (const auto& [name, value] : map) {
      const Field<A>* f = find_field<A>(name);
      const ArgumentRow* old = detail::older_row<A>(name);
      if ((old != nullptr) != older) continue;
      const Value* present = old ? map.find(old->maps_to) : nullptr;
      if (present && gives_way(*old, *present)) continue;
      if (f && !f->set(args, normalised(f->row, value))) faults.push_back(type_fault(f->row, value));
      if (!f && !options.allow_extra_keys) faults.push_back(unknown_name(name, detail::row_pointers<A>()));
    }
  }
  if (!options.who.empty())
    for (std::string& fault : faults) fault = said_of_map(fault, options.who);
  throw_faults(faults);
  return args;
}

}  // namespace rote
