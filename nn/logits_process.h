// nn/logits_process.h — what is done to the scores of the next token before one is chosen. Functions of one row; no model, no choice.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nn/generation_config.h"

namespace rote::nn {

// A row of a batch of which a token is to be chosen. Padding is in none of the ids, so that a row's tokens do not depend on the rows beside it;
// the reference counts padding as tokens, in n-grams and of encoders.
struct ScoreRow {
  std::span<const int64_t> ids;      // so far, the prompt of a decoder-only model included
  std::span<const int64_t> encoded;  // what the encoder was given; of a decoder-only model its prompt
  int64_t length;                    // of the row so far, with its padding
  std::span<float> scores;           // [V], changed in place; -inf: cannot be chosen
};
using LogitsProcessor = std::function<void(const ScoreRow& row)>;

// Those that the settings ask for, in the order of the reference. max_length: the longest row. Throws ArgumentError for ids outside the vocabulary.
std::vector<LogitsProcessor> logits_processors(const GenerationConfig& config, int64_t prompt_length, int64_t max_length, int64_t vocabulary);

// Each distinct token of `tokens`: a score below 0 times `penalty`, another divided by it.  Keskar et al. 2019, arXiv:1909.05858, section 4.1
void penalize_repetition(std::span<const int64_t> tokens, double penalty, std::span<float> scores);
// The tokens that would complete a run of n tokens that `seen` holds, after the last n-1 of `ids`, cannot be chosen.
void ban_repeated_ngrams(std::span<const int64_t> seen, std::span<const int64_t> ids, int64_t n, std::span<float> scores);
// `bias` on the last id of a sequence, where the ids before it end `ids`.
void bias_sequence(std::span<const int64_t> sequence, double bias, std::span<const int64_t> ids, std::span<float> scores);
// Only these can be chosen, with score 0.
void force_tokens(const std::vector<int64_t>& tokens, std::span<float> scores);
void suppress(const std::vector<int64_t>& tokens, std::span<float> scores);
// NaN becomes 0, infinities the largest finite numbers.
void remove_invalid_values(std::span<float> scores);
// score += |score|·(factor^steps - 1) of each end token.
void decay_towards_end(const std::vector<int64_t>& ends, double factor, int64_t steps, std::span<float> scores);
// Scores less the logarithm of the sum of their exponentials.
void renormalize(std::span<float> scores);

}  // namespace rote::nn
