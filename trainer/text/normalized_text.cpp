// trainer/text/normalized_text.cpp — edits with the origin of every character kept, and the four normal forms.
#include "trainer/text/normalized_text.h"

#include <algorithm>

#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

// The full decomposition, runs of marks in canonical order (stable by combining class).
std::vector<Edit> decomposition(std::u32string_view chars, bool compatible) {
  std::vector<Edit> edits;
  edits.reserve(chars.size());
  size_t run = 0;  // the marks at the end of `edits` begin here
  bool ordered = true;
  int last = 0;
  const auto close = [&] {
    const auto less = [](const Edit& a, const Edit& b) { return combining_class(a.c) < combining_class(b.c); };
    if (!ordered) std::stable_sort(edits.begin() + static_cast<std::ptrdiff_t>(run), edits.end(), less);
    ordered = true;
    last = 0;
  };
  for (const char32_t c : chars) {
    char32_t parts[kMaxCompatible];
    const int n = decompose_fully(c, compatible, parts);
    for (int k = 0; k < n; ++k) {
      const int order = combining_class(parts[k]);
      if (order == 0) close();
      edits.push_back({parts[k], k > 0});
      if (order == 0) run = edits.size();
      ordered = ordered && order >= last;
      last = order;
    }
  }
  close();
  return edits;
}

std::vector<Edit> composition(const std::vector<Edit>& edits) {
  std::vector<Edit> out, marks;
  out.reserve(edits.size());
  Edit base;
  bool has_base = false;
  int last = -1;  // the class of the last mark that did not combine with `base`
  const auto close = [&] {
    if (has_base) out.push_back(base);
    out.insert(out.end(), marks.begin(), marks.end());
    marks.clear();
    last = -1;
  };
  for (const Edit& edit : edits) {
    const int order = combining_class(edit.c);
    if (!has_base) {
      if (order != 0) {
        out.push_back(edit);
      } else {
        base = edit;
        has_base = true;
      }
      continue;
    }
    const bool blocked = last >= order;
    const char32_t both = blocked ? 0 : compose(base.c, edit.c);
    if (both != 0) {
      base = {both, base.change + edit.change - 1};
    } else if (order == 0) {
      close();
      base = edit;
    } else {
      marks.push_back(edit);
      last = order;
    }
  }
  close();
  return out;
}

}  // namespace

NormalizedText NormalizedText::of(std::u32string_view chars, uint32_t first) {
  NormalizedText text;
  text.first = first;
  text.chars = chars;
  text.origin.resize(chars.size());
  for (size_t i = 0; i < chars.size(); ++i) {
    const auto at = first + static_cast<uint32_t>(i);
    text.origin[i] = {at, at + 1};
  }
  return text;
}

void transform(NormalizedText& text, const std::vector<Edit>& edits, size_t skipped) {
  std::u32string chars;
  std::vector<Span> origin;
  chars.reserve(edits.size());
  origin.reserve(edits.size());
  size_t at = skipped;
  const size_t n = text.origin.size();
  const auto origin_at = [&](size_t i) { return n == 0 ? Span{text.first, text.first} : text.origin[std::min(i, n - 1)]; };
  for (const Edit& edit : edits) {
    chars.push_back(edit.c);
    if (edit.change > 0) {
      origin.push_back(at == 0 ? Span{text.first, text.first} : origin_at(at - 1));
    } else {
      origin.push_back(origin_at(at));
      at = std::min(n, at + 1 + static_cast<size_t>(-edit.change));
    }
  }
  text.chars = std::move(chars);
  text.origin = std::move(origin);
}

void to_normal_form(NormalizedText& text, NormalForm form) {
  // What lies below these is in each form already.
  const char32_t plain = form.compatible ? 0xA0 : form.composed ? 0x300 : 0xC0;
  if (std::all_of(text.chars.begin(), text.chars.end(), [&](char32_t c) { return c < plain; })) return;
  std::vector<Edit> edits = decomposition(text.chars, form.compatible);
  if (form.composed) edits = composition(edits);
  transform(text, edits);
}

}  // namespace rote::text
