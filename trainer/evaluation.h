// trainer/evaluation.h — one pass over rows without gradients: outputs, loss, metrics. The Trainer's own calls: evaluate.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nn/model.h"
#include "trainer/data/collate.h"
#include "trainer/data/loader.h"
#include "trainer/profile.h"
#include "trainer/state.h"
#include "trainer/text_forms.h"

namespace rote {

// What compute_metrics sees: all outputs but the loss, in order, and the labels, rows in the order of the dataset. Outputs whose second axis
// differs between batches are padded on the right with -100.
struct EvalPrediction {
  std::vector<Tensor> predictions;
  Tensor label_ids;    // undefined where the rows have none
  Tensor inputs = {};  // the model's main input, where include_for_metrics has `inputs`
  Tensor losses = {};  // f32 [rows], to each row the loss of its batch, where it has `loss`
  // Where --eval_do_concat_batches is false: one a batch, and the fields above are empty.
  std::vector<EvalPrediction> batches = {};

  bool has_labels() const { return label_ids.defined() || (!batches.empty() && batches[0].label_ids.defined()); }
  // As a tuple: the predictions, the labels, then inputs and losses where they are there.
  size_t size() const;
  std::vector<Tensor> operator[](size_t i) const;  // ArgumentError beyond the last
};
using ComputeMetrics = std::function<Metrics(const EvalPrediction&)>;
// With --batch_eval_metrics: is told of each batch, and of the last one with compute_result; what it gives then are the metrics.
using ComputeBatchMetrics = std::function<Metrics(const EvalPrediction& batch, bool compute_result)>;
// What is kept of a batch's outputs but the loss, in place of all of them: classes in place of logits over a vocabulary. Labels are undefined where
// the batch has none.
using PreprocessLogits = std::function<std::vector<Tensor>(std::vector<Tensor> outputs, const Tensor& labels)>;

struct LossOutput {
  Tensor loss;  // undefined where the batch has no labels
  nn::ModelOutput outputs;
  // The loss is a mean of this batch's own, not a sum divided by batch.num_items: training averages it over the window's micro-batches.
  bool is_mean = false;
};

// What prediction_step gives: the loss, the outputs that are kept and the labels.
struct Prediction {
  Tensor loss;
  std::vector<Tensor> outputs;
  Tensor labels;
};
// All outputs but the loss and those named in `ignored`, in order, and the labels of the batch under `label_name`.
Prediction prediction_of(const LossOutput& result, const nn::Batch& batch, const std::string& label_name, const std::vector<std::string>& ignored = {});

struct EvaluationPass {
  data::AnyDataset dataset = {};
  int64_t batch_rows = 8;
  data::MakeBatch batch;
  data::LoaderOptions loader = {};
  std::function<Prediction(const nn::Batch&)> step;
  PreprocessLogits preprocess = {};
  ComputeBatchMetrics batch_metrics = {};
  bool keep_outputs = true;
  bool concat_batches = true;
  bool include_inputs = false, include_losses = false;
  bool nan_inf_filter = true;   // batches whose loss is not finite, or that have nothing to score, are left out of the mean
  int64_t warmup_batches = 0;   // that rates leave out
  Profile* profile = nullptr;
  std::function<void(std::optional<int64_t> batches)> on_batch = {};  // of the whole pass, none where the dataset is a stream
};

struct EvaluationOutput {
  EvalPrediction prediction;
  std::optional<double> loss;  // mean over rows of the loss of their batch
  std::optional<double> preparation = {};  // seconds before the first batch, where they are to be told
  Metrics batch_metrics;
  int64_t rows = 0, batches = 0;
  int64_t nonfinite_batches = 0;  // whose loss was Inf or NaN
  Speed speed;
};

// Floating inputs in this dtype, that of the model; labels stay.
nn::Batch with_inputs_of(nn::Batch batch, DType dtype);

// Runs the model in eval mode over all rows in order; it stays in eval mode. `who` begins error texts.
EvaluationOutput run_evaluation(nn::Model& model, const EvaluationPass& pass, const std::string& who);

// Metrics that have the prefix, <prefix>_loss, the others with the prefix put in front, then runtime and rates.
Metrics evaluation_metrics(const EvaluationOutput& output, const std::string& prefix, const ComputeMetrics& compute_metrics);

// The same for a model alone, with its own loss.
struct EvaluateOptions {
  int64_t batch_rows = 8;
  data::Collator data_collator = data::default_collate;
  PreprocessLogits preprocess_logits_for_metrics = {};
  std::function<Prediction(nn::Model& model, const nn::Batch& batch)> step = {};  // default: the model's loss and all its outputs
  std::optional<DType> autocast = {};  // of matrix products and attention
  std::optional<DType> cast = {};      // of the whole model, during the pass
};
EvaluationOutput run_evaluation(nn::Model& model, const data::AnyDataset& dataset, const EvaluateOptions& options);

}  // namespace rote
