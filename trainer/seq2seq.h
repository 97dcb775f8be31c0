// trainer/seq2seq.h — Seq2SeqTrainer: a Trainer whose evaluation may write texts, for models with an encoder and a decoder.
#pragma once

#include "nn/generation_config.h"
#include "trainer/seq2seq_arguments.h"
#include "trainer/trainer.h"

namespace rote {

// i64 [B,T]: a row's start token, what was written and the first end token, then -100; T of the longest row. Inputs of the decoder and labels of the
// batch have no influence. Throws ArgumentError where the settings return several texts a row.
Tensor generated_rows(nn::Model& model, const nn::Batch& batch, const nn::GenerationConfig& settings);

// The settings with which evaluation writes, checked; which stand in place of which: below.
nn::GenerationConfig generation_settings(nn::Model& model, const Seq2SeqTrainingArguments& args);

// With predict_with_generate the one output of evaluate() and predict() is generated_rows. They and the labels are padded once, with -100 on the right,
// to the longest row of the call; the reference pads with the pad token to the length of its generation config, then with -100. Loss and labels are
// those of any Trainer, smoothed where that is asked for. Texts are written where something looks at them: evaluate() needs compute_metrics.
//
// Settings, later ones in place of earlier ones: those of the model (generation_config_of), or args.generation_config in their place, to which the
// model gives the ids that it lacks; args.generation_max_length and generation_num_beams; those of the call, as
//   trainer.predict(rows, ValueMap{{"max_length", 40}, {"num_beams", 4}});
// A length replaces both max_length and max_new_tokens of the settings before it. With none, 20 tokens follow the start token.
class Seq2SeqTrainer : public Trainer {
 public:
  // Throws also where predict_with_generate is given and the model has no decoder, or the settings cannot be.
  Seq2SeqTrainer(nn::Model& model, const Seq2SeqTrainingArguments& args, TrainerOptions options);

  using Trainer::evaluate;
  using Trainer::predict;
  Metrics evaluate(const ValueMap& generation, const data::AnyDataset& dataset = {}, const std::string& prefix = "eval");
  PredictionOutput predict(const data::AnyDataset& dataset, const ValueMap& generation, const std::string& prefix = "test");

  const nn::GenerationConfig& generation_config() const { return settings_; }

 protected:
  Prediction prediction_step(nn::Model& model, const nn::Batch& batch, bool loss_only, const std::vector<std::string>& ignore_keys) override;

 private:
  bool generates_;
  nn::GenerationConfig settings_;
};

}  // namespace rote
