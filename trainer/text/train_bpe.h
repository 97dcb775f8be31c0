// trainer/text/train_bpe.h — learns merges from counted words; WordPiece vocabularies are learnt the same way. Reads no text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/text/word_counts.h"

namespace rote::text {

// Names and meanings are those of the trainers of the Hugging Face tokenizers library.
struct BpeTraining {
  int64_t vocab_size = 30000;
  int64_t min_frequency = 0;                               // of a pair that is still merged
  std::vector<std::string> special_tokens = {};            // the first ids, in this order
  std::optional<int64_t> limit_alphabet = std::nullopt;    // characters kept, the most frequent ones
  std::u32string initial_alphabet = {};                    // characters kept whether they occur or not
  std::string continuing_subword_prefix = "";              // of the characters that do not begin a word
  std::string end_of_word_suffix = "";                     // of the last one
  std::optional<int64_t> max_token_length = std::nullopt;  // characters
};

struct BpeResult {
  std::vector<std::string> tokens;                      // by id
  std::vector<std::pair<uint32_t, uint32_t>> merges;    // ids, in the order in which they are merged
};

// Sennrich et al. 2016, arXiv:1508.07909. Of pairs that are equally frequent the one with the lesser ids is merged first. The same bits for
// any number of threads; with a prefix or suffix the ids of such characters follow the order of the words, which the library leaves open.
BpeResult train_bpe(const WordCounts& words, const BpeTraining& options);

}  // namespace rote::text
