#include "trainer/apps/rote/evaluation_options.h"

#include "trainer/seq2seq.h"

namespace rote::app {

const ArgumentTable<PrecisionArguments>& PrecisionArguments::table() {
  using A = PrecisionArguments;
  static const ArgumentTable<A> rows = {
      "precision",
      {
          field(&A::bf16, {.name = "bf16", .help = "matrix products and attention in bfloat16, as a run with --bf16 trains"}),
          field(&A::fp16, {.name = "fp16", .help = "the same in float16"}),
          field(&A::bf16_full_eval, {.name = "bf16_full_eval", .help = "the whole model in bfloat16"}),
          field(&A::fp16_full_eval, {.name = "fp16_full_eval", .help = "the same in float16"}),
      },
  };
  return rows;
}

std::vector<std::string> PrecisionArguments::faults() const {
  std::vector<std::string> found;
  if (bf16 && fp16) found.push_back("--fp16: is given with --bf16; give one of them.");
  if (bf16_full_eval && fp16_full_eval) found.push_back("--fp16_full_eval: is given with --bf16_full_eval; give one of them.");
  return found;
}

void PrecisionArguments::set(EvaluateOptions& options) const {
  if (bf16 || fp16) options.autocast = bf16 ? DType::bf16 : DType::f16;
  if (bf16_full_eval || fp16_full_eval) options.cast = bf16_full_eval ? DType::bf16 : DType::f16;
}

EvaluateOptions evaluation_options(const tasks::Prepared& prepared, nn::Model& model, const DataArguments& data, int64_t batch_rows, bool generates) {
  EvaluateOptions options{.batch_rows = batch_rows, .data_collator = prepared.data_collator, .preprocess_logits_for_metrics = prepared.preprocess_logits_for_metrics};
  if (!generates) return options;
  Seq2SeqTrainingArguments how;
  how.generation_max_length = data.max_target_length;
  how.generation_num_beams = data.num_beams;
  options.preprocess_logits_for_metrics = {};
  options.step = [settings = generation_settings(model, how)](nn::Model& m, const nn::Batch& batch) {
    Prediction out{{}, {}, batch.find("labels")};
    if (out.labels.defined()) out.loss = m(batch).loss;
    out.outputs = {generated_rows(m, batch, settings)};
    return out;
  };
  return options;
}

}  // namespace rote::app
