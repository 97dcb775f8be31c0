// tests/trainer/metrics_test.cpp — scores against values worked out by hand, and printed and saved forms.
#include <doctest/doctest.h>

#include <cmath>

#include "kernels/check.h"
#include "tests/trainer/cases.h"
#include "trainer/metrics.h"
#include "trainer/text_forms.h"

using namespace rote;
using namespace rote::testing;

namespace {
const Labels kPredicted = {0, 1, 1, 2, 1, 0};
const Labels kTrue = {0, 1, 2, 2, 0, 0};
}  // namespace

TEST_CASE("accuracy: share of equal rows") {
  CHECK(accuracy(kPredicted, kTrue) == 4.0 / 6);
  CHECK_THROWS_WITH_AS(accuracy({1}, {1, 2}), "accuracy: got 1 predictions for 2 labels; each row needs both.", ArgumentError);
  CHECK_THROWS_AS(accuracy({}, {}), ArgumentError);
}

TEST_CASE("precision_recall_f1: one class, mean of classes, all together") {
  const Scores binary = precision_recall_f1(kPredicted, kTrue);  // class 1: 1 hit of 3 predicted, 1 present
  CHECK(binary.precision == 1.0 / 3);
  CHECK(binary.recall == 1.0);
  CHECK(binary.f1 == 0.5);
  const Scores macro = precision_recall_f1(kPredicted, kTrue, {.average = Average::macro});  // f1 of classes 0, 1, 2: 4/5, 1/2, 2/3
  CHECK(macro.precision == doctest::Approx((1.0 + 1.0 / 3 + 1.0) / 3).epsilon(1e-15));
  CHECK(macro.recall == doctest::Approx((2.0 / 3 + 1.0 + 0.5) / 3).epsilon(1e-15));
  CHECK(macro.f1 == doctest::Approx((0.8 + 0.5 + 2.0 / 3) / 3).epsilon(1e-15));
  const Scores micro = precision_recall_f1(kPredicted, kTrue, {.average = Average::micro});
  CHECK(micro.f1 == 4.0 / 6);
  CHECK(micro.precision == micro.recall);
  CHECK(precision_recall_f1({0, 0}, {0, 0}, {.positive = 5}).f1 == 0);
}

TEST_CASE("correlations: perfect, opposed, none") {
  CHECK(matthews_correlation({0, 1, 1, 0}, {0, 1, 1, 0}) == 1);
  CHECK(matthews_correlation({1, 0, 0, 1}, {0, 1, 1, 0}) == -1);
  CHECK(matthews_correlation({1, 1, 1}, {0, 1, 1}) == 0);
  // Two classes: (TP TN - FP FN) / sqrt((TP+FP)(TP+FN)(TN+FP)(TN+FN)) with 3, 2, 1, 2.
  CHECK(matthews_correlation({1, 1, 1, 1, 0, 0, 0, 0}, {1, 1, 1, 0, 0, 0, 1, 1}) ==
        doctest::Approx((3.0 * 2 - 1 * 2) / std::sqrt(4.0 * 5 * 3 * 4)).epsilon(1e-15));
  CHECK(pearson_correlation({1, 2, 3}, {2, 4, 6}) == doctest::Approx(1).epsilon(1e-15));
  CHECK(pearson_correlation({1, 2, 3}, {6, 4, 2}) == doctest::Approx(-1).epsilon(1e-15));
  CHECK(std::isnan(pearson_correlation({1, 1}, {1, 2})));
}

// scikit-learn 1.9.1 (precision_recall_fscore_support with zero_division=0, matthews_corrcoef) and scipy 1.17.1 (pearsonr, spearmanr).
TEST_CASE("metrics: the values of scikit-learn and scipy, with classes that one side lacks and values that tie") {
  const Labels truth = {0, 1, 2, 2, 0, 0, 3, 1, 2, 0}, said = {0, 1, 1, 2, 1, 0, 2, 1, 4, 3};
  struct Row {
    Average average;
    double precision, recall, f1;
  };
  for (const Row& row : {Row{Average::macro, 0.4, 0.36666666666666664, 0.3466666666666667}, Row{Average::micro, 0.5, 0.5, 0.5}, Row{Average::weighted, 0.65, 0.5, 0.52}}) {
    const Scores scores = precision_recall_f1(said, truth, {.average = row.average});
    CHECK(scores.precision == doctest::Approx(row.precision).epsilon(1e-14));
    CHECK(scores.recall == doctest::Approx(row.recall).epsilon(1e-14));
    CHECK(scores.f1 == doctest::Approx(row.f1).epsilon(1e-14));
  }
  CHECK(matthews_correlation(said, truth) == doctest::Approx(0.3751447597042917).epsilon(1e-14));
  const std::vector<double> x = {1.5, 2, 2, 3.25, -1, 7, 7, 7, 0}, y = {2, 1, 4, 4, 0.5, 9, 8, 8.5, -3};
  CHECK(pearson_correlation(x, y) == doctest::Approx(0.9355662589990494).epsilon(1e-14));
  CHECK(spearman_correlation(x, y) == doctest::Approx(0.9274859454612416).epsilon(1e-14));
}

