// trainer/data/answer_rows.h — questions with their contexts into rows of ids and answer positions; a long context makes several rows. Reads no file.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/data/questions.h"
#include "trainer/text/tokenizer.h"

namespace rote::data {

// Where the context stands in a row.
struct ContextWindow {
  size_t question = 0;     // its place among Questions::rows
  int64_t no_answer = 0;   // position that stands for none: of the class token, else 0
  int64_t first = 0;       // position of the context's first token
  std::vector<std::pair<int64_t, int64_t>> offsets;  // of the context's tokens: code points [begin, end) of the context
};

struct AnswerRows {
  std::unique_ptr<Dataset> dataset;    // input_ids, token_type_ids, start_positions, end_positions
  std::vector<ContextWindow> windows;  // of each row
};

struct WindowOptions {
  int64_t max_length = 384;  // tokens of a row
  int64_t stride = 128;      // tokens that a row repeats of the context in the row before
};

// Question then context, or context then question where the tokenizer pads on the left; the context alone is cut. Positions are those of the first
// answer, or no_answer where there is none or the row does not hold it whole.
// Throws ArgumentError, naming the question, where it leaves no room for more of the context than the stride.
AnswerRows answer_rows(const Questions& questions, const text::Tokenizer& tokenizer, const WindowOptions& options = {});

}  // namespace rote::data
