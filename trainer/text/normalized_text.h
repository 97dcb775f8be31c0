// trainer/text/normalized_text.h — a text that changes and still knows where each of its characters came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rote::text {

// Half-open range; what it counts is said where it is used.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// The characters of a text as they are now, each with the code points of the original text that it stands for.
struct NormalizedText {
  std::u32string chars;
  std::vector<Span> origin;  // chars.size() entries
  uint32_t first = 0;        // where in the original text this one begins

  // `chars` as they stand in the original text from its code point `first` on.
  static NormalizedText of(std::u32string_view chars, uint32_t first = 0);

  void push(char32_t c, Span from) {
    chars.push_back(c);
    origin.push_back(from);
  }
  void reserve(size_t n) {
    chars.reserve(n);
    origin.reserve(n);
  }
};

// A character of a changed text. change 0: it takes the place of one character; -n: that of one, and the n after it go; 1: it is put in
// and shares the origin of the place before it. Origins so stay with places, not with characters, as in the reference.
struct Edit {
  char32_t c = 0;
  int32_t change = 0;
};

// Replaces `text` by the characters of `edits`, which begin at its character `skipped`.
void transform(NormalizedText& text, const std::vector<Edit>& edits, size_t skipped = 0);

// Keeps the characters for which keep(c) holds.
template <class F>
void keep_if(NormalizedText& text, const F& keep) {
  size_t kept = 0;
  for (size_t i = 0; i < text.chars.size(); ++i) {
    if (!keep(text.chars[i])) continue;
    text.chars[kept] = text.chars[i];
    text.origin[kept] = text.origin[i];
    ++kept;
  }
  text.chars.resize(kept);
  text.origin.resize(kept);
}

// NFC, NFD, NFKC, NFKD.  Unicode Standard Annex 15.
struct NormalForm {
  bool composed = false;
  bool compatible = false;
};
void to_normal_form(NormalizedText& text, NormalForm form);

}  // namespace rote::text
