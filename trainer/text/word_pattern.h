// trainer/text/word_pattern.h — the patterns that nearly every byte-level tokenizer cuts its words by, written out by hand: a regular
// expression is several times slower.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rote::text {

// Both match somewhere at every character, so that words cover the text.
struct WordPattern {
  // gpt2: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  // llama3: (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
  enum class Kind { gpt2, llama3 } kind = Kind::gpt2;
  uint32_t digits = 3;  // llama3: the longest number; Qwen's pattern has \p{N}

  // The pattern that `regex` spells, if it is one of these.
  static std::optional<WordPattern> of(std::string_view regex);

  // Where the word that begins at `at` ends.  REQUIRES: at < chars.size().
  uint32_t end_of_word(std::u32string_view chars, uint32_t at) const;
};

}  // namespace rote::text
