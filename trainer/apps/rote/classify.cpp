#include "trainer/apps/rote/classify.h"

#include <algorithm>

#include "autograd/ops.h"
#include "trainer/metrics.h"

namespace rote::app {

namespace {

Labels row_classes(const Tensor& x) {
  const Tensor classes = x.axes() > 1 ? argmax(x, -1) : contiguous(x);
  return Labels(classes.data<int64_t>(), classes.data<int64_t>() + classes.numel());
}

}  // namespace

Classifier load_classifier(const std::string& folder) {
  Classifier c{nullptr, {}, text::Tokenizer::from_folder(folder)};
  nn::Loaded<nn::Model> loaded = nn::load_model("text-classification", folder);
  ROTE_CHECK(loaded.report.missing.empty(), ArgumentError, folder, ": this model was not fine-tuned for text-classification, ", loaded.report.text(),
             "; train it first (rote train).");
  const std::optional<std::string>& problem = loaded.model->config()->problem_type;
  ROTE_CHECK(!problem || *problem == "single_label_classification", ArgumentError, folder, ": its problem_type is ", problem.value_or(""),
             "; this command takes models with one label a text (single_label_classification).");
  c.model = std::move(loaded.model);
  const nn::Config& config = *c.model->config();
  for (int64_t id = 0; id < config.num_labels(); ++id) c.labels.push_back(config.label(id));
  return c;
}

void check_inputs(const std::string& folder, const text::Tokenizer& tokenizer, const nn::InputLimits& limits, int64_t max_seq_length) {
  const int64_t own = limits.length.value_or(max_seq_length);
  const int64_t limit = std::min(own, tokenizer.model_max_length().value_or(own));
  ROTE_CHECK(max_seq_length <= limit, ArgumentError, "--max_seq_length: ", max_seq_length, " tokens, the model takes at most ", limit, "; give that or less.");
  const int64_t ids = tokenizer.vocab_size();
  ROTE_CHECK(ids <= limits.vocabulary.value_or(ids), ArgumentError, folder, ": the tokenizer has ", ids, " ids but the model a vocabulary of ",
             limits.vocabulary.value_or(0), "; they do not belong together.");
}

Metrics classification_metrics(const EvalPrediction& prediction) {
  const Labels predicted = row_classes(prediction.predictions.at(0)), labels = row_classes(prediction.label_ids);
  const bool two = prediction.predictions[0].size(-1) == 2;
  const Scores scores = precision_recall_f1(predicted, labels, {.average = two ? Average::binary : Average::macro});
  return {{"accuracy", accuracy(predicted, labels)}, {"f1", scores.f1}};
}

}  // namespace rote::app
