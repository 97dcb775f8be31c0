#include "trainer/tasks/best_answers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "kernels/check.h"
#include "tensor/sort_stably.h"
#include "trainer/text/unicode.h"

namespace rote::tasks {

namespace {

struct Span {
  int64_t begin = 0, end = 0;  // code points of the context
  float score = 0;             // in f32, as the reference adds them
  bool is_answer = true;       // not the score of there being none
};

// The logits of one row, NaN below all others.
struct RowLogits {
  const float* value;
  int64_t size;
  float at(int64_t i) const { return std::isnan(value[i]) ? -std::numeric_limits<float>::infinity() : value[i]; }
};

// Positions of the n greatest, the greatest first.
std::vector<int64_t> greatest(const RowLogits& logits, int64_t n) {
  std::vector<int64_t> order(static_cast<size_t>(logits.size));
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto middle = order.begin() + std::min(n, logits.size);
  std::partial_sort(order.begin(), middle, order.end(), [&](int64_t a, int64_t b) { return logits.at(a) != logits.at(b) ? logits.at(a) > logits.at(b) : a < b; });
  order.erase(middle, order.end());
  return order;
}

void add_spans(std::vector<Span>& spans, const data::ContextWindow& window, const RowLogits& start, const RowLogits& end, const AnswerChoice& choice) {
  const int64_t tokens = static_cast<int64_t>(window.offsets.size());
  const std::vector<int64_t> ends = greatest(end, choice.n_best_size);
  for (const int64_t s : greatest(start, choice.n_best_size)) {
    for (const int64_t e : ends) {
      const int64_t first = s - window.first, last = e - window.first;
      if (first < 0 || last >= tokens || last < first || last - first + 1 > choice.max_answer_length) continue;
      spans.push_back({window.offsets[static_cast<size_t>(first)].first, window.offsets[static_cast<size_t>(last)].second, start.at(s) + end.at(e), true});
    }
  }
}

std::string cut(const std::u32string& context, const Span& span) {
  const size_t begin = std::min(static_cast<size_t>(span.begin), context.size());
  return text::to_utf8(std::u32string_view(context).substr(begin, static_cast<size_t>(std::max(span.end - span.begin, int64_t{0}))));
}

// The answer among a question's spans; `none`: the score of there being none.
std::string chosen(std::vector<Span> spans, const std::optional<Span>& none, const std::u32string& context, const AnswerChoice& choice) {
  if (choice.version_2_with_negative && none) spans.push_back(*none);
  sort_stably(spans, [](const Span& a, const Span& b) { return a.score > b.score; });
  if (static_cast<int64_t>(spans.size()) > choice.n_best_size) spans.erase(spans.begin() + choice.n_best_size, spans.end());
  const auto has_text = [&](const Span& span) { return span.is_answer && span.end > span.begin; };
  if (!choice.version_2_with_negative) return spans.empty() || (spans.size() == 1 && !has_text(spans[0])) ? "empty" : cut(context, spans[0]);
  const auto best = std::find_if(spans.begin(), spans.end(), has_text);
  const float score = best == spans.end() ? 0.0f : best->score;  // of the text "empty", which stands in where there is no other
  if (none && static_cast<double>(none->score - score) > choice.null_score_diff_threshold) return "";
  return best == spans.end() ? "empty" : cut(context, *best);
}

}  // namespace

std::vector<std::string> best_answers(const data::Questions& questions, const std::vector<data::ContextWindow>& windows, const Tensor& start_logits,
                                      const Tensor& end_logits, const AnswerChoice& choice) {
  const Tensor starts = contiguous(start_logits), ends = contiguous(end_logits);
  ROTE_CHECK(starts.axes() == 2 && starts.shape() == ends.shape() && starts.size(0) == static_cast<int64_t>(windows.size()), ShapeError,
             "best_answers: got ", describe(starts), " and ", describe(ends), " logits for ", windows.size(), " rows; each needs one start and end a token.");
  const int64_t T = starts.size(1);
  std::vector<std::string> answers;
  size_t row = 0;
  for (size_t question = 0; question < questions.rows.size(); ++question) {
    std::vector<Span> spans;
    std::optional<Span> none;  // the least of the rows': an answer in any of them speaks against it
    for (; row < windows.size() && windows[row].question == question; ++row) {
      const int64_t begin = static_cast<int64_t>(row) * T, no_answer = windows[row].no_answer;
      const RowLogits start{starts.data<float>() + begin, T}, end{ends.data<float>() + begin, T};
      const float score = start.at(no_answer) + end.at(no_answer);
      if (!none || score < none->score) none = Span{0, 0, score, false};
      add_spans(spans, windows[row], start, end, choice);
    }
    const std::u32string context = text::decode_text(questions.contexts[questions.rows[question].context], "context");
    answers.push_back(chosen(std::move(spans), none, context, choice));
  }
  return answers;
}

}  // namespace rote::tasks
