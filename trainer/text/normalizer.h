// trainer/text/normalizer.h — a text on its way through the normalizers, and the normalizers of tokenizer.json. Splits nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trainer/text/charsmap.h"
#include "trainer/text/normalized_text.h"
#include "trainer/text/regex.h"

namespace rote::text {

// BERT's cleaning.  Devlin et al. 2018, arXiv:1810.04805, and its published tokenizer.
struct BertNormalizer {
  bool clean_text = true;                            // drop control characters, turn every blank into a space
  bool handle_chinese_chars = true;                  // a space on both sides of an ideograph
  std::optional<bool> strip_accents = std::nullopt;  // decompose and drop nonspacing marks; absent: as `lowercase`
  bool lowercase = true;
};

struct Lowercase {};
struct StripAccents {};  // drops every combining mark
struct Strip {           // drops blanks at the ends
  bool left = true;
  bool right = true;
};
struct Prepend {  // to a text that is not empty
  std::u32string prefix;
};
struct Replace {
  Regex pattern;
  std::u32string content;
};
struct Nmt {};             // drops some control characters, turns some blanks into spaces
struct ByteLevelLetters {};  // every UTF-8 byte as the letter that stands for it

// In this order; empty: the text stays as it is.
using NormalizerStep = std::variant<BertNormalizer, NormalForm, Lowercase, StripAccents, Strip, Prepend, Replace, Nmt, ByteLevelLetters, Charsmap>;
using Normalizer = std::vector<NormalizerStep>;

void normalize(const Normalizer& normalizer, NormalizedText& text);

}  // namespace rote::text
