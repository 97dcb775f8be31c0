#include "trainer/data/json_row.h"

#include <algorithm>

#include "kernels/check.h"

namespace rote::data {

JsonRow::JsonRow(text::JsonView value, std::string place) : value_(value), place_(std::move(place)) {
  ROTE_CHECK(value_.is_object(), ArgumentError, place_, ": is ", value_.type_name(), "; it must be an object with named values.");
}

std::optional<text::JsonView> JsonRow::find(std::string_view name) const {
  std::optional<text::JsonView> found;
  value_.for_each_member([&](const text::JsonView& key, const text::JsonView& value) {
    if (key.is(name)) found = value;
  });
  return found && found->is_null() ? std::nullopt : found;
}

text::JsonView JsonRow::at(std::string_view name) const {
  const std::optional<text::JsonView> found = find(name);
  if (found) return *found;
  std::string names;
  int64_t count = 0;
  value_.for_each_member([&](const text::JsonView& key, const text::JsonView&) {
    if (++count <= 10) names += (count > 1 ? ", " : "") + key.string();
  });
  throw ArgumentError(str(place_, ": has no ", name, "; it has ", names.empty() ? "nothing" : names, count > 10 ? ", …" : "", "."));
}

std::string JsonRow::text(std::string_view name) const {
  const text::JsonView value = at(name);
  ROTE_CHECK(value.is_string(), ArgumentError, place_, ": ", name, " is ", value.type_name(), "; it must be a text.");
  return value.string();
}

text::JsonView JsonRow::list(std::string_view name) const {
  const text::JsonView value = at(name);
  ROTE_CHECK(value.is_array(), ArgumentError, place_, ": ", name, " is ", value.type_name(), "; it must be a list.");
  return value;
}

void for_each_line(std::string_view text, const std::function<void(std::string_view line, int64_t number)>& f) {
  int64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    f(line, ++number);
    begin = end + 1;
  }
}

void for_each_json_line(std::string_view text, const std::string& source, const std::function<void(const JsonRow& row, int64_t number)>& f) {
  for_each_line(text, [&](std::string_view line, int64_t number) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const std::string place = str(source, ":", number);
    const std::optional<text::JsonView> value = text::JsonView::parse(line);
    ROTE_CHECK(value.has_value(), ArgumentError, place, ": is not JSON; each line is an object whose names and texts stand in double quotes.");
    f(JsonRow(*value, place), number);
  });
}

}  // namespace rote::data
