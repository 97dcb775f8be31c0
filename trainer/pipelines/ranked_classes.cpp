#include "trainer/pipelines/ranked_classes.h"


#include "autograd/ops.h"
#include "tensor/sort_stably.h"

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

}  // namespace

Records ranked_classes(const Tensor& logits, const nn::Config& config, const PipelineOptions& options, int64_t otherwise) {
  const Tensor scores = scores_of(logits, options.function_to_apply == ScoreFunction::by_model ? function_of(config) : options.function_to_apply);
  Records records;
  for (int64_t id = 0; id < scores.numel(); ++id) records.push_back({.label = config.label(id), .score = static_cast<double>(scores.data<float>()[id])});
  sort_stably(records, [](const Record& a, const Record& b) { return a.score > b.score; });
  const auto kept = static_cast<size_t>(options.top_k.value_or(otherwise));
  if (kept > 0 && kept < records.size()) records.resize(kept);
  return records;
}

}  // namespace rote::pipelines
