// trainer/metrics.h — scores of predicted against true labels. No model, no loop; sums in f64, in row order.
//
// All throw ArgumentError when there are no rows or the two sides differ in length.
#pragma once

#include <cstdint>
#include <vector>

namespace rote {

using Labels = std::vector<int64_t>;  // one class a row

// Share of rows on which both agree.
double accuracy(const Labels& predictions, const Labels& labels);

enum class Average {
  binary,  // of the class `positive` alone
  macro,   // mean over the classes that occur on either side
  micro,   // of all classes counted together; for one label a row all three scores are the accuracy
  weighted,  // mean over the classes by how often the labels have them
};

struct Scores {
  double precision = 0, recall = 0, f1 = 0;
};

struct ScoreOptions {
  Average average = Average::binary;
  int64_t positive = 1;
};

// precision = TP / (TP + FP), recall = TP / (TP + FN), f1 = 2 TP / (2 TP + FP + FN); 0 where the divisor is 0.
Scores precision_recall_f1(const Labels& predictions, const Labels& labels, ScoreOptions options = {});

// Correlation of two label vectors, for any number of classes; 0 where one side is constant.  Gorodkin 2004, doi:10.1016/j.compbiolchem.2004.09.006
double matthews_correlation(const Labels& predictions, const Labels& labels);

// Linear correlation of two series; NaN where one is constant.
double pearson_correlation(const std::vector<double>& predictions, const std::vector<double>& labels);
// The same of their ranks, equal values at the mean of theirs; NaN where one is constant.  Spearman 1904, doi:10.2307/1412159
double spearman_correlation(const std::vector<double>& predictions, const std::vector<double>& labels);

// exp of a mean loss in nats a token; infinite where that is beyond an f64.
double perplexity(double mean_loss);

}  // namespace rote
