#include "trainer/evaluation.h"

#include <chrono>
#include <cmath>

#include "autograd/mode.h"
#include "kernels/pool.h"
#include "tensor/generator.h"
#include "trainer/text_forms.h"

namespace rote {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Rows of all batches one after the other; where another axis differs, the shorter ones are padded with -100 at its end.
Tensor joined(const std::vector<Tensor>& parts) {
  if (parts.empty()) return {};
  Shape shape = parts[0].axes() == 0 ? Shape{1} : parts[0].shape();
  int64_t rows = 0;
  for (const Tensor& part : parts) {
    rows += part.axes() == 0 ? 1 : part.size(0);
    ROTE_CHECK(part.axes() == parts[0].axes(), ShapeError, "evaluate: an output is ", describe(part), " in one batch and ", describe(parts[0]),
               " in another; it must have as many axes in each.");
    for (int axis = 1; axis < part.axes(); ++axis) shape[axis] = std::max(shape[axis], part.shape()[axis]);
  }
  shape[0] = rows;
  const Tensor all = full(shape, -100, {.dtype = parts[0].dtype()});
  int64_t row = 0;
  for (const Tensor& part : parts) {
    const Shape place = part.axes() == 0 ? Shape{1} : part.shape();
    const Strides from = part.axes() == 0 ? Strides{1} : part.strides();
    copy_elements(alias(all, place, all.strides(), row * all.strides()[0]), alias(part, place, from, part.offset()));
    row += place[0];
  }
  return all;
}

// Whether the mean over a batch's targets is one: without any it would be 0/0.
bool is_scored(const nn::Signature& signature, const nn::Batch& batch) {
  return signature.scored == nn::Scored::none || nn::total(nn::count_targets(signature, batch)) > 0;
}

// All outputs but the loss, in order.
std::vector<Tensor> outputs_of(const nn::ModelOutput& outputs) {
  std::vector<Tensor> values;
  for (const nn::ModelOutput::Field& field : outputs.fields())
    if (field.name != "loss") values.insert(values.end(), field.values.begin(), field.values.end());
  return values;
}

}  // namespace

EvaluationOutput run_evaluation(nn::Model& model, const EvaluationPass& pass, const std::string& who) {
  const int64_t rows = pass.dataset->size();
  ROTE_CHECK(rows > 0, ArgumentError, who, ": the dataset has no rows; it needs at least one.");
  const NoGrad guard;
  model.eval();
  const double begun = now();
  EvaluationOutput out;
  out.batches = (rows + pass.batch_rows - 1) / pass.batch_rows;
  std::vector<std::vector<Tensor>> outputs;
  std::vector<Tensor> labels;
  double loss_sum = 0, loss_rows = 0;
  bool has_loss = false;
  while (out.rows < rows) {
    std::vector<int64_t> wanted;
    for (int64_t row = out.rows; row < std::min(out.rows + pass.batch_rows, rows); ++row) wanted.push_back(row);
    // What a collator draws (masks) is drawn by row, the same at each evaluation.
    const nn::Batch batch = [&] {
      const RunScopeGuard scope({.seed = current_seed(), .first_sample = static_cast<uint64_t>(out.rows), .samples = static_cast<int64_t>(wanted.size())});
      return pass.batch(wanted);
    }();
    LossOutput result;
    with_default_control([&] { result = pass.forward(batch); });
    const double count = static_cast<double>(wanted.size());
    if (result.loss.defined()) {
      const double loss = is_scored(model.signature(), batch) ? result.loss.item() : NAN;
      has_loss = true;
      if (is_scored(model.signature(), batch) && !std::isfinite(loss)) ++out.nonfinite_batches;
      if (!pass.nan_inf_filter || std::isfinite(loss)) {
        loss_sum += loss * count;
        loss_rows += count;
      }
    }
    if (pass.keep_outputs) {
      const Tensor own = batch.find(pass.label_name);
      std::vector<Tensor> values = outputs_of(result.outputs);
      if (pass.preprocess) values = pass.preprocess(std::move(values), own);
      outputs.resize(std::max(outputs.size(), values.size()));
      for (size_t i = 0; i < values.size(); ++i) outputs[i].push_back(values[i]);
      if (own.defined()) labels.push_back(own);
    }
    out.rows += static_cast<int64_t>(wanted.size());
    if (pass.on_batch) pass.on_batch(out.batches);
  }
  if (has_loss) out.loss = loss_rows > 0 ? loss_sum / loss_rows : NAN;
  for (const std::vector<Tensor>& parts : outputs) out.prediction.predictions.push_back(joined(parts));
  out.prediction.label_ids = joined(labels);
  out.seconds = now() - begun;
  return out;
}

EvaluationOutput run_evaluation(nn::Model& model, const data::Dataset& dataset, const EvaluateOptions& options) {
  EvaluationPass pass;
  pass.dataset = &dataset;
  pass.batch_rows = options.batch_rows;
  pass.batch = [&](const std::vector<int64_t>& rows) {
    std::vector<data::Example> examples;
    for (const int64_t row : rows) examples.push_back(dataset.at(row));
    return options.data_collator(examples);
  };
  pass.forward = [&](const nn::Batch& batch) {
    nn::ModelOutput outputs = model(batch);
    Tensor loss = outputs.loss;
    return LossOutput{std::move(loss), std::move(outputs)};
  };
  const std::vector<std::string> labels = model.signature().label_names();
  pass.label_name = labels.empty() ? "" : labels[0];
  pass.preprocess = options.preprocess_logits_for_metrics;
  return run_evaluation(model, pass, "evaluate");
}

Metrics evaluation_metrics(const EvaluationOutput& output, const std::string& prefix, const ComputeMetrics& compute_metrics) {
  Metrics metrics, computed;
  if (compute_metrics && output.prediction.label_ids.defined()) computed = compute_metrics(output.prediction);
  const auto has_prefix = [&](const std::string& name) { return name.rfind(prefix + "_", 0) == 0; };
  for (const auto& [name, value] : computed)
    if (has_prefix(name)) metrics.set(name, value);
  if (output.loss) metrics.set(prefix + "_loss", *output.loss);
  for (const auto& [name, value] : computed)
    if (!has_prefix(name)) metrics.set(prefix + "_" + name, value);
  if (output.nonfinite_batches > 0) metrics.set(prefix + "_nonfinite_steps", output.nonfinite_batches);
  const Speed speed{.seconds = output.seconds, .samples = static_cast<double>(output.rows), .steps = static_cast<double>(output.batches)};
  for (const auto& [name, value] : speed_metrics(prefix, speed)) metrics.set(name, value);
  return metrics;
}

}  // namespace rote
