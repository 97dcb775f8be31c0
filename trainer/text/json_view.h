// trainer/text/json_view.h — JSON text read where it lies: tokenizer files are large and mostly vocabulary, so no tree is built of them.
// Holds no value of its own but what a caller asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rote::text {

// One value of a JSON text that was checked as a whole. Refers to that text; cheap to copy.
class JsonView {
 public:
  // The value that `bytes` hold; absent where they are no JSON (RFC 8259) in UTF-8, or nested more than 64 deep.
  static std::optional<JsonView> parse(std::string_view bytes);

  bool is_object() const { return text_[0] == '{'; }
  bool is_array() const { return text_[0] == '['; }
  bool is_string() const { return text_[0] == '"'; }
  bool is_null() const { return text_[0] == 'n'; }
  bool is_boolean() const { return text_[0] == 't' || text_[0] == 'f'; }
  bool is_number() const { return text_[0] == '-' || (text_[0] >= '0' && text_[0] <= '9'); }
  const char* type_name() const;

  // REQUIRES: is_string(), is_boolean().
  std::string string() const;
  bool boolean() const { return text_[0] == 't'; }
  // Absent where the number is no integer of 64 bits, or no number.
  std::optional<int64_t> integer() const;
  std::optional<double> number() const;
  // As written.
  std::string_view text() const { return text_; }

  // Calls f(value) for each entry of an array, f(key, value) for each of an object, in order.  REQUIRES: is_array(), is_object().
  template <class F>
  void for_each_item(const F& f) const {
    for (size_t at = skip_blanks(1); text_[at] != ']';) {
      const JsonView value = value_at(at);
      f(value);
      at = after(at + value.text_.size());
    }
  }
  template <class F>
  void for_each_member(const F& f) const {
    for (size_t at = skip_blanks(1); text_[at] != '}';) {
      const JsonView key = value_at(at);
      at = skip_blanks(skip_blanks(at + key.text_.size()) + 1);
      const JsonView value = value_at(at);
      f(key, value);
      at = after(at + value.text_.size());
    }
  }
  // Whether this string, the name of a member, is `key`.
  bool is(std::string_view key) const;
  int64_t size() const;  // entries.  REQUIRES: is_array() or is_object().

 private:
  explicit JsonView(std::string_view text) : text_(text) {}
  size_t skip_blanks(size_t at) const;
  JsonView value_at(size_t at) const;
  size_t after(size_t end) const;  // from the end of a value to the next one, or to the bracket that closes

  std::string_view text_;  // from the value's first byte to its last
};

// A view and where it stands, for messages: `path: post_processor`. The members that read throw IoError where the value is another.
struct JsonNode {
  JsonNode(JsonView view, std::string place);

  JsonView value;
  std::string where;

  bool has(std::string_view key) const;  // and is not null
  JsonNode at(std::string_view key) const;
  std::string text() const;
  // The same, of a part of a component: at most 65536 bytes.
  std::string short_text() const;
  bool truth() const;
  int64_t count() const;  // an integer in [0, 2^31)
  double number() const;
  char32_t character() const;
  std::vector<JsonNode> items() const;  // of a short list: at most 65536
  std::string text(std::string_view key, std::string_view otherwise) const { return has(key) ? at(key).text() : std::string(otherwise); }
  bool truth(std::string_view key, bool otherwise) const { return has(key) ? at(key).truth() : otherwise; }
  int64_t count(std::string_view key, int64_t otherwise) const { return has(key) ? at(key).count() : otherwise; }

 private:
  // The last member of this name, as other readers take it; null where there is none.
  const JsonView* member(std::string_view key) const;

  std::vector<std::pair<JsonView, JsonView>> members_;  // of an object: the first 64, so not those of a vocabulary
};

// The JSON object of a file. Throws IoError, with `path`, where `bytes` are none.
JsonNode read_json_object(std::string_view bytes, const std::string& path);

// `text` between quotes, as JSON writes it; characters past ASCII stay as they are.
std::string quoted(std::string_view text);

}  // namespace rote::text
