// trainer/data/questions.h — questions on contexts and their answers, out of SQuAD's JSON or flat JSON lines. No tokens (answer_rows.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rote::data {

struct Answer {
  std::string text;
  int64_t start = 0;  // code points of the context before it
};

struct Question {
  std::string id, text;
  size_t context = 0;           // its place among the contexts
  std::vector<Answer> answers;  // none where the context holds no answer
};

struct Questions {
  std::string source;  // file name for error texts
  std::vector<std::string> contexts;
  std::vector<Question> rows;

  // `x.json: question 56be…`, for error texts about a row.
  std::string place(size_t row) const;
};

// JSON: {"data": […]} of SQuAD's articles with paragraphs and qas, or of flat rows {id, question, context, answers}. Answers are a list of {text,
// answer_start}, or one such object of two lists; of an is_impossible question there are none.
// Throws ArgumentError, here and below, led by `source` and the question or line: no JSON, a member that is missing or of another kind, an id that comes
// twice, an answer that does not stand where it is said to.
Questions parse_squad(std::string_view text, const std::string& source);
// A flat row a line.
Questions parse_question_lines(std::string_view text, const std::string& source);

// Reads `path` by the end of its name: .json or .jsonl. Throws as read_rows() does, too.
Questions read_questions(const std::string& path);

}  // namespace rote::data
