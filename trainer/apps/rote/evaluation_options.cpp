#include "trainer/apps/rote/evaluation_options.h"

#include "trainer/seq2seq.h"

namespace rote::app {

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
