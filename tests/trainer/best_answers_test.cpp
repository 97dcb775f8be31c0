// tests/trainer/best_answers_test.cpp — the answers that logits point to, against run_qa.py's postprocessing (tests/golden/task_scores.py).
#include "trainer/tasks/best_answers.h"

#include <doctest/doctest.h>

#include <limits>

#include "kernels/check.h"
#include "tests/trainer/cases.h"

namespace rote::testing {

namespace {

Value golden() {
  const std::string path = source_folder() + "/tests/golden/task_scores.json";
  return parse_json(read_text(path), path);
}

double number(const Value& value) {
  double out = -1;
  REQUIRE(value.number(out));
  return out;
}

Tensor matrix(const Value& rows) {
  const ValueList& list = *rows.as_list();
  const int64_t N = static_cast<int64_t>(list.size()), T = static_cast<int64_t>(list[0].as_list()->size());
  const Tensor x = empty({N, T});
  float* to = x.data<float>();
  for (const Value& row : list)
    for (const Value& value : *row.as_list()) *to++ = static_cast<float>(number(value));
  return x;
}

}  // namespace

TEST_CASE("best_answers: the texts that run_qa.py picks") {
  const Value cases = golden();
  int64_t empty = 0;
  for (const Value& one : *at(cases, "best_answers").as_list()) {
    CAPTURE(json_text(one, {.indent = -1}));
    const data::Questions questions{.source = "x", .contexts = {text_at(one, "context")}, .rows = {{.id = "q", .text = "", .context = 0, .answers = {}}}};
    std::vector<data::ContextWindow> windows;
    for (const Value& row : *at(one, "offsets").as_list()) {
      windows.push_back({.question = 0, .no_answer = 0, .first = *at(one, "first").as_int(), .offsets = {}});
      for (const Value& pair : *row.as_list()) windows.back().offsets.emplace_back(*(*pair.as_list())[0].as_int(), *(*pair.as_list())[1].as_int());
    }
    const tasks::AnswerChoice choice{.n_best_size = *at(one, "n_best_size").as_int(),
                                     .max_answer_length = *at(one, "max_answer_length").as_int(),
                                     .version_2_with_negative = *at(one, "version_2_with_negative").as_bool(),
                                     .null_score_diff_threshold = number(at(one, "null_score_diff_threshold"))};
    const std::vector<std::string> answers = tasks::best_answers(questions, windows, matrix(at(one, "start")), matrix(at(one, "end")), choice);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0] == text_at(one, "answer"));
    empty += answers[0].empty() || answers[0] == "empty";
  }
  CHECK(empty > 0);
  CHECK(empty < 40);
}

TEST_CASE("best_answers: equal scores give the first, logits that are no numbers are passed over, rows of several questions stay apart") {
  const data::Questions questions{.source = "x", .contexts = {"one two"}, .rows = {{"a", "", 0, {}}, {"b", "", 0, {}}}};
  const std::vector<data::ContextWindow> windows = {{0, 0, 1, {{0, 3}, {4, 7}}}, {1, 0, 1, {{0, 3}, {4, 7}}}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor start = from_values({2, 3}, std::vector<float>{0, 2, 2, nan, nan, 5}), end = from_values({2, 3}, std::vector<float>{0, 2, 2, 9, 1, nan});
  CHECK(tasks::best_answers(questions, windows, start, end, {.max_answer_length = 1}) == std::vector<std::string>{"one", "two"});
  CHECK_THROWS_AS(tasks::best_answers(questions, {windows[0]}, start, end), ShapeError);
}

}  // namespace rote::testing
