// trainer/data/json_row.h — one JSON object of a data file and where it stands: its members by name, or a sentence of what is wrong. No tree is built.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trainer/text/json_view.h"

namespace rote::data {

// All throw ArgumentError, led by `place`. Refers to the text that was read.
class JsonRow {
 public:
  // Throws where `value` is no object.
  JsonRow(text::JsonView value, std::string place);

  const std::string& place() const { return place_; }
  // The last member of this name; absent where there is none or it is null.
  std::optional<text::JsonView> find(std::string_view name) const;
  text::JsonView at(std::string_view name) const;
  std::string text(std::string_view name) const;
  text::JsonView list(std::string_view name) const;

 private:
  text::JsonView value_;
  std::string place_;
};

// Calls f for each line of a text, without its LF or CRLF, numbered from 1.
void for_each_line(std::string_view text, const std::function<void(std::string_view line, int64_t number)>& f);
// The same for the objects of JSON lines, blank ones left out. Throws where a line is no object, led by `x.jsonl:3`.
void for_each_json_line(std::string_view text, const std::string& source, const std::function<void(const JsonRow& row, int64_t number)>& f);

}  // namespace rote::data
