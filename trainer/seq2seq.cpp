#include "trainer/seq2seq.h"

#include <algorithm>

#include "nn/generate.h"
#include "trainer/json_text.h"

namespace rote {

namespace {

nn::GenerationConfig settings_of(nn::Model& model, const Seq2SeqTrainingArguments& args) {
  const nn::GenerationConfig own = nn::generation_config_of(*model.config());
  nn::GenerationConfig settings = own;
  if (!args.generation_config.is_null()) {
    const std::string* place = args.generation_config.as_text();
    const std::string text = place == nullptr ? json_text(args.generation_config) : place->starts_with("{") ? *place : "";  // of a command line: JSON, or where it lies
    settings = text.empty() ? nn::read_generation_config(*place) : nn::overlaid({}, text, "generation_config");
    if (!settings.pad_token_id) settings.pad_token_id = own.pad_token_id;
    if (settings.eos_token_id.empty()) settings.eos_token_id = own.eos_token_id;
    if (!settings.decoder_start_token_id) settings.decoder_start_token_id = own.decoder_start_token_id;
  }
  ValueMap given;
  if (args.generation_max_length) given.set("max_length", *args.generation_max_length);
  if (args.generation_num_beams) given.set("num_beams", *args.generation_num_beams);
  return nn::overlaid(settings, json_text(given), "arguments");
}

nn::GenerationConfig checked(const nn::GenerationConfig& settings) {
  settings.check();
  ROTE_CHECK(settings.num_return_sequences == 1, ArgumentError, "predict_with_generate: num_return_sequences is ", settings.num_return_sequences,
             "; a row has one prediction, leave it at 1.");
  return settings;
}

// For the time of one call.
class SettingsGuard {
 public:
  SettingsGuard(nn::GenerationConfig& settings, nn::GenerationConfig others) : settings_(settings), before_(settings) { settings_ = std::move(others); }
  ~SettingsGuard() { settings_ = std::move(before_); }
  SettingsGuard(const SettingsGuard&) = delete;
  SettingsGuard& operator=(const SettingsGuard&) = delete;

 private:
  nn::GenerationConfig& settings_;
  nn::GenerationConfig before_;
};

// The model, once it is seen that it can write: before the Trainer makes a folder.
nn::Model& able_to_write(nn::Model& model, const Seq2SeqTrainingArguments& args) {
  if (args.predict_with_generate) generation_settings(model, args);
  return model;
}

}  // namespace

nn::GenerationConfig generation_settings(nn::Model& model, const Seq2SeqTrainingArguments& args) {
  ROTE_CHECK(model.config() != nullptr && model.config()->decoder_start(), ArgumentError, "predict_with_generate: ", model.class_name(),
             " has no decoder that could write; it needs a model such as T5ForConditionalGeneration.");
  const nn::GenerationConfig settings = checked(settings_of(model, args));
  check_generation(model, settings, 1);
  return settings;
}

Tensor generated_rows(nn::Model& model, const nn::Batch& batch, const nn::GenerationConfig& settings) {
  nn::Batch prompt;
  for (const char* name : {"input_ids", "attention_mask"})
    if (const Tensor input = batch.find(name); input.defined()) prompt.set(name, input);
  const Tensor written = contiguous(nn::generate(model, prompt, checked(settings)).sequences);
  const std::vector<int64_t>& ends = settings.eos_token_id;
  std::vector<int64_t> lengths;
  for (int64_t row = 0; row < written.size(0); ++row) {
    const int64_t* first = written.data<int64_t>() + row * written.size(1);
    const int64_t* last = first + written.size(1);
    const int64_t* end = std::find_first_of(first + 1, last, ends.begin(), ends.end());  // the start token may be an end token too
    lengths.push_back(std::min(end + 1, last) - first);
  }
  const int64_t T = *std::max_element(lengths.begin(), lengths.end());
  const Tensor rows = full({written.size(0), T}, -100, {.dtype = DType::i64});
  for (int64_t row = 0; row < written.size(0); ++row)
    std::copy_n(written.data<int64_t>() + row * written.size(1), lengths[static_cast<size_t>(row)], rows.data<int64_t>() + row * T);
  return rows;
}

Seq2SeqTrainer::Seq2SeqTrainer(nn::Model& model, const Seq2SeqTrainingArguments& args, TrainerOptions options)
    : Trainer(able_to_write(model, args), args, std::move(options)),
      generates_(args.predict_with_generate),
      settings_(generates_ ? generation_settings(model, args) : nn::GenerationConfig()) {}

Metrics Seq2SeqTrainer::evaluate(const ValueMap& generation, const data::AnyDataset& dataset, const std::string& prefix) {
  const SettingsGuard guard(settings_, nn::overlaid(settings_, json_text(generation), "evaluate"));
  return Trainer::evaluate(dataset, prefix);
}

PredictionOutput Seq2SeqTrainer::predict(const data::AnyDataset& dataset, const ValueMap& generation, const std::string& prefix) {
  const SettingsGuard guard(settings_, nn::overlaid(settings_, json_text(generation), "predict"));
  return Trainer::predict(dataset, prefix);
}

Prediction Seq2SeqTrainer::prediction_step(nn::Model& model, const nn::Batch& batch, bool loss_only, const std::vector<std::string>& ignore_keys) {
  if (!generates_ || loss_only) return Trainer::prediction_step(model, batch, loss_only, ignore_keys);
  const AutocastGuard precision(args().autocast_dtype());
  Prediction out;
  out.outputs = {generated_rows(model, batch, settings_)};
  const std::vector<std::string> labels = args().label_names.value_or(model.signature().label_names());
  out.labels = batch.find(labels.empty() ? "labels" : labels[0]);
  if (out.labels.defined()) out.loss = compute_loss(model, batch).loss;
  return out;
}

}  // namespace rote
