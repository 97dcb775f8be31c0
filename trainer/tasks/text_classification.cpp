#include "trainer/tasks/text_classification.h"

#include <algorithm>

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

struct Problem {
  data::LabelKind kind;
  const char* type;  // as config.json has it
  Metrics (*metrics)(const EvalPrediction& prediction);
  std::vector<std::string> names;  // of the metrics
};

const Problem kProblems[] = {
    {data::LabelKind::one, "single_label_classification", classification_metrics, {"accuracy", "f1"}},
    {data::LabelKind::several, "multi_label_classification", multi_label_metrics, {"f1"}},
    {data::LabelKind::number, "regression", regression_metrics, {"mse"}},
};

const Problem& problem_of(data::LabelKind kind) {
  return *std::find_if(std::begin(kProblems), std::end(kProblems), [kind](const Problem& problem) { return problem.kind == kind; });
}

// What a saved model was trained for.
data::LabelKind kind_of(const nn::Config& config) {
  for (const Problem& problem : kProblems)
    if (config.problem_type == problem.type) return problem.kind;
  return config.num_labels() == 1 ? data::LabelKind::number : data::LabelKind::one;
}

// What rows are to be trained on: as the arguments say, else as run_classification.py finds it in the labels.
data::LabelKind kind_of(const data::Table& rows, const DataArguments& data) {
  const auto& lists = rows.list_columns;
  if (data.do_regression.value_or(false)) return data::LabelKind::number;
  if (data.multi_label || std::find(lists.begin(), lists.end(), data.label_column_name) != lists.end()) return data::LabelKind::several;
  return !data.do_regression && data::holds_fractions(rows, data.label_column_name) ? data::LabelKind::number : data::LabelKind::one;
}

std::vector<std::string> labels_of(const data::Table& rows, const data::TextColumns& columns) {
  if (columns.kind == data::LabelKind::number) return {"LABEL_0"};
  const bool several = columns.kind == data::LabelKind::several;
  const std::vector<std::string> labels = several ? data::several_label_set(rows, columns.label) : data::label_set(rows, columns.label);
  ROTE_CHECK(!labels.empty(), ArgumentError, rows.source, ": no row has a label; a classifier needs two labels or more.");
  ROTE_CHECK(labels.size() > 1, ArgumentError, rows.source, ": every row has the label ", labels[0], "; a classifier needs two labels or more.");
  return labels;
}

}  // namespace

Metrics classification_metrics(const EvalPrediction& prediction) {
  const Labels predicted = row_classes(prediction.predictions.at(0)), labels = row_classes(prediction.label_ids);
  const bool two = prediction.predictions[0].size(-1) == 2;
  const Scores scores = precision_recall_f1(predicted, labels, {.average = two ? Average::binary : Average::macro});
  return {{"accuracy", accuracy(predicted, labels)}, {"f1", scores.f1}};
}

Metrics regression_metrics(const EvalPrediction& prediction) {
  const Tensor predicted = contiguous(prediction.predictions.at(0)), labels = contiguous(prediction.label_ids);
  ROTE_CHECK(predicted.numel() == labels.numel() && labels.numel() > 0, ShapeError, "regression_metrics: got ", describe(predicted), " for ", describe(labels),
             "; each row needs both.");
  double sum = 0;
  for (int64_t i = 0; i < labels.numel(); ++i) {
    const double difference = static_cast<double>(predicted.data<float>()[i]) - static_cast<double>(labels.data<float>()[i]);
    sum += difference * difference;
  }
  return {{"mse", sum / static_cast<double>(labels.numel())}};
}

Metrics multi_label_metrics(const EvalPrediction& prediction) {
  const Tensor logits = contiguous(prediction.predictions.at(0)), labels = contiguous(prediction.label_ids);
  ROTE_CHECK(logits.numel() == labels.numel(), ShapeError, "multi_label_metrics: got ", describe(logits), " for ", describe(labels), "; each label needs its logit.");
  double hits = 0, taken = 0, present = 0;
  for (int64_t i = 0; i < labels.numel(); ++i) {
    const bool predicted = logits.data<float>()[i] > 0, wanted = labels.data<float>()[i] > 0.5f;
    hits += predicted && wanted, taken += predicted, present += wanted;
  }
  return {{"f1", taken + present > 0 ? 2 * hits / (taken + present) : 0.0}};
}

Prepared text_classification(const Sources& sources) {
  const DataArguments& data = sources.data;
  const text::Tokenizer tokenizer = load_tokenizer(sources);
  const int64_t length = text_length(sources, tokenizer, 128);
  data::TextColumns columns{.text = data.text_column_names, .label = data.label_column_name, .kind = kind_of(sources.config)};
  Prepared prepared{.processing_class = tokenizer, .data_collator = data::PadCollator(tokenizer)};
  std::vector<std::string> labels = label_names(sources.config);
  if (sources.train.train_file) {
    const std::string& path = *sources.train.train_file;
    const data::Table rows = sources.train.streaming ? data::distinct_values(path, columns.label) : data::read_table(path);
    columns.kind = kind_of(rows, data);
    labels = labels_of(rows, columns);
    if (sources.train.streaming) prepared.train_stream = std::make_unique<data::LabelledStream>(path, data::LabelledStream::Options{columns, labels, length}, tokenizer);
    else prepared.train_dataset = data::tokenized(rows, columns, labels, tokenizer, length);
  }
  if (sources.evaluation.validation_file)
    prepared.eval_dataset = data::tokenized(data::read_table(*sources.evaluation.validation_file), columns, labels, tokenizer, length);
  const Problem& problem = problem_of(columns.kind);
  prepared.compute_metrics = problem.metrics;
  prepared.metrics = problem.names;
  prepared.configure = [labels, type = problem.type](nn::Config& config) {
    config.labels = labels;
    config.problem_type = type;
  };
  return prepared;
}

}  // namespace rote::tasks
