// trainer/text/pre_tokenizer.cpp — the pre-tokenizers.
#include "trainer/text/pre_tokenizer.h"

#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

void split(std::monostate, std::u32string_view chars, std::vector<Span>& words) {
  if (!chars.empty()) words.push_back({0, static_cast<uint32_t>(chars.size())});
}

void split(BertPreTokenizer, std::u32string_view chars, std::vector<Span>& words) {
  const auto n = static_cast<uint32_t>(chars.size());
  uint32_t begin = 0;
  const auto close = [&](uint32_t end) {
    if (begin < end) words.push_back({begin, end});
    begin = end + 1;
  };
  for (uint32_t i = 0; i < n; ++i) {
    const char32_t c = chars[i];
    if (c - U'a' <= U'z' - U'a') continue;  // most of any text
    if (is_whitespace(c)) {
      close(i);
    } else if (is_punctuation(c)) {
      close(i);
      words.push_back({i, i + 1});
    }
  }
  close(n);
}

}  // namespace

void split_words(const PreTokenizer& pre_tokenizer, std::u32string_view chars, std::vector<Span>& words) {
  words.clear();
  std::visit([&](const auto& options) { split(options, chars, words); }, pre_tokenizer);
}

}  // namespace rote::text
