// trainer/evaluate.cpp — the Trainer's evaluate() and predict(): evaluation.h with its collator, loss and callbacks.
#include "kernels/pool.h"
#include "trainer/trainer.h"

namespace rote {

EvaluationOutput Trainer::evaluation_loop(const data::Dataset& dataset, const std::string& prefix, bool keep_outputs) {
  set_num_threads(static_cast<int>(options_.rote.num_threads));
  const std::vector<std::string> labels = args_.label_names.value_or(model_.signature().label_names());
  EvaluationPass pass;
  pass.dataset = &dataset;
  pass.batch_rows = args_.per_device_eval_batch_size;
  pass.batch = [&](const std::vector<int64_t>& rows) { return collate(dataset, rows); };
  pass.forward = [&](const nn::Batch& batch) { return compute_loss(model_, batch); };
  pass.label_name = labels.empty() ? "" : labels[0];
  pass.preprocess = options_.preprocess_logits_for_metrics;
  pass.keep_outputs = keep_outputs;
  pass.nan_inf_filter = args_.logging_nan_inf_filter;
  pass.on_batch = [&](int64_t batches) {
    CallbackContext c = context();
    c.eval_batches = batches;
    handler_.fire(Event::prediction_step, c, control_);
  };
  return run_evaluation(model_, pass, prefix);
}

Metrics Trainer::evaluate(const data::Dataset* dataset, const std::string& prefix) {
  const data::Dataset* rows = dataset != nullptr ? dataset : options_.eval_dataset;
  ROTE_CHECK(rows != nullptr, ArgumentError, "evaluate: no dataset; give one here or as eval_dataset.");
  const bool keep_outputs = static_cast<bool>(options_.compute_metrics);
  Metrics metrics = evaluation_metrics(evaluation_loop(*rows, prefix, keep_outputs), prefix, options_.compute_metrics);
  log(metrics);
  metrics.set("epoch", state_.epoch);
  CallbackContext c = context();
  c.metrics = &metrics;
  handler_.fire(Event::evaluate, c, control_);
  return metrics;
}

PredictionOutput Trainer::predict(const data::Dataset& dataset, const std::string& prefix) {
  const EvaluationOutput output = evaluation_loop(dataset, prefix, true);
  PredictionOutput result{output.prediction.predictions, output.prediction.label_ids, evaluation_metrics(output, prefix, options_.compute_metrics), output.rows};
  CallbackContext c = context();
  c.metrics = &result.metrics;
  handler_.fire(Event::predict, c, control_);
  return result;
}

}  // namespace rote
