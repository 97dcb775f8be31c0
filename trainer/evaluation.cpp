#include "trainer/evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "autograd/mode.h"
#include "kernels/pool.h"
#include "tensor/generator.h"
#include "trainer/python_text.h"
#include "trainer/speed.h"

namespace rote {

namespace {

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

std::vector<Tensor> given(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  for (const Tensor& x : tensors)
    if (x.defined()) out.push_back(x);
  return out;
}

// The batches' predictions as one, or as a list of them.
EvalPrediction united(std::vector<EvalPrediction> batches, bool concat) {
  EvalPrediction all;
  if (!concat) {
    all.batches = std::move(batches);
    return all;
  }
  std::vector<std::vector<Tensor>> outputs;
  std::vector<Tensor> labels, inputs, losses;
  for (EvalPrediction& one : batches) {
    outputs.resize(std::max(outputs.size(), one.predictions.size()));
    for (size_t i = 0; i < one.predictions.size(); ++i) outputs[i].push_back(one.predictions[i]);
    labels.push_back(one.label_ids);
    inputs.push_back(one.inputs);
    losses.push_back(one.losses);
  }
  batches.clear();
  for (const std::vector<Tensor>& parts : outputs) all.predictions.push_back(joined(parts));
  all.label_ids = joined(given(labels));
  all.inputs = joined(given(inputs));
  all.losses = joined(given(losses));
  return all;
}

// The batches of the pass in order. What a collator draws (masks) is drawn by row, the same at each evaluation.
data::Loader loader_of(const EvaluationPass& pass, const std::string& who) {
  data::NextRows next_rows;
  if (pass.dataset.stream != nullptr) {
    pass.dataset.stream->restart(0);
    next_rows = data::in_order(*pass.dataset.stream, {.batch = pass.batch_rows});
  } else {
    const int64_t rows = pass.dataset.rows->size();
    ROTE_CHECK(rows > 0, ArgumentError, who, ": the dataset has no rows; it needs at least one.");
    next_rows = data::in_order(rows, pass.batch_rows);
  }
  const auto make = [&pass, seed = current_seed()](data::BatchRows& rows) {
    const RunScopeGuard scope({.seed = seed, .first_sample = static_cast<uint64_t>(rows.first), .samples = static_cast<int64_t>(rows.rows.size())});
    return pass.batch(rows);
  };
  return data::Loader(std::move(next_rows), make, pass.loader);
}

}  // namespace

size_t EvalPrediction::size() const { return 2 + (inputs.defined() ? 1 : 0) + (losses.defined() ? 1 : 0); }

std::vector<Tensor> EvalPrediction::operator[](size_t i) const {
  ROTE_CHECK(i < size(), ArgumentError, "EvalPrediction: there is no item ", i, " of ", size(), "; they are the predictions, the labels",
             inputs.defined() ? ", the inputs" : "", losses.defined() ? ", the losses" : "", ".");
  if (i == 0) return predictions;
  if (i == 1) return {label_ids};
  return {i == 2 && inputs.defined() ? inputs : losses};
}

Prediction prediction_of(const LossOutput& result, const nn::Batch& batch, const std::string& label_name, const std::vector<std::string>& ignored) {
  Prediction out{result.loss, {}, batch.find(label_name)};
  for (const nn::ModelOutput::Field& field : result.outputs.fields())
    if (field.name != "loss" && std::find(ignored.begin(), ignored.end(), field.name) == ignored.end())
      for (const Tensor& x : field.values) out.outputs.push_back(x.defined() && is_floating(x.dtype()) && size_of(x.dtype()) == 2 ? converted(x, DType::f32) : x);
  return out;
}

EvaluationOutput run_evaluation(nn::Model& model, const EvaluationPass& pass, const std::string& who) {
  const NoGrad guard;
  model.eval();
  data::Loader loader = loader_of(pass, who);
  std::optional<int64_t> batches;
  if (pass.dataset.rows != nullptr) batches = (pass.dataset.rows->size() + pass.batch_rows - 1) / pass.batch_rows;
  Stopwatch watch;
  EvaluationOutput out;
  std::vector<EvalPrediction> kept;
  double loss_sum = 0, loss_rows = 0;
  bool has_loss = false;
  while (loader.has_next()) {
    if (pass.warmup_batches > 0 && out.batches == pass.warmup_batches) watch.mark();
    if (pass.profile != nullptr) pass.profile->begin_step();
    const data::Loader::Loaded loaded = loader.next();
    const nn::Batch& batch = loaded.batch;
    Prediction result;
    with_default_control([&] { result = pass.step(batch); });
    const int64_t count = static_cast<int64_t>(loaded.rows.size());
    double loss = NAN;
    if (result.loss.defined()) {
      const bool is_scoring = is_scored(model.signature(), batch);
      if (is_scoring) loss = result.loss.item();
      has_loss = true;
      if (is_scoring && !std::isfinite(loss)) ++out.nonfinite_batches;
      if (!pass.nan_inf_filter || std::isfinite(loss)) {
        loss_sum += loss * static_cast<double>(count);
        loss_rows += static_cast<double>(count);
      }
    }
    out.rows += count;
    ++out.batches;
    if (pass.keep_outputs || pass.batch_metrics) {
      EvalPrediction one{std::move(result.outputs), result.labels};
      if (pass.preprocess) one.predictions = pass.preprocess(std::move(one.predictions), one.label_ids);
      if (pass.include_inputs) one.inputs = batch.find(model.signature().main);
      if (pass.include_losses && result.loss.defined()) one.losses = full({count}, loss);
      if (pass.batch_metrics && one.label_ids.defined()) out.batch_metrics = pass.batch_metrics(one, !loader.has_next());
      if (pass.keep_outputs) kept.push_back(std::move(one));
    }
    if (pass.profile != nullptr) pass.profile->end_step();
    if (pass.on_batch) pass.on_batch(batches);
  }
  ROTE_CHECK(out.rows > 0, ArgumentError, who, ": the dataset has no rows; it needs at least one.");
  const int64_t warmup = watch.is_marked() ? pass.warmup_batches : 0;
  if (warmup != pass.warmup_batches)
    std::fprintf(stderr, "throughput_warmup_steps: %s has %lld batches, no more than the warm-up of %lld, so its rates are of all of them\n", who.c_str(),
                 static_cast<long long>(out.batches), static_cast<long long>(pass.warmup_batches));
  if (has_loss) out.loss = loss_rows > 0 ? loss_sum / loss_rows : NAN;
  out.prediction = united(std::move(kept), pass.concat_batches);
  out.speed = {.seconds = watch.seconds(),
               .samples = static_cast<double>(out.rows - warmup * pass.batch_rows),
               .steps = static_cast<double>(out.batches - warmup),
               .left_out = watch.left_out()};
  return out;
}

nn::Batch with_inputs_of(nn::Batch batch, DType dtype) {
  for (auto& [name, value] : batch.entries)
    if (name.find("label") == std::string::npos && is_floating(value.dtype())) value = converted(value, dtype);
  return batch;
}

EvaluationOutput run_evaluation(nn::Model& model, const data::AnyDataset& dataset, const EvaluateOptions& options) {
  const AutocastGuard precision(options.autocast);
  std::optional<nn::CastGuard> cast;
  if (options.cast) cast.emplace(model, *options.cast);
  EvaluationPass pass;
  pass.dataset = dataset;
  pass.batch_rows = options.batch_rows;
  pass.batch = [&](data::BatchRows& rows) {
    std::vector<data::Example> examples = std::move(rows.examples);
    if (dataset.rows != nullptr)
      for (const int64_t row : rows.rows) examples.push_back(dataset.rows->at(row));
    return options.data_collator(examples);
  };
  const std::vector<std::string> labels = model.signature().label_names();
  pass.step = [&](const nn::Batch& given) {
    const nn::Batch batch = options.cast ? with_inputs_of(given, *options.cast) : given;
    if (options.step) return options.step(model, batch);
    nn::ModelOutput outputs = model(batch);
    Tensor loss = outputs.loss;
    return prediction_of({std::move(loss), std::move(outputs)}, batch, labels.empty() ? "" : labels[0]);
  };
  pass.preprocess = options.preprocess_logits_for_metrics;
  return run_evaluation(model, pass, "evaluate");
}

Metrics evaluation_metrics(const EvaluationOutput& output, const std::string& prefix, const ComputeMetrics& compute_metrics) {
  Metrics metrics, computed = output.batch_metrics;
  if (compute_metrics && output.prediction.has_labels()) computed = compute_metrics(output.prediction);
  const auto has_prefix = [&](const std::string& name) { return name.rfind(prefix + "_", 0) == 0; };
  for (const auto& [name, value] : computed)
    if (has_prefix(name)) metrics.set(name, value);
  if (output.loss) metrics.set(prefix + "_loss", *output.loss);
  if (output.preparation) metrics.set(prefix + "_model_preparation_time", rounded(*output.preparation, 4));
  for (const auto& [name, value] : computed)
    if (!has_prefix(name)) metrics.set(prefix + "_" + name, value);
  if (output.nonfinite_batches > 0) metrics.set(prefix + "_nonfinite_steps", output.nonfinite_batches);
  for (const auto& [name, value] : speed_metrics(prefix, output.speed)) metrics.set(name, value);
  return metrics;
}

}  // namespace rote
