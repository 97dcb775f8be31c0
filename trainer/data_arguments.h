// trainer/data_arguments.h — what `rote train` and its relatives work on: the task, the model, the files. No rows (data_arguments.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/fields.h"

namespace rote {

enum class Task { text_classification, token_classification, question_answering, masked_lm, causal_lm, seq2seq, image_classification };
inline WordList words_of(Task) { return {"text-classification", "token-classification", "question-answering", "masked-lm", "causal-lm", "seq2seq", "image-classification"}; }

struct ModelArguments {
  std::string model_name_or_path = "";
  std::optional<std::string> tokenizer_name = {};  // not given: of the model
  std::optional<std::string> cache_dir = {};
  std::string model_revision = "main";
  bool ignore_mismatched_sizes = false;

  static const ArgumentTable<ModelArguments>& table();
};

// What a run starts from. Nothing of it is given where a saved model is evaluated.
struct TrainSources {
  std::optional<std::string> train_file = {};
  std::optional<std::string> train_dir = {};    // pictures in folders of classes, in place of a file
  std::optional<std::string> config_name = {};  // a model with new weights, in place of a checkpoint
  bool streaming = false;                       // train_file is read as its rows are needed
  int64_t shuffle_buffer_size = 0;              // rows; 0: in the order of the file

  static const ArgumentTable<TrainSources>& table();
};

// What a model is evaluated on.
struct EvaluationFiles {
  std::optional<std::string> validation_file = {};
  std::optional<std::string> validation_dir = {};  // pictures, in place of a file

  static const ArgumentTable<EvaluationFiles>& table();
};

struct DataArguments {
  Task task = Task::text_classification;
  std::vector<std::string> text_column_names = {"text"};  // one text, or the two of a pair
  std::string image_column_name = "image";
  std::string label_column_name = "label";
  std::optional<int64_t> max_seq_length = {};  // tokens, special ones included; not given: by the task
  bool keep_linebreaks = true;
  bool line_by_line = false;
  Number mlm_probability = 0.15;
  bool whole_word_mask = false;
  std::string source_prefix = "";
  int64_t max_target_length = 128;  // tokens, special ones included
  std::optional<int64_t> num_beams = {};

  // text-classification
  std::optional<bool> do_regression = {};  // not given: where labels are fractions
  bool multi_label = false;

  // token-classification
  bool label_all_tokens = false;
  bool return_entity_level_metrics = false;

  // question-answering
  int64_t doc_stride = 128;  // tokens
  bool version_2_with_negative = false;
  Number null_score_diff_threshold = 0.0;
  int64_t n_best_size = 20;
  int64_t max_answer_length = 30;  // tokens

  static const ArgumentTable<DataArguments>& table();
};

// `--mlm_probability: has no effect for --task causal-lm.` for what is given and the task does not look at.
std::vector<std::string> without_effect(const DataArguments& args);

// Makes two names of `a,b` in one word, as scripts for the Hugging Face Trainer write it; the faults of what then are not one or two columns.
std::vector<std::string> split_columns(std::vector<std::string>& text_column_names);

}  // namespace rote
