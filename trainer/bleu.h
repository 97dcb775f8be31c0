// trainer/bleu.h — corpus BLEU as sacrebleu 2.6 gives it by default: tokenizer 13a, exponential smoothing, mixed case.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rote {

// The words of a text by mteval-v13a: entities undone, punctuation and symbols apart, periods and commas kept inside numbers.
// Throws ArgumentError where the text is not UTF-8.
std::vector<std::string> bleu_words(const std::string& text);

struct Bleu {
  double score = 0;                          // 0 to 100
  std::array<int64_t, 4> counts = {};        // n-grams of the predictions that a reference has, n = 1 … 4
  std::array<int64_t, 4> totals = {};        // n-grams of the predictions
  std::array<double, 4> precisions = {};     // in percent; an order without a hit is smoothed
  double brevity_penalty = 1;
  int64_t prediction_length = 0, reference_length = 0;  // words; of the references the nearest in length to each prediction
};

// references: one list or more for each prediction.
//   score = BP · exp(Σ log precision_n / 4), BP = exp(1 − r/c) where c < r      Papineni et al. 2002, doi:10.3115/1073083.1073135
// The k-th order without a hit counts as 2^−k hits (Chen & Cherry 2014, method 3); without any hit, or without 4-grams, the score is 0.
// Throws ArgumentError where there is no prediction, their numbers differ, one has no reference, or a text is not UTF-8.
Bleu corpus_bleu(const std::vector<std::string>& predictions, const std::vector<std::vector<std::string>>& references);

}  // namespace rote
