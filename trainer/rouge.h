// trainer/rouge.h — ROUGE-1, 2, L and Lsum as rouge_score 0.1.2 gives them.
#pragma once

#include <string>
#include <vector>

#include "trainer/metrics.h"

namespace rote {

struct RougeOptions {
  bool use_stemmer = false;  // words of more than three letters count as their stems (porter_stemmer.h)
};

// Runs of a-z and 0-9 of the lower-cased text; all else separates them, so other alphabets have no words here. Throws ArgumentError where it is not UTF-8.
std::vector<std::string> rouge_words(const std::string& text, RougeOptions options = {});

struct Rouge {
  Scores rouge1, rouge2;  // hits among single words, among pairs of neighbours; each counted as often as both texts have it
  Scores rougeL;          // the longest common subsequence of words
  Scores rougeLsum;       // for each line of the reference the union of its subsequences with all lines of the prediction
};

// precision: hits over what the prediction has, recall: over what the reference has.  Lin 2004, aclanthology W04-1013
Rouge rouge(const std::string& prediction, const std::string& reference, RougeOptions options = {});

// Each score's mean over the rows. Throws ArgumentError where there are no rows or the numbers differ.
Rouge mean_rouge(const std::vector<std::string>& predictions, const std::vector<std::string>& references, RougeOptions options = {});

}  // namespace rote
