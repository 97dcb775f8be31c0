// trainer/evaluate.cpp — the Trainer's evaluate() and predict(): evaluation.h with its collator, loss and callbacks.
#include <algorithm>
#include <optional>

#include "trainer/trainer.h"

namespace rote {

Prediction Trainer::prediction_step(nn::Model& model, const nn::Batch& batch, bool loss_only, const std::vector<std::string>& ignore_keys) {
  const AutocastGuard precision(args_.autocast_dtype());
  const std::vector<std::string> labels = args_.label_names.value_or(model.signature().label_names());
  const LossOutput result = compute_loss(model, batch);
  Prediction out = prediction_of(result, batch, labels.empty() ? "" : labels[0], ignore_keys);
  if (loss_only) out.outputs.clear();
  return out;
}

EvaluationOutput Trainer::evaluation_loop(const data::AnyDataset& dataset, const EvaluationCall& call) {
  ROTE_CHECK(!is_training_ || dataset.stream == nullptr || dataset.stream != options_.train_dataset.stream, ArgumentError,
             call.prefix, ": the dataset is the stream that is trained on, which would begin anew in the middle of a pass; give another stream of the same rows.");
  const Stopwatch preparation;
  use_machine();
  model_->eval();
  const std::optional<DType> full = is_training_ ? std::nullopt : args_.full_eval_dtype();
  std::optional<nn::CastGuard> cast;
  if (full) cast.emplace(*model_, *full);
  const double prepared = preparation.seconds();
  const auto includes = [&](const char* word) { return std::find(args_.include_for_metrics.begin(), args_.include_for_metrics.end(), word) != args_.include_for_metrics.end(); };
  EvaluationPass pass;
  pass.dataset = dataset;
  pass.batch_rows = args_.per_device_eval_batch_size;
  pass.loader = loader_options();
  pass.batch = [&](data::BatchRows& rows) { return dataset.stream != nullptr ? stream_batch(std::move(rows.examples)) : eval_batch(*dataset.rows, rows.rows); };
  pass.step = [&](const nn::Batch& batch) {
    const ArithmeticGuard arithmetic(options_.rote.arithmetic);
    return prediction_step(*model_, full ? with_inputs_of(batch, *full) : batch, call.loss_only, call.ignore_keys);
  };
  pass.preprocess = options_.preprocess_logits_for_metrics;
  if (!call.loss_only) pass.batch_metrics = options_.compute_batch_metrics;
  pass.keep_outputs = !call.loss_only && (call.keeps_outputs || !pass.batch_metrics);
  pass.concat_batches = args_.eval_do_concat_batches;
  pass.include_inputs = includes("inputs");
  pass.include_losses = includes("loss");
  pass.nan_inf_filter = args_.logging_nan_inf_filter;
  pass.warmup_batches = is_training_ ? 0 : options_.rote.throughput_warmup_steps;
  pass.on_batch = [&](std::optional<int64_t> batches) {
    CallbackContext c = context();
    c.eval_batches = batches;
    handler_.fire(Event::prediction_step, c, control_);
  };
  std::optional<Profile> profile;
  if (options_.rote.profiling_steps_eval > 0 && !is_training_) {
    profile.emplace(args_.output_dir + "/profile/" + call.prefix + ".json",
                    ProfileWindow{options_.rote.profiling_warmup_steps_eval, options_.rote.profiling_steps_eval, options_.rote.profiling_record_shapes});
    pass.profile = &*profile;
  }
  EvaluationOutput output = run_evaluation(*model_, pass, call.prefix);
  if (profile) profile->finish();
  if (!started_ && !is_training_) output.preparation = prepared;
  return output;
}

Metrics Trainer::evaluate(const data::AnyDataset& dataset, const std::string& prefix, const std::vector<std::string>& ignore_keys) {
  if (!dataset && !options_.eval_datasets.empty()) return evaluate(options_.eval_datasets, prefix, ignore_keys);
  const data::AnyDataset rows = dataset ? dataset : options_.eval_dataset;
  ROTE_CHECK(rows, ArgumentError, "evaluate: no dataset; give one here or as eval_dataset.");
  memory_.begin("eval");
  const bool loss_only = args_.prediction_loss_only || (!options_.compute_metrics && !options_.compute_batch_metrics);
  const EvaluationOutput output = evaluation_loop(rows, {.prefix = prefix, .loss_only = loss_only, .ignore_keys = ignore_keys});
  Metrics metrics = evaluation_metrics(output, prefix, options_.compute_metrics);
  log(metrics);
  metrics.set("epoch", state_.epoch);
  CallbackContext c = context();
  c.metrics = &metrics;
  handler_.fire(Event::evaluate, c, control_);
  memory_.end("eval", metrics);
  return metrics;
}

Metrics Trainer::evaluate(const std::string& name, const std::string& prefix, const std::vector<std::string>& ignore_keys) {
  std::string names;
  for (const auto& [known, dataset] : options_.eval_datasets) {
    if (known == name) return evaluate(NamedDatasets{{known, dataset}}, prefix, ignore_keys);
    names += (names.empty() ? "" : ", ") + known;
  }
  throw ArgumentError(str("evaluate: there is no dataset ", name, "; the options have ", names.empty() ? "none by name" : names, "."));
}

Metrics Trainer::evaluate(const NamedDatasets& datasets, const std::string& prefix, const std::vector<std::string>& ignore_keys) {
  Metrics all;
  for (const auto& [name, dataset] : datasets) {
    ROTE_CHECK(dataset, ArgumentError, "evaluate: there is no dataset behind the name ", name, "; give one.");
    for (const auto& [key, value] : evaluate(dataset, prefix + "_" + name, ignore_keys)) all.set(key, value);
  }
  return all;
}

PredictionOutput Trainer::predict(const data::AnyDataset& dataset, const std::string& prefix, const std::vector<std::string>& ignore_keys) {
  memory_.begin("test");
  EvaluationOutput output =
      evaluation_loop(dataset, {.prefix = prefix, .loss_only = args_.prediction_loss_only, .keeps_outputs = true, .ignore_keys = ignore_keys});
  PredictionOutput result;
  result.metrics = evaluation_metrics(output, prefix, options_.compute_metrics);
  result.num_samples = output.rows;
  result.predictions = std::move(output.prediction.predictions);
  result.label_ids = output.prediction.label_ids;
  result.batches = std::move(output.prediction.batches);
  CallbackContext c = context();
  c.metrics = &result.metrics;
  handler_.fire(Event::predict, c, control_);
  memory_.end("test", result.metrics);
  return result;
}

}  // namespace rote
