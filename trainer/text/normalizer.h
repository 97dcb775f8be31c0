// trainer/text/normalizer.h — a text on its way through the normalizers, and the normalizers of tokenizer.json. Splits nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
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

  // `chars` as they stand in the original text from its code point `first` on.
  static NormalizedText of(std::u32string_view chars, uint32_t first = 0);
};

// BERT's cleaning.  Devlin et al. 2018, arXiv:1810.04805, and its published tokenizer.
struct BertNormalizer {
  bool clean_text = true;                            // drop control characters, turn every blank into a space
  bool handle_chinese_chars = true;                  // a space on both sides of an ideograph
  std::optional<bool> strip_accents = std::nullopt;  // decompose and drop nonspacing marks; absent: as `lowercase`
  bool lowercase = true;
};

// std::monostate: the text stays as it is.
using Normalizer = std::variant<std::monostate, BertNormalizer>;

void normalize(const Normalizer& normalizer, NormalizedText& text);

}  // namespace rote::text
