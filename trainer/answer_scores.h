// trainer/answer_scores.h — answers compared with those that people gave, as the SQuAD scripts do. Picks no answer (tasks/best_answers.h).
#pragma once

#include <string>
#include <vector>

#include "trainer/state.h"

namespace rote {

// Lower case, without ASCII punctuation and the words a, an, the, blanks made single: what is compared.
std::string normalized_answer(const std::string& text);

struct AnswerScore {
  double exact = 0, f1 = 0;  // 0 … 1
};
// The best over `wanted`: equality, and the f1 of the words that both have. Where a side has no word the f1 is the equality.
AnswerScore answer_score(const std::string& given, const std::vector<std::string>& wanted);

// In percent, over questions. exact_match and f1 of SQuAD 1.1; throws ArgumentError where a question has no wanted answer.
Metrics squad_metrics(const std::vector<std::string>& given, const std::vector<std::vector<std::string>>& wanted);
// exact, f1 and total of SQuAD 2.0, and of the questions that have an answer (HasAns_exact …) and that have none (NoAns_exact …) where there are such; the right answer
// of the latter is the empty text.
Metrics squad_v2_metrics(const std::vector<std::string>& given, const std::vector<std::vector<std::string>>& wanted);

}  // namespace rote
