// trainer/evaluate.cpp — evaluate() and predict(): one pass over a dataset without gradients, rows in the order of the dataset.
#include <chrono>
#include <cmath>

#include "autograd/mode.h"
#include "autograd/ops.h"
#include "kernels/pool.h"
#include "trainer/text_forms.h"
#include "trainer/trainer.h"

namespace rote {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Rows of all batches one after the other; where the second axes differ, the shorter ones are padded with -100 on the right.
Tensor joined(const std::vector<Tensor>& parts) {
  if (parts.empty()) return {};
  Shape shape = parts[0].shape();
  if (shape.axes() == 0) shape = {1};
  int64_t rows = 0;
  for (const Tensor& part : parts) {
    rows += part.axes() == 0 ? 1 : part.size(0);
    if (part.axes() > 1 && part.size(1) > shape[1]) shape[1] = part.size(1);
  }
  shape[0] = rows;
  const Tensor all = full(shape, -100, {.dtype = parts[0].dtype()});
  int64_t row = 0;
  for (const Tensor& part : parts) {
    Shape place = part.axes() == 0 ? Shape{1} : part.shape();
    copy_elements(alias(all, place, all.strides(), row * all.strides()[0]), alias(part, place, part.axes() == 0 ? Strides{1} : part.strides(), part.offset()));
    row += place[0];
  }
  return all;
}

// A name with the prefix in front, unless it has it.
std::string prefixed(const std::string& prefix, const std::string& name) { return name.rfind(prefix + "_", 0) == 0 ? name : prefix + "_" + name; }

}  // namespace

struct Trainer::Evaluation {
  std::vector<std::vector<Tensor>> outputs;  // by output, then by batch
  std::vector<Tensor> labels;
  double loss = 0;                           // mean over rows of the loss of their batch
  bool has_loss = false;
  int64_t rows = 0;
  double seconds = 0;
};

Trainer::Evaluation Trainer::evaluation_loop(const data::Dataset& dataset, const std::string& prefix, bool keep_outputs) {
  ROTE_CHECK(dataset.size() > 0, ArgumentError, prefix, ": the dataset has no rows; it needs at least one.");
  const NoGrad guard;
  model_.eval();
  set_num_threads(static_cast<int>(options_.rote.num_threads));
  const double begun = now();
  const int64_t batch_rows = args_.per_device_eval_batch_size;
  const nn::Signature signature = model_.signature();
  const std::vector<std::string> label_names = args_.label_names.value_or(signature.label_names());
  Evaluation e;
  double loss_rows = 0;
  for (int64_t first = 0; first < dataset.size(); first += batch_rows) {
    std::vector<int64_t> rows;
    for (int64_t row = first; row < std::min(first + batch_rows, dataset.size()); ++row) rows.push_back(row);
    const nn::Batch batch = collate(dataset, rows);
    const LossOutput out = compute_loss(model_, batch);
    const int64_t count = static_cast<int64_t>(rows.size());
    if (out.loss.defined()) {
      const double loss = out.loss.item();
      // The filter of the reference: a batch that is not finite is left out as long as another is.
      if (!args_.logging_nan_inf_filter || std::isfinite(loss)) {
        e.loss += loss * static_cast<double>(count);
        loss_rows += static_cast<double>(count);
      }
      e.has_loss = true;
    }
    if (keep_outputs) {
      size_t index = 0;
      for (const nn::ModelOutput::Field& field : out.outputs.fields()) {
        if (field.name == "loss") continue;
        for (const Tensor& value : field.values) {
          if (e.outputs.size() <= index) e.outputs.resize(index + 1);
          e.outputs[index++].push_back(value);
        }
      }
      if (!label_names.empty())
        if (const Tensor labels = batch.find(label_names[0]); labels.defined()) e.labels.push_back(labels);
    }
    e.rows += count;
    CallbackContext c = context();
    c.eval_batches = (dataset.size() + batch_rows - 1) / batch_rows;
    handler_.fire(Event::prediction_step, c, control_);
  }
  e.loss = loss_rows > 0 ? e.loss / loss_rows : NAN;
  e.seconds = now() - begun;
  return e;
}

Metrics Trainer::evaluate(const data::Dataset* dataset, const std::string& prefix) {
  const data::Dataset* rows = dataset != nullptr ? dataset : options_.eval_dataset;
  ROTE_CHECK(rows != nullptr, ArgumentError, "evaluate: no dataset; give one here or as eval_dataset.");
  const bool wants_metrics = static_cast<bool>(options_.compute_metrics);
  const Evaluation e = evaluation_loop(*rows, prefix, wants_metrics);
  Metrics metrics;
  if (e.has_loss) metrics.set(prefix + "_loss", e.loss);
  if (wants_metrics && !e.labels.empty()) {
    EvalPrediction prediction;
    for (const auto& parts : e.outputs) prediction.predictions.push_back(joined(parts));
    prediction.label_ids = joined(e.labels);
    for (const auto& [name, value] : options_.compute_metrics(prediction)) metrics.set(prefixed(prefix, name), value);
  }
  const double batches = std::ceil(static_cast<double>(e.rows) / static_cast<double>(args_.per_device_eval_batch_size));
  for (const auto& [name, value] : speed_metrics(prefix, {.seconds = e.seconds, .samples = static_cast<double>(e.rows), .steps = batches}))
    metrics.set(name, value);
  log(metrics);
  if (trained_) metrics.set("epoch", state_.epoch);
  CallbackContext c = context();
  c.metrics = &metrics;
  handler_.fire(Event::evaluate, c, control_);
  return metrics;
}

PredictionOutput Trainer::predict(const data::Dataset& dataset, const std::string& prefix) {
  const Evaluation e = evaluation_loop(dataset, prefix, true);
  PredictionOutput out;
  for (const auto& parts : e.outputs) out.predictions.push_back(joined(parts));
  out.label_ids = joined(e.labels);
  out.num_samples = e.rows;
  if (e.has_loss) out.metrics.set(prefix + "_loss", e.loss);
  if (options_.compute_metrics && out.label_ids.defined())
    for (const auto& [name, value] : options_.compute_metrics({out.predictions, out.label_ids})) out.metrics.set(prefixed(prefix, name), value);
  const double batches = std::ceil(static_cast<double>(e.rows) / static_cast<double>(args_.per_device_eval_batch_size));
  for (const auto& [name, value] : speed_metrics(prefix, {.seconds = e.seconds, .samples = static_cast<double>(e.rows), .steps = batches}))
    out.metrics.set(name, value);
  CallbackContext c = context();
  c.metrics = &out.metrics;
  handler_.fire(Event::predict, c, control_);
  return out;
}

}  // namespace rote
