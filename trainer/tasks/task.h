// trainer/tasks/task.h — what a task makes of a run's files: rows, head, batches, scores. One task a file; the loop: trainer.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/config.h"
#include "trainer/data/collate.h"
#include "trainer/data/stream.h"
#include "trainer/data_arguments.h"
#include "trainer/evaluation.h"
#include "trainer/text/tokenizer.h"

namespace rote::tasks {

struct Sources {
  const ModelArguments& model;
  const TrainSources& train;  // without a file where a saved model is evaluated: its head is then as its config says
  const EvaluationFiles& evaluation;
  const DataArguments& data;
  const nn::Config& config;   // of the checkpoint, or of the new model
  bool is_scored = true;      // the rows to evaluate must have what a score compares with
};

struct Prepared {
  std::unique_ptr<data::Dataset> train_dataset = {}, eval_dataset = {};  // null where no file is given
  std::unique_ptr<data::Stream> train_stream = {};                       // in place of the first with --streaming

  data::AnyDataset train() const { return train_stream ? data::AnyDataset(train_stream.get()) : data::AnyDataset(train_dataset.get()); }

  std::optional<ProcessingClass> processing_class = {};
  data::Collator data_collator = {};
  std::function<void(nn::Config&)> configure = {};       // gives the config the head that the rows need; may be empty
  PreprocessLogits preprocess_logits_for_metrics = {};   // may be empty
  ComputeMetrics compute_metrics = {};                   // may be empty
  ComputeMetrics compute_generated_metrics = {};         // in place of both where evaluation writes texts; empty: the task has none to write
  std::vector<std::string> metrics = {}, generated_metrics = {};  // the names that the two give; empty: the rows decide them
  std::function<std::string(const EvalPrediction&)> predictions_text = {};  // the file of predictions; empty: the task has none
  std::function<void(Metrics&)> complete_metrics = {};   // adds what follows from the metrics of the last evaluation; may be empty
  std::vector<std::string> collator_columns = {};        // that data_collator takes beside the model's inputs
};

struct TaskEntry {
  Task task;
  const char* head;  // as nn/auto.h names it
  // Reads and checks the files. Throws ArgumentError or IoError; nothing has been written then.
  Prepared (*prepare)(const Sources& sources);
  bool takes_folders = false;  // --train_dir and --validation_dir in place of files
  bool takes_streams = false;  // --streaming
  const char* predictions_file = nullptr;  // its name in an output_dir, as the scripts of transformers' examples have it; null: there is none
};

const TaskEntry& find(Task task);
// What is wrong with the folders and streams among the arguments, a sentence each.
std::vector<std::string> source_faults(const TaskEntry& task, const TrainSources& train, const EvaluationFiles& evaluation);

// Each in its own file.
Prepared text_classification(const Sources& sources);
Prepared token_classification(const Sources& sources);
Prepared question_answering(const Sources& sources);
Prepared masked_lm(const Sources& sources);
Prepared causal_lm(const Sources& sources);
Prepared seq2seq(const Sources& sources);
Prepared image_classification(const Sources& sources);

// --- What tasks share ---

// The labels of a saved head, by class.
std::vector<std::string> label_names(const nn::Config& config);

// The tokenizer of the run. Throws ArgumentError where it has ids that the model lacks.
text::Tokenizer load_tokenizer(const Sources& sources);
// --max_seq_length, or `otherwise` where it is not given, then at most what the model and the tokenizer take. Throws ArgumentError where it is given as more.
int64_t text_length(const Sources& sources, const text::Tokenizer& tokenizer, int64_t otherwise);
// Throws ArgumentError where --text_column_names names two.
void one_text_column(const Sources& sources);

}  // namespace rote::tasks
