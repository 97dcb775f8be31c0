// trainer/text/unicode.cpp — UTF-8 and the classes of code points: frozen tables where ids depend on them, utf8proc elsewhere.
#include "trainer/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "kernels/check.h"
#include "trainer/text/unicode_tables.h"

namespace rote::text {
namespace {

template <size_t N>
bool contains(const detail::CodeRange (&ranges)[N], char32_t c) {
  const auto* after = std::upper_bound(ranges, ranges + N, c, [](char32_t x, const detail::CodeRange& r) { return x < r.first; });
  return after != ranges && c <= after[-1].last;
}

bool between(char32_t c, char32_t first, char32_t last) { return c - first <= last - first; }

constexpr Categories bit(int category) { return Categories{1} << category; }
constexpr Categories kLetters = bit(UTF8PROC_CATEGORY_LU) | bit(UTF8PROC_CATEGORY_LL) | bit(UTF8PROC_CATEGORY_LT) |
                                bit(UTF8PROC_CATEGORY_LM) | bit(UTF8PROC_CATEGORY_LO);
constexpr Categories kMarks = bit(UTF8PROC_CATEGORY_MN) | bit(UTF8PROC_CATEGORY_MC) | bit(UTF8PROC_CATEGORY_ME);
constexpr Categories kNumbers = bit(UTF8PROC_CATEGORY_ND) | bit(UTF8PROC_CATEGORY_NL) | bit(UTF8PROC_CATEGORY_NO);

// Reads one code point at `p`; 0 where the bytes up to `end` start no well-formed sequence (Unicode 15, table 3-7).
int read_sequence(const unsigned char* p, const unsigned char* end, char32_t& c) {
  const unsigned lead = p[0];
  const int length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || end - p < length) return 0;
  c = lead & (0x7Fu >> length);
  for (int i = 1; i < length; ++i) {
    if ((p[i] & 0xC0) != 0x80) return 0;
    c = (c << 6) | (p[i] & 0x3Fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool well_formed = c >= kLeast[length] && c <= 0x10FFFF && !between(c, 0xD800, 0xDFFF);
  return well_formed ? length : 0;
}

}  // namespace

size_t decode_utf8(std::string_view bytes, std::u32string& chars) {
  const auto* begin = reinterpret_cast<const unsigned char*>(bytes.data());
  const unsigned char* end = begin + bytes.size();
  const size_t before = chars.size();
  chars.resize(before + bytes.size());
  char32_t* out = chars.data() + before;
  size_t bad = kWellFormed;
  for (const unsigned char* p = begin; p < end;) {
    if (*p < 0x80) {
      *out++ = *p++;
      continue;
    }
    char32_t c = 0;
    const int length = read_sequence(p, end, c);
    if (length == 0) {
      bad = static_cast<size_t>(p - begin);
      break;
    }
    *out++ = c;
    p += length;
  }
  chars.resize(static_cast<size_t>(out - chars.data()));
  return bad;
}

size_t find_malformed(std::string_view bytes) {
  const auto* begin = reinterpret_cast<const unsigned char*>(bytes.data());
  const unsigned char* end = begin + bytes.size();
  for (const unsigned char* p = begin; p < end;) {
    char32_t c = 0;
    const int length = *p < 0x80 ? 1 : read_sequence(p, end, c);
    if (length == 0) return static_cast<size_t>(p - begin);
    p += length;
  }
  return kWellFormed;
}

std::string to_valid_utf8(std::string_view bytes) {
  std::string out;
  while (true) {
    const size_t bad = find_malformed(bytes);
    out += bytes.substr(0, bad);
    if (bad == kWellFormed) return out;
    append_utf8(0xFFFD, out);
    bytes.remove_prefix(bad);
    // The maximal part: the lead byte and what could still follow it (Unicode 15, section 3.9, U+FFFD substitution).
    const auto lead = static_cast<unsigned char>(bytes[0]);
    const size_t length = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
    size_t n = 1;
    for (; n < length && n < bytes.size(); ++n) {
      const auto next = static_cast<unsigned char>(bytes[n]);
      const unsigned least = n == 1 && lead == 0xE0 ? 0xA0 : n == 1 && lead == 0xF0 ? 0x90 : 0x80;
      const unsigned most = n == 1 && lead == 0xED ? 0x9F : n == 1 && lead == 0xF4 ? 0x8F : 0xBF;
      if (next < least || next > most) break;
    }
    bytes.remove_prefix(n);
  }
}

std::u32string decode_text(std::string_view bytes, const char* who) {
  std::u32string chars;
  const size_t bad = decode_utf8(bytes, chars);
  if (bad != kWellFormed) {
    char byte[8];
    std::snprintf(byte, sizeof byte, "0x%02X", static_cast<unsigned char>(bytes[bad]));
    throw ArgumentError(str(who, ": the text is not UTF-8 at byte ", bad, " (", byte, "); texts must be encoded as UTF-8."));
  }
  return chars;
}

void append_utf8(char32_t c, std::string& bytes) {
  const auto tail = [&](int shift) { bytes.push_back(static_cast<char>(0x80 | ((c >> shift) & 0x3F))); };
  if (c < 0x80) {
    bytes.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    bytes.push_back(static_cast<char>(0xC0 | (c >> 6)));
    tail(0);
  } else if (c < 0x10000) {
    bytes.push_back(static_cast<char>(0xE0 | (c >> 12)));
    tail(6), tail(0);
  } else {
    bytes.push_back(static_cast<char>(0xF0 | (c >> 18)));
    tail(12), tail(6), tail(0);
  }
}

std::string to_utf8(std::u32string_view chars) {
  std::string bytes;
  bytes.reserve(chars.size());
  for (const char32_t c : chars) append_utf8(c, bytes);
  return bytes;
}

int hex_digit(char32_t c) {
  if (between(c, '0', '9')) return static_cast<int>(c - '0');
  if (between(c, 'a', 'f')) return static_cast<int>(c - 'a') + 10;
  return between(c, 'A', 'F') ? static_cast<int>(c - 'A') + 10 : -1;
}

bool is_whitespace(char32_t c) {
  if (c < 0x80) return c == ' ' || between(c, '\t', '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || between(c, 0x2000, 0x200A) || between(c, 0x2028, 0x2029) || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool is_control(char32_t c) {
  if (between(c, 0x20, 0x7E)) return false;
  return contains(detail::kControl, c);
}

bool is_nonspacing_mark(char32_t c) { return c >= 0x300 && contains(detail::kNonspacingMarks, c); }

bool is_punctuation(char32_t c) {
  if (c < 0x80) return between(c, 33, 47) || between(c, 58, 64) || between(c, 91, 96) || between(c, 123, 126);
  return contains(detail::kPunctuation, c);
}

bool is_cjk(char32_t c) {
  if (c < 0x3400) return false;
  return between(c, 0x3400, 0x4DBF) || between(c, 0x4E00, 0x9FFF) || between(c, 0xF900, 0xFAFF) || between(c, 0x20000, 0x2A6DF) ||
         between(c, 0x2A700, 0x2B81F) || between(c, 0x2B920, 0x2CEAF) || between(c, 0x2F800, 0x2FA1F);
}

bool is_word(char32_t c) {
  if (c < 0x80) return between(c, '0', '9') || between(c, 'A', 'Z') || between(c, 'a', 'z') || c == '_';
  constexpr Categories kWord = kLetters | kMarks | bit(UTF8PROC_CATEGORY_ND) | bit(UTF8PROC_CATEGORY_NL) | bit(UTF8PROC_CATEGORY_PC);
  if (category_of(c) & kWord) return true;
  // The two joiners, and the symbols that have the property Alphabetic: letters in circles and squares.
  return between(c, 0x200C, 0x200D) || between(c, 0x24B6, 0x24E9) || between(c, 0x1F130, 0x1F149) || between(c, 0x1F150, 0x1F169) ||
         between(c, 0x1F170, 0x1F189);
}

Categories category_of(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  if (category != UTF8PROC_CATEGORY_CN) return bit(category);
  const auto less = [](char32_t x, const detail::CategoryRange& r) { return x < r.first; };
  const auto* after = std::upper_bound(std::begin(detail::kAddedIn16), std::end(detail::kAddedIn16), c, less);
  const bool added = after != std::begin(detail::kAddedIn16) && c <= after[-1].last;
  return bit(added ? after[-1].category : category);
}

Categories categories_named(std::string_view name) {
  static constexpr std::string_view kNames[] = {"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
                                                "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};
  Categories set = 0;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name || (name.size() == 1 && kNames[i][0] == name[0])) set |= Categories{1} << i;
  }
  return set;
}

std::vector<std::pair<char32_t, char32_t>> ranges_named(std::string_view name) {
  std::vector<std::pair<char32_t, char32_t>> ranges;
  const auto copy = [&](const auto& table) {
    for (const detail::CodeRange& r : table) ranges.emplace_back(r.first, r.last);
  };
  if (name == "White_Space") copy(detail::kBlanks);
  if (name == "Han") copy(detail::kHan);
  if (name == "Hiragana") copy(detail::kHiragana);
  if (name == "Katakana") copy(detail::kKatakana);
  return ranges;
}

bool is_numeric(char32_t c) {
  if (c < 0x80) return between(c, '0', '9');
  return (category_of(c) & kNumbers) || between(c, 0x11DE0, 0x11DE9) || between(c, 0x16FF4, 0x16FF6);
}

bool is_combining_mark(char32_t c) {
  if (c < 0x300) return false;
  if (between(c, 0x1CF2, 0x1CF3)) return true;  // letters since 12.0
  return (bit(utf8proc_category(static_cast<utf8proc_int32_t>(c))) & kMarks) && !contains(detail::kMarksAfter9, c);
}

int combining_class(char32_t c) {
  if (c < 0x300 || contains(detail::kPlainInNfd, c)) return 0;
  return static_cast<int>(utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class);
}

int decompose(char32_t c, char32_t out[kMaxDecomposition]) {
  out[0] = c;
  if (c < 0xC0 || contains(detail::kPlainInNfd, c)) return 1;
  utf8proc_int32_t parts[kMaxDecomposition];
  int boundary = 0;
  const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, kMaxDecomposition, UTF8PROC_DECOMPOSE, &boundary);
  ROTE_ASSERT(n >= 1 && n <= kMaxDecomposition, "no code point decomposes into more than four");
  for (utf8proc_ssize_t i = 0; i < n; ++i) out[i] = static_cast<char32_t>(parts[i]);
  return static_cast<int>(n);
}

char32_t uppercase(char32_t c) {
  if (c < 0x80) return between(c, 'a', 'z') ? c - 32 : c;
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}

int decompose_fully(char32_t c, bool compatible, char32_t out[kMaxCompatible]) {
  if (!compatible || contains(detail::kPlainInNfkd, c)) return decompose(c, out);
  out[0] = c;
  if (c < 0xA0 || contains(detail::kPlainInNfd, c)) return 1;
  utf8proc_int32_t parts[kMaxCompatible];
  int boundary = 0;
  constexpr auto kHow = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, kMaxCompatible, kHow, &boundary);
  ROTE_ASSERT(n >= 1 && n <= kMaxCompatible, "no code point decomposes into more than eighteen");
  for (utf8proc_ssize_t i = 0; i < n; ++i) out[i] = static_cast<char32_t>(parts[i]);
  return static_cast<int>(n);
}

char32_t compose(char32_t a, char32_t b) {
  if (b < 0x300) return 0;
  utf8proc_int32_t pair[2] = {static_cast<utf8proc_int32_t>(a), static_cast<utf8proc_int32_t>(b)};
  constexpr auto kHow = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  if (utf8proc_normalize_utf32(pair, 2, kHow) != 1) return 0;
  const auto c = static_cast<char32_t>(pair[0]);
  return contains(detail::kPlainInNfd, c) ? 0 : c;
}

char32_t fold_case(char32_t c) {
  if (c < 0x80) return between(c, 'A', 'Z') ? c + 32 : c;
  utf8proc_int32_t parts[4];
  int boundary = 0;
  const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, 4, UTF8PROC_CASEFOLD, &boundary);
  return n == 1 ? static_cast<char32_t>(parts[0]) : c;
}

int lowercase(char32_t c, char32_t out[kMaxLowercase]) {
  if (c < 0x80) {
    out[0] = between(c, 'A', 'Z') ? c + 32 : c;
    return 1;
  }
  if (c == 0x130) {  // I with a dot above: the only code point whose lower case is two
    out[0] = 'i';
    out[1] = 0x307;
    return 2;
  }
  out[0] = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  return 1;
}

}  // namespace rote::text
