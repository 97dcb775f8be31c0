// trainer/tasks/question_answering.cpp — question-answering: spans of a context as answers, as run_qa.py trains and scores them.
#include <algorithm>

#include "trainer/answer_scores.h"
#include "trainer/data/answer_rows.h"
#include "trainer/json_text.h"
#include "trainer/tasks/best_answers.h"
#include "trainer/tasks/task.h"

namespace rote::tasks {

namespace {

// What scoring needs of the rows that are evaluated.
struct Wanted {
  data::Questions questions;
  std::vector<data::ContextWindow> windows;
};

std::vector<std::string> answers_of(const Wanted& wanted, const EvalPrediction& prediction, const AnswerChoice& choice) {
  return best_answers(wanted.questions, wanted.windows, prediction.predictions.at(0), prediction.predictions.at(1), choice);
}

// The answer of each question under its id.
std::string answers_text(const Wanted& wanted, const EvalPrediction& prediction, const AnswerChoice& choice) {
  const std::vector<std::string> answers = answers_of(wanted, prediction, choice);
  ValueMap by_id;
  for (size_t row = 0; row < answers.size(); ++row) by_id.set(wanted.questions.rows[row].id, answers[row]);
  return json_text(by_id, {.indent = 4}) + "\n";
}

Metrics answer_metrics(const Wanted& wanted, const EvalPrediction& prediction, const AnswerChoice& choice) {
  const std::vector<std::string> given = answers_of(wanted, prediction, choice);
  std::vector<std::vector<std::string>> texts;
  for (const data::Question& question : wanted.questions.rows) {
    texts.emplace_back();
    for (const data::Answer& answer : question.answers) texts.back().push_back(answer.text);
  }
  return choice.version_2_with_negative ? squad_v2_metrics(given, texts) : squad_metrics(given, texts);
}

// Without --version_2_with_negative every question that is scored needs an answer.
data::Questions questions_to_score(const Sources& sources) {
  data::Questions questions = data::read_questions(*sources.evaluation.validation_file);
  for (size_t row = 0; row < questions.rows.size(); ++row)
    ROTE_CHECK(!sources.is_scored || sources.data.version_2_with_negative || !questions.rows[row].answers.empty(), ArgumentError, questions.place(row),
               ": has no answer; --version_2_with_negative takes such questions.");
  return questions;
}

}  // namespace

Prepared question_answering(const Sources& sources) {
  const DataArguments& data = sources.data;
  const text::Tokenizer tokenizer = load_tokenizer(sources);
  const data::WindowOptions options{.max_length = text_length(sources, tokenizer, 384), .stride = data.doc_stride};
  // All rows to one length, as run_qa.py: the head scores the padding too, so a loss would depend on what else is in the batch. On the right whatever
  // the tokenizer says: positions are counted from the begin of a row.
  const std::optional<int64_t> pad = tokenizer.pad_token_id();
  ROTE_CHECK(pad.has_value(), ArgumentError, "question-answering: the tokenizer has no pad token; batches of unequal rows need one.");
  Prepared prepared{.processing_class = tokenizer, .data_collator = data::PadCollator(data::PadOptions{.pad_token_id = *pad, .pad_to_multiple_of = options.max_length})};
  if (sources.train.train_file) prepared.train_dataset = data::answer_rows(data::read_questions(*sources.train.train_file), tokenizer, options).dataset;
  if (sources.evaluation.validation_file) {
    auto wanted = std::make_shared<Wanted>();
    wanted->questions = questions_to_score(sources);
    data::AnswerRows rows = data::answer_rows(wanted->questions, tokenizer, options);
    wanted->windows = std::move(rows.windows);
    prepared.eval_dataset = std::move(rows.dataset);
    const AnswerChoice choice{.n_best_size = data.n_best_size,
                              .max_answer_length = data.max_answer_length,
                              .version_2_with_negative = data.version_2_with_negative,
                              .null_score_diff_threshold = data.null_score_diff_threshold};
    const auto& asked = wanted->questions.rows;
    const bool can_score = data.version_2_with_negative || std::none_of(asked.begin(), asked.end(), [](const data::Question& one) { return one.answers.empty(); });
    if (can_score) prepared.compute_metrics = [wanted, choice](const EvalPrediction& prediction) { return answer_metrics(*wanted, prediction, choice); };
    if (!data.version_2_with_negative) prepared.metrics = {"exact_match", "f1"};
    prepared.predictions_text = [wanted, choice](const EvalPrediction& prediction) { return answers_text(*wanted, prediction, choice); };
  }
  prepared.configure = [](nn::Config& config) { config.labels.clear(); };  // a start and an end
  return prepared;
}

}  // namespace rote::tasks
