// trainer/text/unicode.h — UTF-8 in and out, and what tokenizers ask of a code point. No tokens, no vocabulary.
//
// Three classes (control, nonspacing mark, punctuation) and the order of marks are frozen at the Unicode versions that BERT tokenizers
// are defined by (see unicode_tables.h), so that the same text gives the same ids whatever utf8proc is linked; decomposition, lower case
// and word characters come from utf8proc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rote::text {

inline constexpr size_t kWellFormed = static_cast<size_t>(-1);

// Appends the code points of `bytes` to `chars`. Returns kWellFormed, or the offset of the first byte that is not UTF-8 (overlong forms
// and surrogates are not); `chars` then holds what came before it.
size_t decode_utf8(std::string_view bytes, std::u32string& chars);

// The code points of `bytes`. Throws ArgumentError, led by `who`, with the offset of the first byte that is not UTF-8.
std::u32string decode_text(std::string_view bytes, const char* who);

// Appends c in UTF-8.  REQUIRES: c is a Unicode scalar value.
void append_utf8(char32_t c, std::string& bytes);
std::string to_utf8(std::u32string_view chars);

// White_Space of the Unicode character database.
bool is_whitespace(char32_t c);
// Control, format and private-use characters; tab, line feed and carriage return, which BERT counts as blanks, are not.
bool is_control(char32_t c);
bool is_nonspacing_mark(char32_t c);
// General category P, and the ASCII symbols such as $ + < that BERT counts with them.
bool is_punctuation(char32_t c);
// Ideographs, each of which is a word for BERT; kana and hangul are not.
bool is_cjk(char32_t c);
// \w of regular expressions: letters, marks, decimal digits, letter numbers, connectors, joiners.
bool is_word(char32_t c);

// Canonical combining class: 0 for a character that starts a new cluster.
int combining_class(char32_t c);

inline constexpr int kMaxDecomposition = 4;
// Full canonical decomposition of c into out[0..n); returns n >= 1.
int decompose(char32_t c, char32_t out[kMaxDecomposition]);

inline constexpr int kMaxLowercase = 2;
// Lower case of c alone, without regard to its neighbours (so capital sigma always gives the medial form), into out[0..n); returns n >= 1.
int lowercase(char32_t c, char32_t out[kMaxLowercase]);

}  // namespace rote::text
