// trainer/rouge.cpp — counts of n-grams and longest common subsequences.
#include "trainer/rouge.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/check.h"
#include "trainer/porter_stemmer.h"
#include "trainer/text/unicode.h"

namespace rote {

namespace {

using Words = std::vector<std::string>;

Scores scores_of(int64_t hits, size_t predicted, size_t present) {
  if (predicted == 0 || present == 0) return {};
  const double precision = static_cast<double>(hits) / static_cast<double>(predicted), recall = static_cast<double>(hits) / static_cast<double>(present);
  return {precision, recall, hits > 0 ? 2 * precision * recall / (precision + recall) : 0.0};
}

Scores ngram_scores(const Words& prediction, const Words& reference, size_t n) {
  const auto count = [n](const Words& words) {
    std::map<Words, int64_t> counts;
    for (size_t i = 0; i + n <= words.size(); ++i) ++counts[Words(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i + n))];
    return counts;
  };
  const auto predicted = count(prediction);
  int64_t hits = 0;
  for (const auto& [ngram, times] : count(reference))
    if (const auto found = predicted.find(ngram); found != predicted.end()) hits += std::min(times, found->second);
  const auto total = [n](const Words& words) { return words.size() >= n ? words.size() - n + 1 : 0; };
  return scores_of(hits, total(prediction), total(reference));
}

// Places in `reference` of a longest subsequence that `prediction` has too: of several that which the reference program takes.
std::set<size_t> common_places(const Words& reference, const Words& prediction) {
  const size_t columns = prediction.size() + 1;
  std::vector<int32_t> longest((reference.size() + 1) * columns, 0);  // of the first i and j words
  const auto at = [&](size_t i, size_t j) -> int32_t& { return longest[i * columns + j]; };
  for (size_t i = 1; i <= reference.size(); ++i)
    for (size_t j = 1; j <= prediction.size(); ++j)
      at(i, j) = reference[i - 1] == prediction[j - 1] ? at(i - 1, j - 1) + 1 : std::max(at(i - 1, j), at(i, j - 1));
  std::set<size_t> places;
  for (size_t i = reference.size(), j = prediction.size(); i > 0 && j > 0;) {
    if (reference[i - 1] == prediction[j - 1]) {
      places.insert(i - 1);
      --i;
      --j;
    } else if (at(i, j - 1) > at(i - 1, j)) {
      --j;
    } else {
      --i;
    }
  }
  return places;
}

std::vector<Words> lines_of(const std::string& text, RougeOptions options) {
  std::vector<Words> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(rouge_words(text.substr(begin, end - begin), options));
    begin = end + 1;
  }
  return lines;
}

Scores summary_scores(const std::vector<Words>& prediction, const std::vector<Words>& reference) {
  std::map<std::string, int64_t> predicted, present;  // left to be hit
  size_t predicted_words = 0, present_words = 0;
  for (const Words& line : prediction)
    for (const std::string& word : line) ++predicted[word], ++predicted_words;
  for (const Words& line : reference)
    for (const std::string& word : line) ++present[word], ++present_words;
  int64_t hits = 0;
  for (const Words& line : reference) {
    std::set<size_t> places;
    for (const Words& other : prediction) places.merge(common_places(line, other));
    for (const size_t place : places)
      if (predicted[line[place]] > 0 && present[line[place]] > 0) ++hits, --predicted[line[place]], --present[line[place]];
  }
  return scores_of(hits, predicted_words, present_words);
}

}  // namespace

std::vector<std::string> rouge_words(const std::string& text, RougeOptions options) {
  Words words;
  bool goes_on = false;
  for (const char32_t c : text::decode_text(text, "rouge")) {
    char32_t lower[text::kMaxLowercase];
    const int count = text::lowercase(c, lower);
    for (int i = 0; i < count; ++i) {
      const bool is_word = (lower[i] >= 'a' && lower[i] <= 'z') || (lower[i] >= '0' && lower[i] <= '9');
      if (is_word && !goes_on) words.emplace_back();
      if (is_word) words.back() += static_cast<char>(lower[i]);
      goes_on = is_word;
    }
  }
  if (options.use_stemmer)
    for (std::string& word : words)
      if (word.size() > 3) word = porter_stem(word);
  return words;
}

Rouge rouge(const std::string& prediction, const std::string& reference, RougeOptions options) {
  const Words predicted = rouge_words(prediction, options), present = rouge_words(reference, options);
  Rouge out;
  out.rouge1 = ngram_scores(predicted, present, 1);
  out.rouge2 = ngram_scores(predicted, present, 2);
  out.rougeL = scores_of(static_cast<int64_t>(common_places(present, predicted).size()), predicted.size(), present.size());
  out.rougeLsum = summary_scores(lines_of(prediction, options), lines_of(reference, options));
  return out;
}

Rouge mean_rouge(const std::vector<std::string>& predictions, const std::vector<std::string>& references, RougeOptions options) {
  ROTE_CHECK(predictions.size() == references.size(), ArgumentError, "mean_rouge: got ", predictions.size(), " predictions for ", references.size(),
             " references; each row needs both.");
  ROTE_CHECK(!references.empty(), ArgumentError, "mean_rouge: got no rows; a score needs at least one.");
  Rouge mean;
  const double rows = static_cast<double>(references.size());
  for (size_t row = 0; row < references.size(); ++row) {
    const Rouge one = rouge(predictions[row], references[row], options);
    for (Scores Rouge::*kind : {&Rouge::rouge1, &Rouge::rouge2, &Rouge::rougeL, &Rouge::rougeLsum}) {
      (mean.*kind).precision += (one.*kind).precision / rows;
      (mean.*kind).recall += (one.*kind).recall / rows;
      (mean.*kind).f1 += (one.*kind).f1 / rows;
    }
  }
  return mean;
}

}  // namespace rote
