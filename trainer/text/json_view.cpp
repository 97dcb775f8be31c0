// trainer/text/json_view.cpp — the check of a JSON text and the walk over it.
#include "trainer/text/json_view.h"

#include <charconv>
#include <cstdio>
#include <limits>

#include "kernels/check.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

constexpr int kMaxDepth = 64;
constexpr int64_t kMaxItems = 65536;
constexpr size_t kMaxMembers = 64;
constexpr size_t kMaxText = 65536;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The number of four hexadecimal digits at `at`, or -1.
int hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return -1;
  int value = 0;
  for (size_t i = at; i < at + 4; ++i) {
    const int digit = hex_digit(static_cast<unsigned char>(text[i]));
    if (digit < 0) return -1;
    value = 16 * value + digit;
  }
  return value;
}

// Reads the JSON grammar once. A pushdown automaton whose stack is the bits of one word: no recursion, no memory.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  bool run() {
    blanks();
    if (!value()) return false;
    while (depth_ > 0) {
      blanks();
      const bool object = (objects_ >> (depth_ - 1)) & 1;
      if (take(object ? '}' : ']')) {
        --depth_;
        fresh_ = false;
        continue;
      }
      if (!fresh_ && !take(',')) return false;
      fresh_ = false;
      blanks();
      if (object) {
        if (!string()) return false;
        blanks();
        if (!take(':')) return false;
        blanks();
      }
      if (!value()) return false;
    }
    blanks();
    return at_ == text_.size();
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }
  bool value() {
    const char c = peek();
    if (c == '{' || c == '[') {
      if (depth_ == kMaxDepth) return false;
      ++at_;
      objects_ = (objects_ & ~(uint64_t{1} << depth_)) | (uint64_t{c == '{'} << depth_);
      ++depth_;
      fresh_ = true;
      return true;
    }
    if (c == '"') return string();
    if (c == 't') return word("true");
    if (c == 'f') return word("false");
    if (c == 'n') return word("null");
    return number();
  }
  bool digits() {
    const size_t begin = at_;
    while (is_digit(peek())) ++at_;
    return at_ > begin;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_++]);
      if (c == '"') return true;
      if (c < 0x20) return false;
      if (c != '\\') continue;
      const char e = peek();
      ++at_;
      if (e == 'u') {
        const int unit = hex4(text_, at_);
        if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return false;
        at_ += 4;
        if (unit < 0xD800 || unit > 0xDBFF) continue;
        const int low = text_.substr(at_, 2) == "\\u" ? hex4(text_, at_ + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF) return false;
        at_ += 6;
      } else if (std::string_view("\"\\/bfnrt").find(e) == std::string_view::npos || e == '\0') {
        return false;
      }
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  uint64_t objects_ = 0;  // bit d: whether the bracket at depth d is an object's
  bool fresh_ = false;    // whether that bracket was opened just now
};

// One past the end of the string that begins at `at`.
size_t end_of_string(std::string_view text, size_t at) {
  for (++at; text[at] != '"'; ++at) at += text[at] == '\\';
  return at + 1;
}

}  // namespace

std::optional<JsonView> JsonView::parse(std::string_view bytes) {
  if (find_malformed(bytes) != kWellFormed || !Checker(bytes).run()) return std::nullopt;
  size_t begin = 0;
  while (is_blank(bytes[begin])) ++begin;
  while (is_blank(bytes.back())) bytes.remove_suffix(1);
  return JsonView(bytes.substr(begin));
}

const char* JsonView::type_name() const {
  return is_object() ? "object" : is_array() ? "array" : is_string() ? "string" : is_null() ? "null" : is_boolean() ? "boolean" : "number";
}

size_t JsonView::skip_blanks(size_t at) const {
  while (is_blank(text_[at])) ++at;
  return at;
}

JsonView JsonView::value_at(size_t at) const {
  const char first = text_[at];
  size_t end = at + 1;
  if (first == '"') {
    end = end_of_string(text_, at);
  } else if (first == '{' || first == '[') {
    for (int depth = 1; depth > 0;) {
      const char c = text_[end];
      if (c == '"') {
        end = end_of_string(text_, end);
        continue;
      }
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      ++end;
    }
  } else {
    while (end < text_.size() && !is_blank(text_[end]) && text_[end] != ',' && text_[end] != ']' && text_[end] != '}') ++end;
  }
  return JsonView(text_.substr(at, end - at));
}

size_t JsonView::after(size_t end) const {
  end = skip_blanks(end);
  return text_[end] == ',' ? skip_blanks(end + 1) : end;
}

bool JsonView::is(std::string_view key) const {
  const std::string_view raw = text_.substr(1, text_.size() - 2);
  return raw == key || (raw.find('\\') != std::string_view::npos && string() == key);
}

