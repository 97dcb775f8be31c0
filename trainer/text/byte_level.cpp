// trainer/text/byte_level.cpp — the table of letters.
#include "trainer/text/byte_level.h"

#include <array>
#include <string>

#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

constexpr bool is_printable(unsigned byte) { return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD); }

constexpr std::array<char32_t, 256> make_letters() {
  std::array<char32_t, 256> letters{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) letters[byte] = is_printable(byte) ? byte : next++;
  return letters;
}

constexpr std::array<char32_t, 256> kLetters = make_letters();

}  // namespace

char32_t letter_of(unsigned char byte) { return kLetters[byte]; }

std::optional<unsigned char> byte_of(char32_t letter) {
  if (letter < 0x100) return is_printable(letter) ? std::optional<unsigned char>(static_cast<unsigned char>(letter)) : std::nullopt;
  if (letter > 0x143) return std::nullopt;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (kLetters[byte] == letter) return static_cast<unsigned char>(byte);
  }
  return std::nullopt;
}

void push_letters(char32_t c, Span origin, NormalizedText& out) {
  if (c < 0x80) return out.push(kLetters[c], origin);
  std::string bytes;  // at most four: no allocation
  append_utf8(c, bytes);
  for (const char byte : bytes) out.push(kLetters[static_cast<unsigned char>(byte)], origin);
}

}  // namespace rote::text
