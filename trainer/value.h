// trainer/value.h — the values that logs, metrics, arguments and state are made of, as JSON knows them. Holds no text form.
//
// An integer stays an integer and a float a float: 10 and 10.0 are written differently and are read back as they were.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rote {

struct Value;

// A real argument as it was given: computes as a double, and a whole number that was written as one stays one in text forms.
struct Number {
  Number() = default;
  template <std::integral T>
  Number(T given) : value(static_cast<double>(given)), whole(true) {}
  template <std::floating_point T>
  Number(T given) : value(static_cast<double>(given)) {}
  operator double() const { return value; }

  double value = 0;
  bool whole = false;
};

// Names and values in the order in which they were first set.
class ValueMap {
 public:
  using Entry = std::pair<std::string, Value>;

  ValueMap() = default;
  ValueMap(std::initializer_list<Entry> entries);

  // The value under `name`, or nullptr. The pointer lives until the map changes.
  const Value* find(const std::string& name) const;
  // Replaces the value under `name` where it stands, or appends it.
  void set(const std::string& name, Value value);
  // True when there was such a name.
  bool erase(const std::string& name);
  void sort_by_name();

  size_t size() const;
  bool empty() const;
  const Entry* begin() const;
  const Entry* end() const;
  friend bool operator==(const ValueMap& a, const ValueMap& b);

 private:
  std::vector<Entry> entries_;
};

using ValueList = std::vector<Value>;

struct Value {
  Value() = default;
  Value(bool b) : held(b) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Value(T i) : held(static_cast<int64_t>(i)) {}
  template <std::floating_point T>
  Value(T d) : held(static_cast<double>(d)) {}
  Value(const char* text) : held(std::string(text)) {}
  Value(std::string text) : held(std::move(text)) {}
  Value(ValueList list) : held(std::move(list)) {}
  Value(ValueMap map) : held(std::move(map)) {}
  Value(Number n) {
    if (n.whole) held = static_cast<int64_t>(n.value);
    else held = n.value;
  }

  bool is_null() const { return std::holds_alternative<std::monostate>(held); }
  // Pointers to the held value, nullptr where it is of another type.
  const bool* as_bool() const { return std::get_if<bool>(&held); }
  const int64_t* as_int() const { return std::get_if<int64_t>(&held); }
  const double* as_float() const { return std::get_if<double>(&held); }
  const std::string* as_text() const { return std::get_if<std::string>(&held); }
  const ValueList* as_list() const { return std::get_if<ValueList>(&held); }
  const ValueMap* as_map() const { return std::get_if<ValueMap>(&held); }
  // An int or a float as a double. True when it was one of them.
  bool number(double& out) const;

  friend bool operator==(const Value& a, const Value& b);

  std::variant<std::monostate, bool, int64_t, double, std::string, ValueList, ValueMap> held;
};

inline size_t ValueMap::size() const { return entries_.size(); }
inline bool ValueMap::empty() const { return entries_.empty(); }
inline const ValueMap::Entry* ValueMap::begin() const { return entries_.data(); }
inline const ValueMap::Entry* ValueMap::end() const { return entries_.data() + entries_.size(); }

}  // namespace rote
