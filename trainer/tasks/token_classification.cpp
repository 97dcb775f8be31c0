#include "trainer/tasks/token_classification.h"

#include <algorithm>

#include "autograd/ops.h"
#include "trainer/data/token_collate.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/data/word_labels.h"
#include "trainer/entity_scores.h"
#include "trainer/metrics.h"
#include "trainer/tasks/task.h"

namespace rote::tasks {

namespace {

// Scored tokens of each sentence, and of all in one.
struct Scored {
  std::vector<Tags> predictions, labels;
  Labels predicted, present;
};

Scored scored_tokens(const EvalPrediction& prediction, const std::vector<std::string>& names) {
  const Tensor classes = contiguous(prediction.predictions.at(0)), wanted = contiguous(prediction.label_ids);
  ROTE_CHECK(classes.shape() == wanted.shape() && wanted.axes() == 2, ShapeError, "token_metrics: got ", describe(classes), " classes for ", describe(wanted),
             " labels; each token needs both.");
  const int64_t N = wanted.size(0), T = wanted.size(1), L = static_cast<int64_t>(names.size());
  Scored out;
  for (int64_t row = 0; row < N; ++row) {
    Tags predictions, labels;
    for (int64_t i = row * T; i < (row + 1) * T; ++i) {
      const int64_t label = wanted.data<int64_t>()[i], predicted = classes.data<int64_t>()[i];
      if (label == -100) continue;
      ROTE_CHECK(label >= 0 && label < L && predicted >= 0 && predicted < L, ArgumentError, "token_metrics: class ", predicted, " for label ", label,
                 " where the model has ", L, "; both must be below.");
      predictions.push_back(names[static_cast<size_t>(predicted)]);
      labels.push_back(names[static_cast<size_t>(label)]);
      out.predicted.push_back(predicted);
      out.present.push_back(label);
    }
    out.predictions.push_back(std::move(predictions));
    out.labels.push_back(std::move(labels));
  }
  return out;
}

// A sentence a line, its tags with a blank between.
std::string lines_of(const std::vector<Tags>& sentences) {
  std::string text;
  for (const Tags& tags : sentences) {
    for (const std::string& tag : tags) text += (&tag == &tags[0] ? "" : " ") + tag;
    text += "\n";
  }
  return text;
}

// The tags of the training rows; in the order of the checkpoint's own labels where those are the same ones.
std::vector<std::string> labels_for(const data::TaggedText& rows, const nn::Config& config) {
  const std::vector<std::string> tags = data::tag_set(rows), own = label_names(config);
  return data::sorted_labels(own) == tags ? own : tags;
}

}  // namespace

Metrics token_metrics(const EvalPrediction& prediction, const std::vector<std::string>& labels, bool by_type) {
  const Scored tokens = scored_tokens(prediction, labels);
  Metrics metrics;
  if (are_entity_tags(labels)) {
    const EntityReport report = entity_scores(tokens.predictions, tokens.labels);
    if (by_type)
      for (const EntityScores& one : report.types) {
        metrics.set(one.type + "_precision", one.scores.precision);
        metrics.set(one.type + "_recall", one.scores.recall);
        metrics.set(one.type + "_f1", one.scores.f1);
        metrics.set(one.type + "_number", one.number);
      }
    metrics.set("precision", report.overall.precision);
    metrics.set("recall", report.overall.recall);
    metrics.set("f1", report.overall.f1);
  } else {
    metrics.set("f1", precision_recall_f1(tokens.predicted, tokens.present, {.average = Average::macro}).f1);
  }
  metrics.set("accuracy", accuracy(tokens.predicted, tokens.present));
  return metrics;
}

Prepared token_classification(const Sources& sources) {
  const DataArguments& data = sources.data;
  one_text_column(sources);
  const text::Tokenizer tokenizer = load_tokenizer(sources);
  // As run_ner.py, where the columns are not named otherwise.
  const DataArguments usual;
  const bool names_words = data.text_column_names != usual.text_column_names, names_tags = data.label_column_name != usual.label_column_name;
  const data::WordColumns columns{.words = names_words ? data.text_column_names[0] : "tokens", .tags = names_tags ? data.label_column_name : "ner_tags"};
  const std::string& family = sources.config.model_type;
  const data::WordLabelOptions options{.max_length = text_length(sources, tokenizer, 128),
                                       .label_all_tokens = data.label_all_tokens,
                                       .blank_before_words = family == "roberta" || family == "gpt2"};

  Prepared prepared{.processing_class = tokenizer, .data_collator = data::TokenCollator(tokenizer)};
  std::vector<std::string> labels = label_names(sources.config);
  if (sources.train.train_file) {
    const data::TaggedText rows = data::read_tagged(*sources.train.train_file, columns);
    labels = labels_for(rows, sources.config);
    prepared.train_dataset = data::labelled_words(rows, labels, tokenizer, options);
  }
  if (const auto& file = sources.evaluation.validation_file)
    prepared.eval_dataset = data::labelled_words(data::read_tagged(*file, columns), labels, tokenizer, options);
  prepared.configure = [labels](nn::Config& config) { config.labels = labels; };
  prepared.preprocess_logits_for_metrics = [](std::vector<Tensor> outputs, const Tensor&) { return std::vector<Tensor>{argmax(outputs.at(0), -1)}; };
  prepared.compute_metrics = [labels, by_type = data.return_entity_level_metrics](const EvalPrediction& prediction) {
    return token_metrics(prediction, labels, by_type);
  };
  if (!are_entity_tags(labels)) prepared.metrics = {"f1", "accuracy"};
  else if (!data.return_entity_level_metrics) prepared.metrics = {"precision", "recall", "f1", "accuracy"};
  prepared.predictions_text = [labels](const EvalPrediction& prediction) { return lines_of(scored_tokens(prediction, labels).predictions); };
  return prepared;
}

}  // namespace rote::tasks
