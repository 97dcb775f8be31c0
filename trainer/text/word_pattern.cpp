// trainer/text/word_pattern.cpp — the two patterns, alternative by alternative.
#include "trainer/text/word_pattern.h"

#include <array>

#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

enum class Class : uint8_t { other, letter, number, blank };

Class slow_class_of(char32_t c) {
  static const Categories letters = categories_named("L"), numbers = categories_named("N");
  if (is_whitespace(c)) return Class::blank;
  const Categories category = category_of(c);
  return category & letters ? Class::letter : category & numbers ? Class::number : Class::other;
}

constexpr char32_t kTabled = 0x250;  // ASCII and Latin

Class class_of(char32_t c) {
  static const auto table = [] {
    std::array<Class, kTabled> classes{};
    for (char32_t i = 0; i < kTabled; ++i) classes[i] = slow_class_of(i);
    return classes;
  }();
  return c < kTabled ? table[c] : slow_class_of(c);
}

bool is_newline(char32_t c) { return c == U'\r' || c == U'\n'; }

// Characters of the contraction 's 't 're 've 'm 'll 'd that begins at the apostrophe, or 0. With `any_case` a long s counts as one.
uint32_t contraction(std::u32string_view rest, bool any_case) {
  const auto letter = [&](size_t i) { return i >= rest.size() ? U'\0' : any_case ? fold_case(rest[i]) : rest[i]; };
  const char32_t first = letter(1);
  if (first == U's' || first == U't' || first == U'm' || first == U'd') return 2;
  const char32_t second = letter(2);
  return (first == U'r' && second == U'e') || (first == U'v' && second == U'e') || (first == U'l' && second == U'l') ? 3 : 0;
}

}  // namespace

std::optional<WordPattern> WordPattern::of(std::string_view regex) {
  static constexpr std::string_view kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  static constexpr std::string_view kBefore = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})";
  static constexpr std::string_view kAfter = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  if (regex == kGpt2) return WordPattern{};
  if (!regex.starts_with(kBefore) || !regex.ends_with(kAfter)) return std::nullopt;
  regex.remove_prefix(kBefore.size());
  if (regex == kAfter) return WordPattern{Kind::llama3, 1};
  if (regex.size() == kAfter.size() + 5 && regex.starts_with("{1,3}")) return WordPattern{Kind::llama3, 3};
  return std::nullopt;
}

uint32_t WordPattern::end_of_word(std::u32string_view chars, uint32_t at) const {
  const auto n = static_cast<uint32_t>(chars.size());
  const bool llama3 = kind == Kind::llama3;
  const char32_t c = chars[at];
  const auto run = [&](uint32_t from, Class what) {
    while (from < n && class_of(chars[from]) == what) ++from;
    return from;
  };
  if (c == U'\'') {
    const uint32_t length = contraction(chars.substr(at), llama3);
    if (length > 0) return at + length;
  }
  const Class first = class_of(c);
  if (first == Class::letter) return run(at + 1, Class::letter);
  if (llama3) {
    if (first != Class::number && !is_newline(c) && at + 1 < n && class_of(chars[at + 1]) == Class::letter) return run(at + 2, Class::letter);
    if (first == Class::number) {
      uint32_t end = at + 1;
      while (end < n && end < at + digits && class_of(chars[end]) == Class::number) ++end;
      return end;
    }
    const uint32_t from = c == U' ' && at + 1 < n && class_of(chars[at + 1]) == Class::other ? at + 1 : at;
    if (class_of(chars[from]) == Class::other) {
      uint32_t end = run(from, Class::other);
      while (end < n && is_newline(chars[end])) ++end;
      return end;
    }
  } else {
    if (first != Class::blank) return run(at + 1, first);
    if (c == U' ' && at + 1 < n && class_of(chars[at + 1]) != Class::blank) return run(at + 2, class_of(chars[at + 1]));
  }
  const uint32_t end = run(at, Class::blank);
  if (llama3) {
    for (uint32_t i = end; i > at; --i) {
      if (is_newline(chars[i - 1])) return i;
    }
  }
  return end == n || end == at + 1 ? end : end - 1;  // the last blank goes to the word after it
}

}  // namespace rote::text
