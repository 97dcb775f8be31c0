// trainer/text/unicode.h — UTF-8 in and out, and what tokenizers ask of a code point. No tokens, no vocabulary.
//
// The classes of BERT (control, nonspacing mark, punctuation), the order of marks and the decompositions are frozen at the Unicode versions
// that published tokenizers are defined by (see unicode_tables.h), so that the same text gives the same ids whatever utf8proc is linked;
// lower case and general categories come from utf8proc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rote::text {

inline constexpr size_t kWellFormed = static_cast<size_t>(-1);

// Appends the code points of `bytes` to `chars`. Returns kWellFormed, or the offset of the first byte that is not UTF-8 (overlong forms
// and surrogates are not); `chars` then holds what came before it.
size_t decode_utf8(std::string_view bytes, std::u32string& chars);

// The code points of `bytes`. Throws ArgumentError, led by `who`, with the offset of the first byte that is not UTF-8.
std::u32string decode_text(std::string_view bytes, const char* who);

// The offset of the first byte that is not UTF-8, or kWellFormed.
size_t find_malformed(std::string_view bytes);
// `bytes` with U+FFFD for every maximal part that is not UTF-8.
std::string to_valid_utf8(std::string_view bytes);

// Appends c in UTF-8.  REQUIRES: c is a Unicode scalar value.
void append_utf8(char32_t c, std::string& bytes);
std::string to_utf8(std::u32string_view chars);

// The value of a hexadecimal digit of ASCII, or -1.
int hex_digit(char32_t c);

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

// General categories as a set of bits, one for each; what a regular expression means by \p{L} and its like, by Unicode 16.
using Categories = uint32_t;
Categories category_of(char32_t c);  // one bit
// The set that a name such as L, Lu or N stands for; 0 where it is none.
Categories categories_named(std::string_view name);
// The code points with a property, as ranges: White_Space, or one of the scripts Han, Hiragana, Katakana; none where it is another.
std::vector<std::pair<char32_t, char32_t>> ranges_named(std::string_view name);
// General category N: digits, and numerals such as a half or a Roman ten.
bool is_numeric(char32_t c);
// General category M, by Unicode 9.
bool is_combining_mark(char32_t c);

// Canonical combining class: 0 for a character that starts a new cluster.
int combining_class(char32_t c);

inline constexpr int kMaxDecomposition = 4;
// Full canonical decomposition of c into out[0..n); returns n >= 1.
int decompose(char32_t c, char32_t out[kMaxDecomposition]);

inline constexpr int kMaxLowercase = 2;
// Full decomposition of c by NFD or, with `compatible`, by NFKD, which gives at most 18.
inline constexpr int kMaxCompatible = 18;
int decompose_fully(char32_t c, bool compatible, char32_t out[kMaxCompatible]);
// The character that NFC makes of two, or 0.
char32_t compose(char32_t a, char32_t b);
// What two characters that differ in case alone share.
char32_t fold_case(char32_t c);
char32_t uppercase(char32_t c);

// Lower case of c alone, without regard to its neighbours (so capital sigma always gives the medial form), into out[0..n); returns n >= 1.
int lowercase(char32_t c, char32_t out[kMaxLowercase]);

}  // namespace rote::text
