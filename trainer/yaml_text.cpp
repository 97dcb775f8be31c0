// trainer/yaml_text.cpp — YAML 1.1's reading of plain scalars and the values of a document, over the events of yaml-cpp.
#include "trainer/yaml_text.h"

#include "kernels/check.h"

#ifdef ROTE_YAML

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "trainer/parser.h"

namespace rote {

namespace {

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (text == word) return true;
  return false;
}

std::string without_underscores(std::string text) {
  std::erase(text, '_');
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits, of which the first is no underscore.
bool is_number_run(const std::string& text, const char* digits) {
  return !text.empty() && text[0] != '_' && text.find_first_not_of(std::string(digits) + "_") == std::string::npos;
}

std::optional<int64_t> whole(const std::string& digits, int base) {
  int64_t value = 0;
  const std::string bare = without_underscores(digits);
  const auto [end, error] = std::from_chars(bare.data(), bare.data() + bare.size(), value, base);
  return error == std::errc() && end == bare.data() + bare.size() ? std::optional<int64_t>(value) : std::nullopt;
}

// [-+]? then 0b…, 0x…, 0… in eights, or digits; 1:30 counts in sixties.
std::optional<int64_t> yaml_int(const std::string& text) {
  const bool negative = text[0] == '-';
  const std::string body = text.substr(negative || text[0] == '+' ? 1 : 0);
  std::optional<int64_t> value;
  if (body.starts_with("0b") && is_number_run(body.substr(2), "01")) value = whole(body.substr(2), 2);
  else if (body.starts_with("0x") && is_number_run(body.substr(2), "0123456789abcdefABCDEF")) value = whole(body.substr(2), 16);
  else if (body.size() > 1 && body[0] == '0' && is_number_run(body, "01234567")) value = whole(body, 8);
  else if (body == "0" || (!body.empty() && body[0] != '0' && is_number_run(body, "0123456789"))) value = whole(body, 10);
  else if (!body.empty() && body[0] >= '1' && body[0] <= '9' && body.find(':') != std::string::npos) {
    int64_t sum = 0;
    for (size_t begin = 0; begin <= body.size();) {
      const size_t end = std::min(body.find(':', begin), body.size());
      const std::string part = body.substr(begin, end - begin);
      const std::optional<int64_t> digits = part.empty() || part.size() > 15 || !is_number_run(part, "0123456789") ? std::nullopt : whole(part, 10);
      if (!digits || (begin > 0 && *digits >= 60) || sum > (int64_t{1} << 50)) return {};
      sum = sum * 60 + *digits;
      begin = end + 1;
    }
    value = sum;
  }
  if (value && negative) value = -*value;
  return value;
}

// A point must be there, and an exponent has a sign: 1.5e-3, .5, 3. and .inf, .nan.
std::optional<double> yaml_float(const std::string& text) {
  const std::string body = text.substr(text[0] == '-' || text[0] == '+' ? 1 : 0);
  if (is_one_of(body, {".inf", ".Inf", ".INF"})) return text[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
  const size_t point = body.find('.');
  if (point == std::string::npos) return {};
  const std::string before = body.substr(0, point);
  size_t at = point + 1;
  while (at < body.size() && (is_digit(body[at]) || body[at] == '_')) ++at;
  if (before.empty() ? (at == point + 1 || !is_digit(body[point + 1]) || body.size() != text.size()) : !is_number_run(before, "0123456789")) return {};
  if (at < body.size()) {
    const bool has_sign = at + 2 < body.size() && (body[at] == 'e' || body[at] == 'E') && (body[at + 1] == '-' || body[at + 1] == '+');
    if (!has_sign || body.find_first_not_of("0123456789", at + 2) != std::string::npos) return {};
  }
  return parse_float(without_underscores(text));
}

Value plain_scalar(const std::string& text) {
  if (text.empty() || is_one_of(text, {"~", "null", "Null", "NULL"})) return {};
  if (is_one_of(text, {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) return true;
  if (is_one_of(text, {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) return false;
  if (const std::optional<int64_t> number = yaml_int(text)) return *number;
  if (const std::optional<double> number = yaml_float(text)) return *number;
  return text;
}

constexpr const char* kCoreTag = "tag:yaml.org,2002:";

// Makes the value of a document out of the parser's events: one a scalar, two a list or map.
class Builder : public YAML::EventHandler {
 public:
  // most: values that the document may have.
  Builder(const std::string& who, size_t most, Twice twice) : who_(who), most_(most), twice_(twice) {}

  // REQUIRES: all of it was parsed.
  const Value& document() const {
    if (!fault_.empty()) throw ArgumentError(fault_);
    return document_;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    ROTE_CHECK(documents_++ == 0, ArgumentError, at(mark), "a second document begins; one is read.");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add({}, mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    merges_ = text == "<<" && tag == "?";
    add(scalar(mark, tag, text), mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto named = named_.find(anchor);
    ROTE_CHECK(named != named_.end(), ArgumentError, at(mark), "a list or map holds itself; write it out.");
    made_ += named->second.size;
    add(named->second.value, mark, 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override { begin(mark, anchor, false); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override { begin(mark, anchor, true); }
  void OnSequenceEnd() override { end(); }
  void OnMapEnd() override { end(); }

 private:
  // A list or map of which not all has been read.
  struct Open {
    YAML::Mark mark;
    YAML::anchor_t anchor;
    bool is_map;
    size_t made_before;
    ValueList list = {};
    ValueMap map = {}, below = {};        // below: what << brings in
    std::optional<std::string> name = {};  // whose value comes next
    bool merges = false;                  // that value is brought in
  };
  struct Named {
    Value value;
    size_t size;  // values in it
  };

  std::string at(const YAML::Mark& mark) const { return str(who_, ":", mark.line + 1, ": "); }

  Value scalar(const YAML::Mark& mark, const std::string& tag, const std::string& text) const {
    if (tag == "?" || tag.empty()) return plain_scalar(text);
    const std::string core = tag.starts_with(kCoreTag) ? tag.substr(std::strlen(kCoreTag)) : "";
    if (tag == "!" || core == "str") return text;
    const Value value = plain_scalar(text);
    double number = 0;
    if (core == "float" && value.number(number)) return number;
    const bool fits = (core == "int" && value.as_int()) || (core == "bool" && value.as_bool()) || (core == "null" && value.is_null());
    ROTE_CHECK(fits, ArgumentError, at(mark), "a tag does not fit its value; leave the tag out.");
    return value;
  }

  void begin(const YAML::Mark& mark, YAML::anchor_t anchor, bool is_map) {
    ROTE_CHECK(open_.size() < 100, ArgumentError, at(mark), "lists and maps are nested too deep; 100 is the most.");
    open_.push_back({.mark = mark, .anchor = anchor, .is_map = is_map, .made_before = made_});
  }

  void end() {
    Open done = std::move(open_.back());
    open_.pop_back();
    for (auto& [name, value] : done.below)
      if (!done.map.find(name)) done.map.set(name, value);
    add(done.is_map ? Value(std::move(done.map)) : Value(std::move(done.list)), done.mark, done.anchor, done.made_before);
  }

  void add(Value value, const YAML::Mark& mark, YAML::anchor_t anchor) { add(std::move(value), mark, anchor, made_); }
  void add(Value value, const YAML::Mark& mark, YAML::anchor_t anchor, size_t made_before) {
    // Each value of a document takes a byte of it at least; more of them are one part named again and again.
    ROTE_CHECK(++made_ <= most_, ArgumentError, at(mark), "there are more values than the file has bytes; write them out without aliases.");
    if (anchor != 0) named_[anchor] = {value, made_ - made_before};
    if (open_.empty()) document_ = std::move(value);
    else if (!open_.back().is_map) open_.back().list.push_back(std::move(value));
    else if (!open_.back().name) name(value, mark);
    else set(std::move(value), mark);
  }

  void name(const Value& value, const YAML::Mark& mark) {
    const std::string* text = value.as_text();
    if (!text && fault_.empty()) fault_ = at(mark) + "a name is no text; put it in quotes.";
    open_.back().name = text ? *text : "";
    open_.back().merges = merges_;
  }

  void set(Value value, const YAML::Mark& mark) {
    Open& into = open_.back();
    const std::string name = *std::exchange(into.name, std::nullopt);
    if (!into.merges && twice_ == Twice::refuse) {
      ROTE_CHECK(into.map.find(name) == nullptr, ArgumentError, at(mark), name, " is given twice; give it once.");
      ROTE_CHECK(into.map.size() < kMostNames, ArgumentError, who_, ": has more than ", kMostNames, " names; it is no file of arguments.");
    }
    if (!into.merges) return into.map.set(name, std::move(value));
    for (const Value& one : value.as_list() ? *value.as_list() : ValueList{value}) {
      ROTE_CHECK(one.as_map(), ArgumentError, at(mark), "<< stands before a map or a list of maps.");
      for (const auto& [key, item] : *one.as_map())
        if (!into.below.find(key)) into.below.set(key, item);
    }
  }

  const std::string& who_;
  size_t most_, made_ = 0;
  Twice twice_;
  int documents_ = 0;
  bool merges_ = false;  // the last scalar is a plain <<
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Named> named_;
  Value document_;
  std::string fault_;  // told where the parser has nothing to say: to it, the 1 of a [1 that is not closed is a name
};

// A text of the parser may quote a byte of the file.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  return text;
}

// Throws YAML::Exception, and ArgumentError for what YAML may hold but arguments may not.
Value document_of(const std::string& text, const std::string& who, Twice twice) {
  Builder builder(who, text.size() + 1, twice);
  std::istringstream in(text);
  YAML::Parser parser(in);
  while (parser.HandleNextDocument(builder)) {}
  return builder.document();
}

}  // namespace

bool has_yaml() { return true; }

Value parse_yaml(const std::string& text, const std::string& who, Twice twice) {
  Value value;
  try {
    value = document_of(text, who, twice);
  } catch (const YAML::Exception& fault) {
    throw ArgumentError(str(who, ":", fault.mark.line + 1, ": is not YAML, ", printable(fault.msg), "; a line is name: value, a list is [a, b]."));
  }
  // The parser takes a quote that is never closed for closed at the end of the text, but not before a line that ends the document.
  try {
    document_of(text + (text.ends_with('\n') ? "" : "\n") + "...\n", who, twice);
  } catch (const YAML::Exception& fault) {
    throw ArgumentError(str(who, ":", fault.mark.line + 1, ": a quote is not closed; the same quote ends the text."));
  }
  return value;
}

}  // namespace rote

#else

namespace rote {

bool has_yaml() { return false; }

Value parse_yaml(const std::string&, const std::string& who, Twice) {
  throw ArgumentError(who + ": this build reads no YAML; give JSON, or build where libyaml-cpp-dev is installed.");
}

}  // namespace rote

#endif
