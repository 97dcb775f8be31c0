// trainer/text/encoding.cpp — cutting, joining and padding of rows.
#include "trainer/text/encoding.h"

#include <algorithm>

#include "kernels/check.h"

namespace rote::text {
namespace {

// Calls f(list of a, the same list of b) for every list that has one entry per token.
template <class A, class B, class F>
void for_each_list(A& a, B& b, const F& f) {
  f(a.ids, b.ids);
  f(a.type_ids, b.type_ids);
  f(a.attention_mask, b.attention_mask);
  f(a.tokens, b.tokens);
  f(a.offsets, b.offsets);
  f(a.special_tokens_mask, b.special_tokens_mask);
  f(a.word_ids, b.word_ids);
  f(a.sequence_ids, b.sequence_ids);
}

Encoding slice(const Encoding& row, int64_t begin, int64_t end) {
  Encoding out;
  for_each_list(out, row, [&](auto& to, const auto& from) {
    if (!from.empty()) to.assign(from.begin() + begin, from.begin() + end);
  });
  return out;
}

void append(Encoding& row, const Encoding& next) {
  for_each_list(row, next, [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); });
}

Encoding joined(const Encoding& row, const Encoding& next) {
  Encoding out;
  append(out, row);
  append(out, next);
  return out;
}

int64_t length_of(const Encoding& row) { return static_cast<int64_t>(row.ids.size()); }

void pad_to(Encoding& row, int64_t length, const Padding& how, Fields fields) {
  for (Encoding& rest : row.overflowing) pad_to(rest, length, how, fields);
  const int64_t missing = length - length_of(row);
  if (missing <= 0) return;
  const auto n = static_cast<size_t>(missing);
  const auto fill = [&](auto& list, const auto& value) {
    list.insert(how.direction == Side::left ? list.begin() : list.end(), n, value);
  };
  fill(row.ids, how.pad_id);
  fill(row.type_ids, how.pad_type_id);
  fill(row.attention_mask, 0);
  if (fields == Fields::ids) return;
  fill(row.tokens, how.pad_token);
  fill(row.offsets, std::pair<int64_t, int64_t>(0, 0));
  fill(row.special_tokens_mask, 1);
  fill(row.word_ids, -1);
  fill(row.sequence_ids, -1);
}

}  // namespace

void truncate(Encoding& row, int64_t max_length, const Truncation& how, Fields fields) {
  const int64_t n = length_of(row);
  if (max_length >= n) return;
  ROTE_CHECK(max_length == 0 || how.stride < max_length, ArgumentError, "truncation: stride is ", how.stride, " but only ", max_length,
             " tokens of the text fit; the stride must be smaller.");
  const bool right = how.direction == Side::right;
  const bool overflow = fields == Fields::all;
  if (max_length == 0) {
    Encoding whole = std::move(row);
    row = Encoding{};
    whole.overflowing.clear();
    if (overflow) row.overflowing.push_back(std::move(whole));
    return;
  }
  Encoding kept = right ? slice(row, 0, max_length) : slice(row, n - max_length, n);
  for (int64_t done = max_length, step = max_length - how.stride; overflow && done < n; done += step) {
    const int64_t begin = done - how.stride;
    const int64_t end = std::min(begin + max_length, n);
    kept.overflowing.push_back(right ? slice(row, begin, end) : slice(row, n - end, n - begin));
  }
  row = std::move(kept);
}

void truncate_texts(Encoding& first, Encoding* second, int64_t max_length, const Truncation& how, Fields fields) {
  const int64_t n1 = length_of(first);
  const int64_t n2 = second != nullptr ? length_of(*second) : 0;
  if (max_length == 0) {
    truncate(first, 0, how, fields);
    if (second != nullptr) truncate(*second, 0, how, fields);
    return;
  }
  const int64_t surplus = n1 + n2 - max_length;
  if (surplus <= 0) return;

  if (how.strategy == TruncationStrategy::longest_first) {
    if (second == nullptr) return truncate(first, max_length, how, fields);
    // The longer text is cut down to the shorter one; if that is not enough both get half, the longer one what is odd.
    int64_t shorter = std::min(n1, n2);
    int64_t longer = std::max(shorter, max_length - shorter);
    if (shorter + longer > max_length) {
      shorter = max_length / 2;
      longer = max_length - shorter;
    }
    truncate(first, n1 > n2 ? longer : shorter, how, fields);
    truncate(*second, n1 > n2 ? shorter : longer, how, fields);
    return;
  }
  const bool cut_first = how.strategy == TruncationStrategy::only_first;
  ROTE_CHECK(cut_first || second != nullptr, ArgumentError,
             "truncation: only_second was asked for but there is one text; give a pair, or use longest_first or only_first.");
  const int64_t n = cut_first ? n1 : n2;
  ROTE_CHECK(n > surplus, ArgumentError, "truncation: ", surplus, " tokens must go but the ", cut_first ? "first" : "second",
             " text has only ", n, "; raise max_length or use longest_first.");
  truncate(cut_first ? first : *second, n - surplus, how, fields);
}

void join(Encoding& row, const Encoding& next) {
  std::vector<Encoding> overflowing;
  for (const Encoding& rest : row.overflowing) {
    overflowing.push_back(joined(rest, next));
    for (const Encoding& other : next.overflowing) overflowing.push_back(joined(rest, other));
  }
  for (const Encoding& other : next.overflowing) overflowing.push_back(joined(row, other));
  append(row, next);
  row.overflowing = std::move(overflowing);
}

void pad(std::vector<Encoding>& rows, const Padding& how, Fields fields) {
  int64_t length = how.length.value_or(0);
  if (!how.length) {
    for (const Encoding& row : rows) length = std::max(length, length_of(row));
  }
  const int64_t multiple = how.pad_to_multiple_of.value_or(0);
  if (multiple > 0) length = (length + multiple - 1) / multiple * multiple;
  for (Encoding& row : rows) pad_to(row, length, how, fields);
}

}  // namespace rote::text
