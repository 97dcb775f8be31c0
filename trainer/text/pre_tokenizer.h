// trainer/text/pre_tokenizer.h — the pre-tokenizers of tokenizer.json: where a normalized text is cut into words, and the few changes that
// some of them make on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "trainer/text/normalized_text.h"
#include "trainer/text/regex.h"
#include "trainer/text/word_pattern.h"

namespace rote::text {

// What becomes of the matches of a pattern: "the-final--countdown" at '-'
enum class SplitBehavior {
  removed,               // the final countdown
  isolated,              // the - final - - countdown
  merged_with_previous,  // the- final- - countdown
  merged_with_next,      // the -final - -countdown
  contiguous,            // the - final -- countdown
};

// Words end at blanks, which belong to none, and every punctuation character is a word of its own.
struct BertPreTokenizer {};
// Runs of word characters, and runs of what is neither that nor blank.
struct Whitespace {};
struct WhitespaceSplit {};
struct Punctuation {
  SplitBehavior behavior = SplitBehavior::isolated;
};
struct Digits {
  bool individual_digits = false;
};
struct CharDelimiterSplit {
  char32_t delimiter = U' ';
};
struct FixedLength {
  uint32_t length = 5;  // characters
};
struct Split {
  std::variant<Regex, WordPattern> pattern;  // the second for well-known patterns
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  // what lies between the matches counts as them
};
// Words by GPT-2's pattern, then every byte as a letter.
struct ByteLevel {
  bool add_prefix_space = true;
  bool use_regex = true;
};
// sentencepiece's blanks: ▁ for each, before the text too, and words that begin with it.
struct Metaspace {
  enum class Prepend { first, never, always };
  char32_t replacement = U'\u2581';
  Prepend prepend = Prepend::always;
  bool split = true;
};

// In this order; empty: the whole text is one word.
using PreTokenizerStep =
    std::variant<BertPreTokenizer, Whitespace, WhitespaceSplit, Punctuation, Digits, CharDelimiterSplit, FixedLength, Split, ByteLevel, Metaspace>;
using PreTokenizer = std::vector<PreTokenizerStep>;

// The words of `text`, in order, as ranges of indices into what it is afterwards; none is empty. Replaces `words`.
void pre_tokenize(const PreTokenizer& pre_tokenizer, NormalizedText& text, std::vector<Span>& words);

}  // namespace rote::text
