// trainer/data/language_collate.h — rows of tokens into batches for language models: labels of every token, or of those that are masked.
//
// What is masked is a function of (seed, place of the sample in the run, token of the sample): arithmetic.md 7. Batch split, padded length, threads
// and a resume move nothing, and each epoch masks anew.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/data/collate.h"

namespace rote::data {

struct LanguageModelingOptions {
  bool mlm = true;               // masked; else causal: every token is a label, and the model shifts them
  bool whole_word_mask = false;  // words are selected in place of tokens, and all of a selected word is masked
  double mlm_probability = 0.15;     // share of the tokens, or words, that are labels
  double mask_replace_prob = 0.8;    // share of those that become the mask token
  double random_replace_prob = 0.1;  // share of those that become any token; the rest stays
  std::optional<int64_t> pad_to_multiple_of = {};
  std::optional<uint64_t> seed = {};  // not given: of the run
};

// What masking needs to know of a vocabulary.
struct MaskTokens {
  std::optional<int64_t> mask_token_id;
  int64_t vocab_size = 0;             // random tokens are below
  std::vector<int64_t> special = {};  // ids that are never selected where rows bring no special_tokens_mask
};

// Rows as padded() makes them, with labels: -100 where nothing is to be predicted. Causal: at padding, as attention_mask says, or as the pad id does in
// rows without one. Masked: at what is not selected. Rows may bring special_tokens_mask (1: never selected) and, for whole words, word_ids (-1: none)
// or offset_mapping (lists of begin and end); the model is not given these.
// Draws inside a RunScope by its samples, else by the row of the batch; whose seed: the options', else the scope's, else the process's.
// Throws ArgumentError for shares outside of [0, 1] or, together, above 1, for a vocabulary without a mask token and for rows without words.
class LanguageModelingCollator {
 public:
  LanguageModelingCollator(const text::Tokenizer& tokenizer, const LanguageModelingOptions& options);
  LanguageModelingCollator(const PadOptions& pad, MaskTokens tokens, const LanguageModelingOptions& options);
  nn::Batch operator()(const std::vector<Example>& examples) const;

 private:
  struct Draws;
  void mask(Example& example, const Draws& draws, uint64_t sample) const;
  std::vector<int64_t> words_of(const Example& example, const std::vector<int64_t>& special) const;

  PadOptions pad_;
  MaskTokens tokens_;
  LanguageModelingOptions options_;
};

// The number of each token's word, -1 at special tokens. A word begins where a token does not begin at the end of the one before it, and behind
// a special token.  offsets: begin and end of each token in its text.  REQUIRES: as many of both.
std::vector<int64_t> words_of_offsets(const std::vector<std::pair<int64_t, int64_t>>& offsets, const std::vector<int64_t>& special_tokens_mask);

}  // namespace rote::data
