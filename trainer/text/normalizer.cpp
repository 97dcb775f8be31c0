// trainer/text/normalizer.cpp — the normalizers, with the origin of every character kept.
#include "trainer/text/normalizer.h"

#include <algorithm>
#include <utility>

#include "trainer/text/byte_level.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

constexpr char32_t kDrop = 0xFFFFFFFF;

// What stays of c after cleaning: c, a space, or kDrop.
char32_t cleaned(char32_t c) {
  if (c == 0xFFFD || is_control(c)) return kDrop;
  return is_whitespace(c) ? U' ' : c;
}

NormalizedText lowercased(const NormalizedText& text) {
  NormalizedText out;
  out.first = text.first;
  out.reserve(text.chars.size());
  for (size_t i = 0; i < text.chars.size(); ++i) {
    char32_t parts[kMaxLowercase];
    const int n = lowercase(text.chars[i], parts);
    for (int k = 0; k < n; ++k) out.push(parts[k], text.origin[i]);
  }
  return out;
}

// Cleans in place and finds out whether anything past ASCII is left: only then the costly steps have work to do.
bool clean(NormalizedText& text, const BertNormalizer& options) {
  size_t kept = 0;
  char32_t seen = 0;
  for (size_t i = 0; i < text.chars.size(); ++i) {
    char32_t c = text.chars[i];
    if (c - 0x20 > 0x7E - 0x20 && options.clean_text) c = cleaned(c);
    if (c == kDrop) continue;
    if (options.lowercase && c - U'A' <= U'Z' - U'A') c += 32;  // ASCII has no marks, so its lower case may come before they are dropped
    seen |= c;
    text.chars[kept] = c;
    text.origin[kept] = text.origin[i];
    ++kept;
  }
  text.chars.resize(kept);
  text.origin.resize(kept);
  return seen >= 0x80;
}

NormalizedText spaced_ideographs(const NormalizedText& text) {
  NormalizedText out;
  out.first = text.first;
  out.reserve(3 * text.chars.size());
  for (size_t i = 0; i < text.chars.size(); ++i) {
    const bool spaced = is_cjk(text.chars[i]);
    if (spaced) out.push(U' ', text.origin[i]);
    out.push(text.chars[i], text.origin[i]);
    if (spaced) out.push(U' ', text.origin[i]);
  }
  return out;
}

void apply(const BertNormalizer& options, NormalizedText& text) {
  if (!clean(text, options)) return;
  if (options.handle_chinese_chars && std::any_of(text.chars.begin(), text.chars.end(), is_cjk)) text = spaced_ideographs(text);
  if (options.strip_accents.value_or(options.lowercase)) {
    to_normal_form(text, {});
    keep_if(text, [](char32_t c) { return !is_nonspacing_mark(c); });
  }
  if (options.lowercase) text = lowercased(text);
}

void apply(const NormalForm& form, NormalizedText& text) { to_normal_form(text, form); }

void apply(Lowercase, NormalizedText& text) { text = lowercased(text); }

void apply(StripAccents, NormalizedText& text) {
  keep_if(text, [](char32_t c) { return !is_combining_mark(c); });
}

void apply(const Strip& sides, NormalizedText& text) {
  size_t begin = 0, end = text.chars.size();
  while (sides.left && begin < end && is_whitespace(text.chars[begin])) ++begin;
  while (sides.right && end > begin && is_whitespace(text.chars[end - 1])) --end;
  text.chars = text.chars.substr(begin, end - begin);
  text.origin = std::vector<Span>(text.origin.begin() + static_cast<std::ptrdiff_t>(begin), text.origin.begin() + static_cast<std::ptrdiff_t>(end));
}

void apply(const Prepend& options, NormalizedText& text) {
  if (text.chars.empty()) return;
  text.chars.insert(0, options.prefix);
  text.origin.insert(text.origin.begin(), options.prefix.size(), text.origin[0]);
}

void apply(const Replace& options, NormalizedText& text) {
  std::vector<Match> matches;
  options.pattern.split(text.chars, matches);
  if (std::none_of(matches.begin(), matches.end(), [](const Match& m) { return m.matched; })) return;
  NormalizedText out;
  out.first = text.first;
  out.reserve(text.chars.size());
  for (const Match& match : matches) {
    if (match.matched) {
      // The new characters share the origin of the last one that they replace.
      const Span origin = match.span.end == 0 ? Span{text.first, text.first} : text.origin[match.span.end - 1];
      for (const char32_t c : options.content) out.push(c, origin);
    } else {
      for (uint32_t i = match.span.begin; i < match.span.end; ++i) out.push(text.chars[i], text.origin[i]);
    }
  }
  text = std::move(out);
}

void apply(Nmt, NormalizedText& text) {
  keep_if(text, [](char32_t c) {
    const bool control = (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    return !control;
  });
  for (char32_t& c : text.chars) {
    const bool blank = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 || (c >= 0x200B && c <= 0x200F) || c == 0x2028 ||
                       c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    if (blank) c = U' ';
  }
}

void apply(ByteLevelLetters, NormalizedText& text) {
  NormalizedText out;
  out.first = text.first;
  out.reserve(text.chars.size());
  for (size_t i = 0; i < text.chars.size(); ++i) push_letters(text.chars[i], text.origin[i], out);
  text = std::move(out);
}

void apply(const Charsmap& map, NormalizedText& text) { map.normalize(text); }

}  // namespace

void normalize(const Normalizer& normalizer, NormalizedText& text) {
  for (const NormalizerStep& step : normalizer) std::visit([&](const auto& options) { apply(options, text); }, step);
}

}  // namespace rote::text
