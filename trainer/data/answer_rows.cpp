#include "trainer/data/answer_rows.h"

#include <algorithm>

#include "kernels/check.h"
#include "trainer/python_text.h"
#include "trainer/text/unicode.h"

namespace rote::data {

namespace {

// Some questions of SQuAD begin with many blanks.
std::string_view without_leading_blanks(std::string_view text) {
  std::u32string chars;
  text::decode_utf8(text, chars);
  size_t bytes = 0;
  for (size_t i = 0; i < chars.size() && (text::is_whitespace(chars[i]) || (chars[i] >= 0x1C && chars[i] <= 0x1F)); ++i)
    bytes += chars[i] < 0x80 ? 1 : chars[i] < 0x800 ? 2 : 3;
  return text.substr(bytes);
}

ContextWindow window_of(const text::Encoding& e, size_t question, int64_t context_sequence, const std::optional<int64_t>& cls) {
  ContextWindow window{.question = question, .offsets = {}};
  const auto at = cls ? std::find(e.ids.begin(), e.ids.end(), *cls) : e.ids.end();
  if (at != e.ids.end()) window.no_answer = at - e.ids.begin();
  for (size_t i = 0; i < e.ids.size(); ++i) {
    if (e.sequence_ids[i] != context_sequence) continue;
    if (window.offsets.empty()) window.first = static_cast<int64_t>(i);
    window.offsets.push_back(e.offsets[i]);
  }
  return window;
}

// Positions of the tokens with which the answer [begin, end) of the context begins and ends.
std::pair<int64_t, int64_t> positions_of(const ContextWindow& window, int64_t begin, int64_t end) {
  const auto& offsets = window.offsets;
  if (offsets.empty() || offsets.front().first > begin || offsets.back().second < end) return {window.no_answer, window.no_answer};
  // run_qa.py goes on past the context, so that an answer in a row's last token begins at the separator there; here the context is the border.
  size_t first = 0, last = offsets.size() - 1;
  while (first + 1 < offsets.size() && offsets[first + 1].first <= begin) ++first;
  while (last > 0 && offsets[last - 1].second >= end) --last;
  return {window.first + static_cast<int64_t>(first), window.first + static_cast<int64_t>(last)};
}

}  // namespace

AnswerRows answer_rows(const Questions& questions, const text::Tokenizer& tokenizer, const WindowOptions& options) {
  const bool context_last = tokenizer.padding_side() == text::Side::right;
  const std::optional<int64_t> cls = tokenizer.cls_token_id();
  text::EncodeOptions encode;
  encode.truncation = text::Truncation{.max_length = options.max_length,
                                       .stride = options.stride,
                                       .strategy = context_last ? text::TruncationStrategy::only_second : text::TruncationStrategy::only_first};
  AnswerRows rows;
  std::vector<Example> examples;
  for (size_t i = 0; i < questions.rows.size(); ++i) {
    const Question& question = questions.rows[i];
    const std::string_view asked = without_leading_blanks(question.text), context = questions.contexts[question.context];
    text::Encoding whole;
    try {
      whole = context_last ? tokenizer.encode(asked, context, encode) : tokenizer.encode(context, asked, encode);
    } catch (const ArgumentError& fault) {
      throw ArgumentError(str(questions.place(i), ": ", fault.text));
    }
    std::vector<text::Encoding> parts = std::move(whole.overflowing);
    parts.insert(parts.begin(), std::move(whole));
    for (text::Encoding& e : parts) {
      ContextWindow window = window_of(e, i, context_last ? 1 : 0, cls);
      std::pair<int64_t, int64_t> positions{window.no_answer, window.no_answer};
      if (!question.answers.empty()) {
        const Answer& answer = question.answers[0];
        positions = positions_of(window, answer.start, answer.start + code_points(answer.text));
      }
      examples.push_back({{"input_ids", Feature::list(std::move(e.ids))},
                          {"token_type_ids", Feature::list(std::move(e.type_ids))},
                          {"start_positions", Feature::single(positions.first)},
                          {"end_positions", Feature::single(positions.second)}});
      rows.windows.push_back(std::move(window));
    }
  }
  rows.dataset = std::make_unique<ListDataset>(std::move(examples));
  return rows;
}

}  // namespace rote::data
