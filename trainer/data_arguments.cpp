// trainer/data_arguments.cpp — the rows of the arguments that name a model and files.
#include "trainer/data_arguments.h"

#include <algorithm>

#include "kernels/check.h"

namespace rote {

std::vector<std::string> split_columns(std::vector<std::string>& text_column_names) {
  std::vector<std::string> columns;
  for (const std::string& names : text_column_names) {
    for (size_t begin = 0; begin <= names.size();) {
      const size_t end = std::min(names.find(',', begin), names.size());
      columns.push_back(names.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  text_column_names = columns;
  if (columns.size() == 1 || columns.size() == 2) return {};
  return {str("--text_column_names: names ", columns.size(), " columns; a model takes one text or a pair of two.")};
}

const ArgumentTable<ModelArguments>& ModelArguments::table() {
  using M = ModelArguments;
  static const ArgumentTable<M> rows = {
      "model",
      {
          field(&M::model_name_or_path,
                {.name = "model_name_or_path", .help = "folder with config.json, weights and the tokenizer's files, or a name in the hub's cache"}),
          field(&M::tokenizer_name, {.name = "tokenizer_name", .help = "folder or name of another tokenizer than the model's"}),
          field(&M::cache_dir, {.name = "cache_dir", .help = "where the hub's cache lies, if not where HF_HOME says"}),
          field(&M::model_revision, {.name = "model_revision", .help = "branch, tag or commit of a name of the hub"}),
          field(&M::ignore_mismatched_sizes, {.name = "ignore_mismatched_sizes", .help = "draw weights anew that have another shape in the checkpoint"}),
      },
  };
  return rows;
}

const ArgumentTable<TrainSources>& TrainSources::table() {
  using T = TrainSources;
  static const ArgumentTable<T> rows = {
      "training data",
      {
          field(&T::train_file, {.name = "train_file", .help = "rows to train on: .csv .tsv .jsonl; texts alone .txt too, or tokens .npy; tagged words .tsv .conll .txt .jsonl; questions .json .jsonl"}),
          field(&T::train_dir, {.name = "train_dir", .help = "pictures to train on, .png .jpg .jpeg in a folder for each class, in place of a file"}),
          field(&T::config_name, {.name = "config_name", .help = "folder of a config.json: new weights in place of --model_name_or_path"}),
          field(&T::streaming, {.name = "streaming", .help = "read --train_file while it is trained on, again and again up to --max_steps, and hold few rows: text-classification, masked-lm, causal-lm"}),
          field(&T::shuffle_buffer_size, {.name = "shuffle_buffer_size", .help = "with --streaming: rows among which the next one is drawn, 0 for the order of the file", .unit = "rows", .at_least = 0, .below = int64_t{1} << 31}),
      },
  };
  return rows;
}

const ArgumentTable<EvaluationFiles>& EvaluationFiles::table() {
  using E = EvaluationFiles;
  static const ArgumentTable<E> rows = {
      "evaluation data",
      {
          field(&E::validation_file, {.name = "validation_file", .help = "rows to evaluate on"}),
          field(&E::validation_dir, {.name = "validation_dir", .help = "pictures to evaluate on, as those of --train_dir"}),
      },
  };
  return rows;
}

const ArgumentTable<DataArguments>& DataArguments::table() {
  using D = DataArguments;
  static const ArgumentTable<D> rows = {
      "task and data",
      {
          field(&D::task, {.name = "task", .help = "what the model learns"}),
          field(&D::text_column_names, {.name = "text_column_names", .help = "column of the text, or two of a pair; of tagged words, by default tokens"}),
          field(&D::image_column_name, {.name = "image_column_name", .help = "column of a picture's path, relative to the file of rows"}),
          field(&D::label_column_name, {.name = "label_column_name", .help = "column of the label; of tags, by default ner_tags"}),
          field(&D::max_seq_length, {.name = "max_seq_length", .help = "length to which texts are cut, or of blocks; by default 128, of language models 1024, or what the model takes; of questions 384, and shorter rows are padded to it",
                                     .unit = "tokens", .at_least = 3, .aliases = {"max_length", "block_size", "max_source_length"}}),
          field(&D::keep_linebreaks, {.name = "keep_linebreaks", .help = "causal-lm: lines of a .txt file keep their ends"}),
          field(&D::line_by_line, {.name = "line_by_line", .help = "masked-lm: each line is a row, in place of blocks of all lines"}),
          field(&D::mlm_probability, {.name = "mlm_probability", .help = "masked-lm: share of the tokens that are to be told", .at_least = 0.0, .below = 1.0}),
          field(&D::whole_word_mask, {.name = "whole_word_mask", .help = "masked-lm: words are masked, all tokens of each"}),
          field(&D::source_prefix, {.name = "source_prefix", .help = "seq2seq: put before each text"}),
          field(&D::max_target_length, {.name = "max_target_length", .help = "seq2seq: length to which targets, texts in --label_column_name, are cut", .unit = "tokens", .at_least = 1}),
          field(&D::num_beams, {.name = "num_beams", .help = "seq2seq: beams with which --predict_with_generate writes; not given: as the model's generation_config.json says", .at_least = 1}),
          field(&D::do_regression, {.name = "do_regression", .help = "text-classification: labels are numbers to be met; by default where some are fractions"}),
          field(&D::multi_label, {.name = "multi_label", .help = "text-classification: a row has several labels between commas, or none; lists of .jsonl are so"}),
          field(&D::label_all_tokens, {.name = "label_all_tokens", .help = "token-classification: label every piece of a word, not the first alone"}),
          field(&D::return_entity_level_metrics,
                {.name = "return_entity_level_metrics", .help = "token-classification: scores of each type of entity, beside those of all"}),
          field(&D::doc_stride, {.name = "doc_stride", .help = "question-answering: what rows of one context share", .unit = "tokens", .at_least = 0}),
          field(&D::version_2_with_negative, {.name = "version_2_with_negative", .help = "question-answering: some questions have no answer"}),
          field(&D::null_score_diff_threshold,
                {.name = "null_score_diff_threshold", .help = "question-answering: by how much no answer must score above the best one"}),
          field(&D::n_best_size, {.name = "n_best_size", .help = "question-answering: starts and ends of a row that are paired", .at_least = 1}),
          field(&D::max_answer_length, {.name = "max_answer_length", .help = "question-answering: longest answer", .unit = "tokens", .at_least = 1}),
      },
      [](D& args) { return split_columns(args.text_column_names); },
  };
  return rows;
}

std::vector<std::string> without_effect(const DataArguments& args) {
  struct Row {
    const char* name;
    std::vector<Task> tasks;  // that look at it
  };
  static const Row rows[] = {
      {"text_column_names", {Task::text_classification, Task::token_classification, Task::masked_lm, Task::causal_lm, Task::seq2seq}},
      {"label_column_name", {Task::text_classification, Task::token_classification, Task::seq2seq, Task::image_classification}},
      {"image_column_name", {Task::image_classification}},
      {"keep_linebreaks", {Task::causal_lm}},
      {"line_by_line", {Task::masked_lm}},
      {"mlm_probability", {Task::masked_lm}},
      {"whole_word_mask", {Task::masked_lm}},
      {"source_prefix", {Task::seq2seq}},
      {"max_target_length", {Task::seq2seq}},
      {"num_beams", {Task::seq2seq}},
      {"do_regression", {Task::text_classification}},
      {"multi_label", {Task::text_classification}},
      {"label_all_tokens", {Task::token_classification}},
      {"return_entity_level_metrics", {Task::token_classification}},
      {"doc_stride", {Task::question_answering}},
      {"version_2_with_negative", {Task::question_answering}},
      {"null_score_diff_threshold", {Task::question_answering}},
      {"n_best_size", {Task::question_answering}},
      {"max_answer_length", {Task::question_answering}},
  };
  const ValueMap given = to_map(args), usual = to_map(DataArguments());
  std::vector<std::string> warnings;
  for (const Row& row : rows)
    if (!(*given.find(row.name) == *usual.find(row.name)) && std::find(row.tasks.begin(), row.tasks.end(), args.task) == row.tasks.end())
      warnings.push_back(str("--", row.name, ": has no effect for --task ", word_of(args.task), "."));
  return warnings;
}

}  // namespace rote
