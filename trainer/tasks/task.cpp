#include "trainer/tasks/task.h"

#include <algorithm>

#include "nn/pretrained.h"

namespace rote::tasks {

const TaskEntry& find(Task task) {
  static constexpr TaskEntry kTasks[] = {
      {Task::text_classification, "text-classification", text_classification, false, /*takes_streams=*/true, "predict_results.txt"},
      {Task::token_classification, "token-classification", token_classification, false, false, "predictions.txt"},
      {Task::question_answering, "question-answering", question_answering, false, false, "predict_predictions.json"},
      {Task::masked_lm, "fill-mask", masked_lm, false, /*takes_streams=*/true},
      {Task::causal_lm, "text-generation", causal_lm, false, /*takes_streams=*/true},
      {Task::seq2seq, "text2text-generation", seq2seq, false, false, "generated_predictions.txt"},
      {Task::image_classification, "image-classification", image_classification, /*takes_folders=*/true, false, "predict_results.txt"},
  };
  const auto found = std::find_if(std::begin(kTasks), std::end(kTasks), [task](const TaskEntry& entry) { return entry.task == task; });
  ROTE_ASSERT(found != std::end(kTasks), "every word of Task has its row");
  return *found;
}

std::vector<std::string> source_faults(const TaskEntry& task, const TrainSources& train, const EvaluationFiles& evaluation) {
  std::vector<std::string> faults;
  const auto check = [&](const char* dir, bool has_dir, const char* file, bool has_file) {
    if (has_dir && !task.takes_folders) faults.push_back(str("--", dir, ": is for tasks of pictures (image-classification); give --", file, " for this one."));
    else if (has_dir && has_file) faults.push_back(str("--", dir, ": give it or --", file, ", one of the two."));
  };
  check("train_dir", train.train_dir.has_value(), "train_file", train.train_file.has_value());
  check("validation_dir", evaluation.validation_dir.has_value(), "validation_file", evaluation.validation_file.has_value());
  if (train.streaming && !task.takes_streams)
    faults.push_back(str("--streaming: is for the tasks text-classification, masked-lm and causal-lm; leave it out for ", word_of(task.task), "."));
  if (train.shuffle_buffer_size > 0 && !train.streaming) faults.push_back("--shuffle_buffer_size: is for --streaming; other rows are shuffled as --train_sampling_strategy says.");
  return faults;
}

std::vector<std::string> label_names(const nn::Config& config) {
  std::vector<std::string> names;
  for (int64_t id = 0; id < config.num_labels(); ++id) names.push_back(config.label(id));
  return names;
}

text::Tokenizer load_tokenizer(const Sources& sources) {
  const ModelArguments& model = sources.model;
  const std::string name = model.tokenizer_name.value_or(!model.model_name_or_path.empty() ? model.model_name_or_path : sources.train.config_name.value_or(""));
  const text::Tokenizer tokenizer =
      text::Tokenizer::from_folder(nn::model_place(name, {.revision = model.model_revision, .cache_dir = model.cache_dir.value_or("")}));
  const int64_t ids = tokenizer.id_limit(), vocabulary = sources.config.limits().vocabulary.value_or(ids);
  ROTE_CHECK(ids <= vocabulary, ArgumentError, name, ": the tokenizer's ids go up to ", ids - 1, " but the model has a vocabulary of ", vocabulary,
             "; they do not belong together.");
  return tokenizer;
}

int64_t text_length(const Sources& sources, const text::Tokenizer& tokenizer, int64_t otherwise) {
  const std::optional<int64_t>& given = sources.data.max_seq_length;
  const int64_t wanted = given.value_or(otherwise), own = sources.config.limits().length.value_or(wanted);
  const int64_t limit = std::min(own, tokenizer.model_max_length().value_or(own));
  ROTE_CHECK(!given || wanted <= limit, ArgumentError, "--max_seq_length: ", wanted, " tokens, the model takes at most ", limit, "; give that or less.");
  return std::min(wanted, limit);
}

void one_text_column(const Sources& sources) {
  const std::vector<std::string>& names = sources.data.text_column_names;
  ROTE_CHECK(names.size() == 1, ArgumentError, "--text_column_names: ", names[0], " and ", names[1], "; --task ", word_of(sources.data.task), " takes one text.");
}

}  // namespace rote::tasks