TEST_CASE("spearman_correlation: of ranks alone; perplexity: exp of the loss") {
  CHECK(spearman_correlation({1, 2, 3}, {1, 10, 1000}) == doctest::Approx(1).epsilon(1e-15));
  CHECK(spearman_correlation({1, 2, 3}, {3, 2, 1}) == doctest::Approx(-1).epsilon(1e-15));
  CHECK(std::isnan(spearman_correlation({1, 1}, {1, 2})));
  CHECK(std::isnan(spearman_correlation({1, NAN, 3}, {1, 2, 3})));
  CHECK_THROWS_WITH_AS(spearman_correlation({1}, {}), "spearman_correlation: got 1 predictions for 0 labels; each row needs both.", ArgumentError);
  CHECK(perplexity(0) == 1);
  CHECK(perplexity(std::log(50.0)) == doctest::Approx(50).epsilon(1e-14));
  CHECK(std::isinf(perplexity(1000)));
}

TEST_CASE("speed_metrics: runtime and what is given, rounded") {
  CHECK(speed_metrics("train", {.seconds = 3.0, .samples = 100, .steps = 10}) ==
        Metrics{{"train_runtime", 3.0}, {"train_samples_per_second", 33.333}, {"train_steps_per_second", 3.333}});
  CHECK(speed_metrics("eval", {.seconds = 0.123456, .tokens = 1}) == Metrics{{"eval_runtime", 0.1235}, {"eval_tokens_per_second", 8.1}});
  CHECK(speed_metrics("eval", {.seconds = 0, .steps = 1}) == Metrics{{"eval_runtime", 0.0}});
}

TEST_CASE("metrics_text: sorted, aligned, times and sizes in their units") {
  CHECK(metrics_text("train", {{"train_loss", 0.123456},
                               {"epoch", 3.0},
                               {"train_runtime", 3723.4567},
                               {"total_flos", 12345678901234.0},
                               {"train_mem_cpu_alloc_delta", 1 << 21}}) ==
        "***** train metrics *****\n"
        "  epoch                     =        3.0\n"
        "  total_flos                =    11497GF\n"
        "  train_loss                =     0.1235\n"
        "  train_mem_cpu_alloc_delta =        2MB\n"
        "  train_runtime             = 1:02:03.45\n");
  CHECK(metrics_text("train", {{"train_runtime", -1.5}}) == "***** train metrics *****\n  train_runtime = -1 day, 23:59:59.50\n");
}

TEST_CASE("metrics_table: one row a name, one column a split, a dash where there is nothing") {
  CHECK(metrics_table({{"train", {{"train_runtime", 3723.4567}, {"train_loss", 0.123456}, {"epoch", 3.0}}}, {"eval", {{"eval_loss", 0.25}, {"eval_accuracy", 0.5}, {"epoch", 3.0}}}}) ==
        "                 train  eval\n"
        "  accuracy           -   0.5\n"
        "  epoch            3.0   3.0\n"
        "  loss          0.1235  0.25\n"
        "  runtime   1:02:03.45     -\n");
  CHECK(metrics_table({{"train", {{"train_loss", 1}}}}) == "        train\n  loss      1\n");
}

TEST_CASE("metrics_text, save_metrics: the shared cases, byte for byte") {
  const ValueMap file = shared_cases("text/text.json");
  if (file.empty()) return;  // skipped
  int64_t compared = 0;
  for (const Value& c : *file.find("cases")->as_list()) {
    CAPTURE(text_at(c, "id"));
    if (text_at(c, "kind") == "log_metrics") {
      CHECK(metrics_text(text_at(c, "split"), *at(c, "metrics").as_map()) == text_at(at(c, "expect"), "printed"));
      ++compared;
    }
    if (text_at(c, "kind") != "save_metrics") continue;
    const TempFolder folder;
    for (const Value& call : *at(c, "calls").as_list())
      save_metrics(folder.path(), text_at(call, "split"), *at(call, "metrics").as_map(), {.combined = at(call, "combined") == Value(true)});
    for (const auto& [name, text] : *at(at(c, "expect"), "files").as_map()) CHECK(read_text(folder.file(name)) == *text.as_text());
    ++compared;
  }
  CHECK(compared == 16);
}

TEST_CASE("save_metrics: an unwritable folder and a foreign all_results.json are refused") {
  CHECK_THROWS_WITH_AS(save_metrics("/nowhere", "eval", {}),
                       "write /nowhere/eval_results.json: No such file or directory.", IoError);
  const TempFolder folder;
  folder.file("all_results.json", "[]");
  CHECK_THROWS_AS(save_metrics(folder.path(), "eval", {}), ArgumentError);
}