std::string JsonView::string() const {
  std::string out;
  for (size_t at = 1; text_[at] != '"';) {
    const size_t end = text_.find_first_of("\\\"", at);
    out += text_.substr(at, end - at);
    at = end;
    if (text_[at] == '"') break;
    const char e = text_[at + 1];
    at += 2;
    switch (e) {
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': {
        auto c = static_cast<char32_t>(hex4(text_, at));
        at += 4;
        if (c >= 0xD800 && c <= 0xDBFF) {
          c = 0x10000 + ((c - 0xD800) << 10) + (static_cast<char32_t>(hex4(text_, at + 2)) - 0xDC00);
          at += 6;
        }
        append_utf8(c, out);
        break;
      }
      default: out += e;
    }
  }
  return out;
}

std::optional<int64_t> JsonView::integer() const {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (error != std::errc() || end != text_.data() + text_.size()) return std::nullopt;
  return value;
}

std::optional<double> JsonView::number() const {
  double value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (!is_number() || error != std::errc() || end != text_.data() + text_.size()) return std::nullopt;
  return value;
}

int64_t JsonView::size() const {
  int64_t n = 0;
  if (is_array()) {
    for_each_item([&](const JsonView&) { ++n; });
  } else {
    for_each_member([&](const JsonView&, const JsonView&) { ++n; });
  }
  return n;
}

JsonNode::JsonNode(JsonView view, std::string place) : value(view), where(std::move(place)) {
  if (!value.is_object()) return;
  value.for_each_member([&](const JsonView& key, const JsonView& member) {
    if (members_.size() < kMaxMembers) members_.emplace_back(key, member);
  });
}

const JsonView* JsonNode::member(std::string_view key) const {
  for (size_t i = members_.size(); i-- > 0;) {
    if (members_[i].first.is(key)) return &members_[i].second;
  }
  return nullptr;
}

bool JsonNode::has(std::string_view key) const {
  const JsonView* found = member(key);
  return found != nullptr && !found->is_null();
}

JsonNode JsonNode::at(std::string_view key) const {
  const JsonView* found = member(key);
  ROTE_CHECK(found != nullptr && !found->is_null(), IoError, "tokenizer: ", where, " has no \"", key,
             "\"; the file must be a complete tokenizer.json.");
  return {*found, str(where, ".", key)};
}

std::string JsonNode::text() const {
  ROTE_CHECK(value.is_string(), IoError, "tokenizer: ", where, " is ", value.type_name(), "; it must be a string.");
  return value.string();
}

std::string JsonNode::short_text() const {
  ROTE_CHECK(value.text().size() <= kMaxText, IoError, "tokenizer: ", where, " has ", value.text().size(), " bytes; at most ", kMaxText, " are read.");
  return text();
}

bool JsonNode::truth() const {
  ROTE_CHECK(value.is_boolean(), IoError, "tokenizer: ", where, " is ", value.type_name(), "; it must be true or false.");
  return value.boolean();
}

int64_t JsonNode::count() const {
  const auto n = value.integer();
  ROTE_CHECK(n && *n >= 0 && *n <= std::numeric_limits<int32_t>::max(), IoError, "tokenizer: ", where, " is ",
             value.is_number() ? value.text().substr(0, 40) : std::string_view(value.type_name()), "; it must be an integer in [0, 2^31).");
  return *n;
}

double JsonNode::number() const {
  const auto x = value.number();
  ROTE_CHECK(x.has_value(), IoError, "tokenizer: ", where, " is ", value.is_number() ? value.text().substr(0, 40) : value.type_name(),
             "; it must be a number of double precision.");
  return *x;
}

char32_t JsonNode::character() const {
  const std::u32string chars = decode_text(text(), "tokenizer");
  ROTE_CHECK(chars.size() == 1, IoError, "tokenizer: ", where, " has ", chars.size(), " characters; it must be one.");
  return chars[0];
}

std::vector<JsonNode> JsonNode::items() const {
  ROTE_CHECK(value.is_array(), IoError, "tokenizer: ", where, " is ", value.type_name(), "; it must be a list.");
  const int64_t n = value.size();
  ROTE_CHECK(n <= kMaxItems, IoError, "tokenizer: ", where, " has ", n, " entries; at most ", kMaxItems, " are read.");
  std::vector<JsonNode> nodes;
  value.for_each_item([&](const JsonView& item) { nodes.push_back({item, str(where, "[", nodes.size(), "]")}); });
  return nodes;
}

JsonNode read_json_object(std::string_view bytes, const std::string& path) {
  const auto value = JsonView::parse(bytes);
  if (!value || !value->is_object()) {
    throw IoError(str("tokenizer: ", path, " is not a JSON object (", bytes.size(), " bytes); it may be cut short or another file."));
  }
  return {*value, path};
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace rote::text
