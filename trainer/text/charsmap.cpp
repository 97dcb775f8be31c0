// trainer/text/charsmap.cpp — the reading of a character map and the walk over its trie.
#include "trainer/text/charsmap.h"

#include <utf8proc.h>

#include "kernels/check.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

constexpr size_t kLongestCluster = 5;  // bytes

std::string from_base64(std::string_view text, const std::string& where) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int have = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (const char c : text) {
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    ROTE_CHECK(value >= 0, IoError, "tokenizer: ", where, " is not base64; it must be a character map of sentencepiece.");
    bits = (bits << 6) | static_cast<uint32_t>(value);
    have += 6;
    if (have >= 8) bytes.push_back(static_cast<char>((bits >> (have -= 8)) & 0xFF));
  }
  return bytes;
}

uint32_t word_at(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word |= uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return word;
}

// Appends what stands for `count` characters: as many edits as `with` has characters, the surplus of either side marked.
void replace(std::vector<Edit>& edits, size_t count, std::u32string_view with) {
  for (const char32_t c : with) edits.push_back({c, 0});
  if (with.size() > count) {
    for (size_t k = 0; k < with.size() - count; ++k) edits[edits.size() - 1 - k].change = 1;
  } else if (with.size() < count && !edits.empty()) {
    edits.back().change -= static_cast<int32_t>(count - with.size());
  }
}

}  // namespace

Charsmap::Charsmap(std::string_view base64, const std::string& where) {
  const std::string bytes = from_base64(base64, where);
  const size_t size = bytes.size() >= 4 ? word_at(bytes, 0) : 0;
  ROTE_CHECK(bytes.size() >= 4 && size % 4 == 0 && size >= 4 && size <= bytes.size() - 4, IoError, "tokenizer: ", where, " has ", bytes.size(),
             " bytes and says that its trie takes ", size, "; it must be a character map of sentencepiece.");
  units_.resize(size / 4);
  for (size_t i = 0; i < units_.size(); ++i) units_[i] = word_at(bytes, 4 + 4 * i);
  strings_ = bytes.substr(4 + size);
  ROTE_CHECK(find_malformed(strings_) == kWellFormed, IoError, "tokenizer: ", where, " has replacements that are not UTF-8.");
}

std::optional<std::string_view> Charsmap::find(std::string_view bytes) const {
  const auto offset = [](uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); };
  size_t node = offset(units_[0]);
  for (const char c : bytes) {
    const auto label = static_cast<unsigned char>(c);
    if (label == 0) return std::nullopt;
    node ^= label;
    if (node >= units_.size()) return std::nullopt;
    const uint32_t unit = units_[node];
    if ((unit & 0x800000FFu) != label) return std::nullopt;
    node ^= offset(unit);
    if (node >= units_.size()) return std::nullopt;
    if ((unit >> 8) & 1) {
      const size_t begin = units_[node] & 0x7FFFFFFFu;
      if (begin > strings_.size()) return std::nullopt;
      const std::string_view rest = std::string_view(strings_).substr(begin);
      return rest.substr(0, rest.find('\0'));
    }
  }
  return std::nullopt;
}

void Charsmap::normalize(NormalizedText& text) const {
  std::vector<Edit> edits;
  edits.reserve(text.chars.size());
  bool changed = false;
  std::string bytes;
  const auto replaced = [&](std::string_view what, size_t count) {
    const auto with = find(what);
    if (!with) return false;
    changed = true;
    // A value that points into the middle of a character gives what can be read of it.
    replace(edits, count, decode_text(to_valid_utf8(*with), "charsmap"));
    return true;
  };
  const std::u32string& chars = text.chars;
  for (size_t begin = 0, end = 0; begin < chars.size(); begin = end) {
    utf8proc_int32_t state = 0;
    end = begin + 1;
    while (end < chars.size() && !utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(chars[end - 1]),
                                                                   static_cast<utf8proc_int32_t>(chars[end]), &state)) {
      ++end;
    }
    bytes = to_utf8(std::u32string_view(chars).substr(begin, std::min<size_t>(end - begin, kLongestCluster + 1)));
    if (bytes.size() <= kLongestCluster && replaced(bytes, end - begin)) continue;
    for (size_t i = begin; i < end; ++i) {
      bytes.clear();
      append_utf8(chars[i], bytes);
      if (!replaced(bytes, 1)) edits.push_back({chars[i], 0});
    }
  }
  if (changed) transform(text, edits);
}

}  // namespace rote::text
