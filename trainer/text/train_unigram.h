// trainer/text/train_unigram.h — learns the tokens and scores of a Unigram model from counted words. Reads no text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/text/word_counts.h"

namespace rote::text {

// Names and meanings are those of the trainer of the Hugging Face tokenizers library.
struct UnigramTraining {
  int64_t vocab_size = 8000;
  std::vector<std::string> special_tokens = {};         // the first ids, in this order
  std::optional<std::string> unk_token = std::nullopt;  // id 0 unless it is one of them
  std::u32string initial_alphabet = {};                 // characters kept whether they occur or not
  double shrinking_factor = 0.75;                       // of the tokens, what a round keeps
  int64_t n_sub_iterations = 2;                         // of expectation and maximization, in a round
  int64_t max_piece_length = 16;                        // characters
  int64_t seed_size = 1000000;                          // substrings to begin with
};

struct UnigramResult {
  std::vector<std::string> tokens;  // by id
  std::vector<double> scores;       // log probabilities
  std::optional<int64_t> unk_id;
};

// Kudo 2018, arXiv:1804.10959, section 3.2. The same bits for any number of threads. Throws ArgumentError where vocab_size does not hold
// every character.
UnigramResult train_unigram(const WordCounts& words, const UnigramTraining& options);

}  // namespace rote::text
