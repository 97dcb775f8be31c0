// trainer/pipelines/text_classification.cpp — the class of a text, with its score.
#include <algorithm>

#include "autograd/ops.h"
#include "trainer/pipelines/tasks.h"
#include "trainer/pipelines/text_model.h"

namespace rote::pipelines {

namespace {

// What the reference applies where it is not told.
ScoreFunction function_of(const nn::Config& config) {
  const std::string problem = config.problem_type.value_or("");
  if (problem == "regression") return ScoreFunction::none;
  return problem == "multi_label_classification" || config.num_labels() == 1 ? ScoreFunction::sigmoid : ScoreFunction::softmax;
}

Tensor scores_of(const Tensor& logits, ScoreFunction function) {
  if (function == ScoreFunction::none) return logits;
  return function == ScoreFunction::sigmoid ? sigmoid(logits) : softmax(logits);
}

// Every class, the highest score first and the lowest class among equals.
Records ranked(const Tensor& scores, const nn::Config& config) {
  Records records;
  for (int64_t id = 0; id < scores.numel(); ++id) records.push_back({.label = config.label(id), .score = static_cast<double>(scores.data<float>()[id])});
  std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.score > b.score; });
  return records;
}

}  // namespace

PipelineRun text_classification(const PipelineOptions& options) {
  return [options, m = load_text_model("text-classification", options)](const std::vector<std::string>& texts) {
    const ScoreFunction function = options.function_to_apply == ScoreFunction::by_model ? function_of(m->config()) : options.function_to_apply;
    const size_t kept = static_cast<size_t>(options.top_k.value_or(1));
    std::vector<Records> all(texts.size());
    for_each_output(*m, rows_of(*m, texts, {.truncation = options.truncation}), [&](size_t row, const Tensor& logits) {
      all[row] = ranked(scores_of(logits, function), m->config());
      if (kept > 0 && kept < all[row].size()) all[row].resize(kept);
    });
    return all;
  };
}

Value text_classification_value(const Records& records, const PipelineOptions&) {
  ValueList list;
  for (const Record& r : records) list.push_back(ValueMap{{"label", r.label}, {"score", r.score}});
  return list;
}

}  // namespace rote::pipelines
