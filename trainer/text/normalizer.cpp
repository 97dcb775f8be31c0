// trainer/text/normalizer.cpp — the normalizers, with the origin of every character kept.
#include "trainer/text/normalizer.h"

#include <algorithm>
#include <utility>

#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

constexpr char32_t kDrop = 0xFFFFFFFF;

// What stays of c after cleaning: c, a space, or kDrop.
char32_t cleaned(char32_t c) {
  if (c == 0xFFFD || is_control(c)) return kDrop;
  return is_whitespace(c) ? U' ' : c;
}

void push(NormalizedText& text, char32_t c, Span origin) {
  text.chars.push_back(c);
  text.origin.push_back(origin);
}

// Puts runs of marks into canonical order (stable by combining class). Origins stay with positions: the k-th character of the source that
// a run was made of lends its origin to the k-th place, as the reference aligns them; `joined[i]` is 1 where chars[i] is the second or a
// later part of a decomposed character and so takes the origin of the place before it.
void order_marks(NormalizedText& text, std::vector<uint8_t>& joined) {
  struct Mark {
    int order;
    char32_t c;
    uint8_t joined;
  };
  std::vector<Mark> run;
  std::vector<Span> places;
  const size_t n = text.chars.size();
  for (size_t begin = 0; begin < n; ++begin) {
    run.clear();
    places.clear();
    size_t end = begin;
    for (; end < n; ++end) {
      const int order = combining_class(text.chars[end]);
      if (order == 0) break;
      run.push_back({order, text.chars[end], joined[end]});
      if (!joined[end]) places.push_back(text.origin[end]);
    }
    const auto less = [](const Mark& a, const Mark& b) { return a.order < b.order; };
    if (!std::is_sorted(run.begin(), run.end(), less)) {
      std::stable_sort(run.begin(), run.end(), less);
      Span origin = begin > 0 ? text.origin[begin - 1] : Span{};
      size_t place = 0;
      for (size_t i = 0; i < run.size(); ++i) {
        if (!run[i].joined) origin = places[place++];
        text.chars[begin + i] = run[i].c;
        text.origin[begin + i] = origin;
        joined[begin + i] = run[i].joined;
      }
    }
    begin = end;
  }
}

void drop_marks(NormalizedText& text) {
  size_t kept = 0;
  for (size_t i = 0; i < text.chars.size(); ++i) {
    if (is_nonspacing_mark(text.chars[i])) continue;
    text.chars[kept] = text.chars[i];
    text.origin[kept] = text.origin[i];
    ++kept;
  }
  text.chars.resize(kept);
  text.origin.resize(kept);
}

NormalizedText decomposed(const NormalizedText& text) {
  NormalizedText out;
  out.chars.reserve(text.chars.size());
  out.origin.reserve(text.chars.size());
  std::vector<uint8_t> joined;
  joined.reserve(text.chars.size());
  for (size_t i = 0; i < text.chars.size(); ++i) {
    char32_t parts[kMaxDecomposition];
    const int n = decompose(text.chars[i], parts);
    for (int k = 0; k < n; ++k) {
      push(out, parts[k], text.origin[i]);
      joined.push_back(k > 0);
    }
  }
  order_marks(out, joined);
  return out;
}

NormalizedText lowercased(const NormalizedText& text) {
  NormalizedText out;
  out.chars.reserve(text.chars.size());
  out.origin.reserve(text.chars.size());
  for (size_t i = 0; i < text.chars.size(); ++i) {
    char32_t parts[kMaxLowercase];
    const int n = lowercase(text.chars[i], parts);
    for (int k = 0; k < n; ++k) push(out, parts[k], text.origin[i]);
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
  out.chars.reserve(3 * text.chars.size());
  out.origin.reserve(3 * text.chars.size());
  for (size_t i = 0; i < text.chars.size(); ++i) {
    const bool spaced = is_cjk(text.chars[i]);
    if (spaced) push(out, U' ', text.origin[i]);
    push(out, text.chars[i], text.origin[i]);
    if (spaced) push(out, U' ', text.origin[i]);
  }
  return out;
}

void apply(std::monostate, NormalizedText&) {}

void apply(const BertNormalizer& options, NormalizedText& text) {
  if (!clean(text, options)) return;
  if (options.handle_chinese_chars && std::any_of(text.chars.begin(), text.chars.end(), is_cjk)) text = spaced_ideographs(text);
  if (options.strip_accents.value_or(options.lowercase)) {
    text = decomposed(text);
    drop_marks(text);
  }
  if (options.lowercase) text = lowercased(text);
}

}  // namespace

NormalizedText NormalizedText::of(std::u32string_view chars, uint32_t first) {
  NormalizedText text;
  text.chars.assign(chars);
  text.origin.resize(chars.size());
  for (size_t i = 0; i < chars.size(); ++i) {
    const auto at = first + static_cast<uint32_t>(i);
    text.origin[i] = {at, at + 1};
  }
  return text;
}

void normalize(const Normalizer& normalizer, NormalizedText& text) {
  std::visit([&](const auto& options) { apply(options, text); }, normalizer);
}

}  // namespace rote::text
