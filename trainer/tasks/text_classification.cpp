#include "trainer/tasks/text_classification.h"

#include "autograd/ops.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/metrics.h"
#include "trainer/tasks/task.h"

namespace rote::tasks {

namespace {

Labels row_classes(const Tensor& x) {
  const Tensor classes = x.axes() > 1 ? argmax(x, -1) : contiguous(x);
  return Labels(classes.data<int64_t>(), classes.data<int64_t>() + classes.numel());
}

}  // namespace

Metrics classification_metrics(const EvalPrediction& prediction) {
  const Labels predicted = row_classes(prediction.predictions.at(0)), labels = row_classes(prediction.label_ids);
  const bool two = prediction.predictions[0].size(-1) == 2;
  const Scores scores = precision_recall_f1(predicted, labels, {.average = two ? Average::binary : Average::macro});
  return {{"accuracy", accuracy(predicted, labels)}, {"f1", scores.f1}};
}

Prepared text_classification(const Sources& sources) {
  const DataArguments& data = sources.data;
  const text::Tokenizer tokenizer = load_tokenizer(sources);
  const int64_t length = text_length(sources, tokenizer, 128);
  const data::TextColumns columns{.text = data.text_column_names, .label = data.label_column_name};
  Prepared prepared{.processing_class = tokenizer, .data_collator = data::PadCollator(tokenizer), .compute_metrics = classification_metrics};
  std::vector<std::string> labels = label_names(sources.config);
  if (sources.train.train_file) {
    const data::Table rows = data::read_table(*sources.train.train_file);
    labels = data::label_set(rows, data.label_column_name);
    ROTE_CHECK(labels.size() > 1, ArgumentError, *sources.train.train_file, ": every row has the label ", labels[0], "; a classifier needs two labels or more.");
    prepared.train_dataset = data::tokenized(rows, columns, labels, tokenizer, length);
  }
  if (data.validation_file)
    prepared.eval_dataset = data::tokenized(data::read_table(*data.validation_file), columns, labels, tokenizer, length);
  prepared.configure = [labels](nn::Config& config) {
    config.labels = labels;
    config.problem_type = "single_label_classification";
  };
  return prepared;
}

}  // namespace rote::tasks
