// trainer/metrics.cpp — counting agreements.
#include "trainer/metrics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "kernels/check.h"

namespace rote {

namespace {

void check_sizes(const char* who, size_t predictions, size_t labels) {
  ROTE_CHECK(predictions == labels, ArgumentError, who, ": got ", predictions, " predictions for ", labels, " labels; each row needs both.");
  ROTE_CHECK(labels > 0, ArgumentError, who, ": got no rows; a score needs at least one.");
}

struct Counts {
  double hits = 0, predicted = 0, present = 0;  // rows on which both name the class, the prediction does, the label does
};

std::map<int64_t, Counts> counts_by_class(const Labels& predictions, const Labels& labels) {
  std::map<int64_t, Counts> counts;
  for (size_t i = 0; i < labels.size(); ++i) {
    counts[predictions[i]].predicted += 1;
    counts[labels[i]].present += 1;
    if (predictions[i] == labels[i]) counts[labels[i]].hits += 1;
  }
  return counts;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

Scores scores_of(const Counts& c) { return {ratio(c.hits, c.predicted), ratio(c.hits, c.present), ratio(2 * c.hits, c.predicted + c.present)}; }

}  // namespace

double accuracy(const Labels& predictions, const Labels& labels) {
  check_sizes("accuracy", predictions.size(), labels.size());
  double hits = 0;
  for (size_t i = 0; i < labels.size(); ++i) hits += predictions[i] == labels[i] ? 1 : 0;
  return hits / static_cast<double>(labels.size());
}

Scores precision_recall_f1(const Labels& predictions, const Labels& labels, ScoreOptions options) {
  check_sizes("precision_recall_f1", predictions.size(), labels.size());
  std::map<int64_t, Counts> counts = counts_by_class(predictions, labels);
  if (options.average == Average::binary) return scores_of(counts[options.positive]);

  Counts all;
  Scores sum;
  double weights = 0;
  for (const auto& [label, c] : counts) {
    all = {all.hits + c.hits, all.predicted + c.predicted, all.present + c.present};
    const Scores one = scores_of(c);
    const double weight = options.average == Average::weighted ? c.present : 1.0;
    sum = {sum.precision + weight * one.precision, sum.recall + weight * one.recall, sum.f1 + weight * one.f1};
    weights += weight;
  }
  if (options.average == Average::micro) return scores_of(all);
  return {sum.precision / weights, sum.recall / weights, sum.f1 / weights};
}

double matthews_correlation(const Labels& predictions, const Labels& labels) {
  check_sizes("matthews_correlation", predictions.size(), labels.size());
  const double rows = static_cast<double>(labels.size());
  double hits = 0, both = 0, predicted_squares = 0, present_squares = 0;
  for (const auto& [label, c] : counts_by_class(predictions, labels)) {
    hits += c.hits;
    both += c.predicted * c.present;
    predicted_squares += c.predicted * c.predicted;
    present_squares += c.present * c.present;
  }
  return ratio(hits * rows - both, std::sqrt((rows * rows - predicted_squares) * (rows * rows - present_squares)));
}

double pearson_correlation(const std::vector<double>& predictions, const std::vector<double>& labels) {
  check_sizes("pearson_correlation", predictions.size(), labels.size());
  const double rows = static_cast<double>(labels.size());
  double mean_x = 0, mean_y = 0;
  for (size_t i = 0; i < labels.size(); ++i) mean_x += predictions[i] / rows, mean_y += labels[i] / rows;
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const double x = predictions[i] - mean_x, y = labels[i] - mean_y;
    xx += x * x, yy += y * y, xy += x * y;
  }
  return xy / (std::sqrt(xx) * std::sqrt(yy));
}

namespace {

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end + 1) / 2;
  }
  return ranks;
}

}  // namespace

double spearman_correlation(const std::vector<double>& predictions, const std::vector<double>& labels) {
  check_sizes("spearman_correlation", predictions.size(), labels.size());
  for (const std::vector<double>* values : {&predictions, &labels})
    if (std::any_of(values->begin(), values->end(), [](double x) { return std::isnan(x); })) return NAN;  // it has no rank
  return pearson_correlation(ranks_of(predictions), ranks_of(labels));
}

double perplexity(double mean_loss) { return std::exp(mean_loss); }

}  // namespace rote
