// trainer/evaluation.h — one pass over rows without gradients: outputs, loss, metrics. The Trainer's own calls: evaluate.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nn/model.h"
#include "trainer/data/collate.h"
#include "trainer/state.h"

namespace rote {

// What compute_metrics sees: all outputs but the loss, in order, and the labels, rows in the order of the dataset. Outputs whose second axis
// differs between batches are padded on the right with -100.
struct EvalPrediction {
  std::vector<Tensor> predictions;
  Tensor label_ids;
};
using ComputeMetrics = std::function<Metrics(const EvalPrediction&)>;
// What is kept of a batch's outputs but the loss, in place of all of them: classes in place of logits over a vocabulary. Labels are undefined where
// the batch has none.
using PreprocessLogits = std::function<std::vector<Tensor>(std::vector<Tensor> outputs, const Tensor& labels)>;

struct LossOutput {
  Tensor loss;  // undefined where the batch has no labels
  nn::ModelOutput outputs;
};

struct EvaluationPass {
  const data::Dataset* dataset = nullptr;
  int64_t batch_rows = 8;
  std::function<nn::Batch(const std::vector<int64_t>& rows)> batch;
  std::function<LossOutput(const nn::Batch&)> forward;
  std::string label_name;       // the key of label_ids
  PreprocessLogits preprocess = {};
  bool keep_outputs = true;
  bool nan_inf_filter = true;   // batches whose loss is not finite, or that have nothing to score, are left out of the mean
  std::function<void(int64_t batches)> on_batch = {};
};

struct EvaluationOutput {
  EvalPrediction prediction;
  std::optional<double> loss;  // mean over rows of the loss of their batch
  int64_t rows = 0, batches = 0;
  int64_t nonfinite_batches = 0;  // whose loss was Inf or NaN
  double seconds = 0;
};

// Runs the model in eval mode over all rows in order; it stays in eval mode. `who` begins error texts.
EvaluationOutput run_evaluation(nn::Model& model, const EvaluationPass& pass, const std::string& who);

// Metrics that have the prefix, <prefix>_loss, the others with the prefix put in front, then runtime and rates.
Metrics evaluation_metrics(const EvaluationOutput& output, const std::string& prefix, const ComputeMetrics& compute_metrics);

// The same for a model alone, with its own loss.
struct EvaluateOptions {
  int64_t batch_rows = 8;
  data::Collator data_collator = data::default_collate;
  PreprocessLogits preprocess_logits_for_metrics = {};
};
EvaluationOutput run_evaluation(nn::Model& model, const data::Dataset& dataset, const EvaluateOptions& options);

}  // namespace rote
