// trainer/tasks/best_answers.h — the texts that a model's scores of starts and ends point to, as run_qa.py picks them. Their scores: answer_scores.h.
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"
#include "trainer/data/answer_rows.h"

namespace rote::tasks {

struct AnswerChoice {
  int64_t n_best_size = 20;        // starts and ends of a row that are paired, and spans of a question that are kept
  int64_t max_answer_length = 30;  // tokens
  bool version_2_with_negative = false;  // a question may have no answer: the empty text
  double null_score_diff_threshold = 0;  // by how much no answer must score above the best one
};

// start_logits, end_logits: f32[N,T], row i of windows[i], columns beyond a row's tokens are not looked at. A span scores start + end logit; of equal
// ones the first wins. One text a question, cut from its context; "empty" where no span is possible and the empty text may not be given.
std::vector<std::string> best_answers(const data::Questions& questions, const std::vector<data::ContextWindow>& windows, const Tensor& start_logits,
                                      const Tensor& end_logits, const AnswerChoice& choice = {});

}  // namespace rote::tasks
