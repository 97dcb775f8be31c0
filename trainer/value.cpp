// trainer/value.cpp — the ordered map and equality of values.
#include "trainer/value.h"

#include <algorithm>

namespace rote {

ValueMap::ValueMap(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) set(entry.first, entry.second);
}

const Value* ValueMap::find(const std::string& name) const {
  for (const Entry& entry : entries_)
    if (entry.first == name) return &entry.second;
  return nullptr;
}

void ValueMap::set(const std::string& name, Value value) {
  for (Entry& entry : entries_) {
    if (entry.first != name) continue;
    entry.second = std::move(value);
    return;
  }
  entries_.emplace_back(name, std::move(value));
}

bool ValueMap::erase(const std::string& name) {
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.first == name; }) > 0;
}

void ValueMap::sort_by_name() {
  // Bytes of UTF-8 sort like code points.
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.first < b.first; });
}

bool Value::number(double& out) const {
  if (const int64_t* i = as_int()) out = static_cast<double>(*i);
  else if (const double* d = as_float()) out = *d;
  else return false;
  return true;
}

bool operator==(const Value& a, const Value& b) { return a.held == b.held; }
bool operator==(const ValueMap& a, const ValueMap& b) { return a.entries_ == b.entries_; }

}  // namespace rote
