// tests/trainer/text_encoding_test.cpp — truncation, joining, padding and templates.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/check.h"
#include "trainer/text/encoding.h"
#include "trainer/text/processor.h"

using namespace rote::text;

namespace {

using Ids = std::vector<int64_t>;

// A row of n tokens with ids first, first + 1, …
Encoding row_of(int64_t n, int64_t first, int64_t sequence = 0) {
  Encoding row;
  for (int64_t i = 0; i < n; ++i) {
    row.ids.push_back(first + i);
    row.tokens.push_back(std::to_string(first + i));
    row.offsets.emplace_back(i, i + 1);
    row.word_ids.push_back(i);
  }
  row.type_ids.assign(row.ids.size(), sequence);
  row.attention_mask.assign(row.ids.size(), 1);
  row.special_tokens_mask.assign(row.ids.size(), 0);
  row.sequence_ids.assign(row.ids.size(), sequence);
  return row;
}

std::vector<Ids> overflow_of(const Encoding& row) {
  std::vector<Ids> ids;
  for (const Encoding& rest : row.overflowing) ids.push_back(rest.ids);
  return ids;
}

// The lengths that two texts are cut to.
std::pair<size_t, size_t> cut(int64_t n1, int64_t n2, int64_t max_length, TruncationStrategy strategy = TruncationStrategy::longest_first) {
  Encoding first = row_of(n1, 0), second = row_of(n2, 100);
  truncate_texts(first, &second, max_length, {.strategy = strategy}, Fields::ids);
  return {first.ids.size(), second.ids.size()};
}

using Lengths = std::pair<size_t, size_t>;

}  // namespace

TEST_CASE("truncation: overflowing rows repeat stride tokens, from the side that was cut") {
  Encoding right = row_of(7, 0);
  truncate(right, 3, {.stride = 1}, Fields::all);
  CHECK(right.ids == Ids{0, 1, 2});
  CHECK(overflow_of(right) == std::vector<Ids>{{2, 3, 4}, {4, 5, 6}});
  CHECK(right.overflowing[1].tokens == std::vector<std::string>{"4", "5", "6"});

  Encoding left = row_of(6, 0);
  truncate(left, 3, {.stride = 1, .direction = Side::left}, Fields::all);
  CHECK(left.ids == Ids{3, 4, 5});
  CHECK(overflow_of(left) == std::vector<Ids>{{1, 2, 3}, {0, 1}});

  Encoding nothing = row_of(2, 0);
  truncate(nothing, 0, {}, Fields::all);
  CHECK(nothing.ids.empty());
  CHECK(overflow_of(nothing) == std::vector<Ids>{{0, 1}});

  Encoding whole = row_of(3, 0);
  truncate(whole, 3, {.stride = 9}, Fields::all);
  CHECK(whole.ids.size() == 3);
  CHECK(whole.overflowing.empty());
}

TEST_CASE("truncation: rows and overflowing rows together hold every token") {
  for (int64_t n = 0; n < 12; ++n) {
    for (int64_t max_length = 1; max_length < 6; ++max_length) {
      for (int64_t stride = 0; stride < max_length; ++stride) {
        for (const Side side : {Side::left, Side::right}) {
          CAPTURE(n);
          CAPTURE(max_length);
          CAPTURE(stride);
          Encoding row = row_of(n, 0);
          truncate(row, max_length, {.stride = stride, .direction = side}, Fields::all);
          std::vector<bool> seen(static_cast<size_t>(n));
          std::vector<Ids> rows = overflow_of(row);
          rows.insert(rows.begin(), row.ids);
          for (size_t i = 0; i < rows.size(); ++i) {
            CHECK(rows[i].size() <= static_cast<size_t>(max_length));
            for (const int64_t id : rows[i]) seen[static_cast<size_t>(id)] = true;
            if (i == 0) continue;
            const auto shared = std::count_if(rows[i].begin(), rows[i].end(), [&](int64_t id) {
              return std::find(rows[i - 1].begin(), rows[i - 1].end(), id) != rows[i - 1].end();
            });
            CHECK(shared == stride);
          }
          CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
        }
      }
    }
  }
}

TEST_CASE("truncation: the longest first down to the other, then both to half") {
  CHECK(cut(2, 4, 7) == Lengths{2, 4});
  CHECK(cut(2, 8, 7) == Lengths{2, 5});
  CHECK(cut(8, 2, 7) == Lengths{5, 2});
  CHECK(cut(8, 8, 7) == Lengths{3, 4});
  CHECK(cut(9, 8, 7) == Lengths{4, 3});
  CHECK(cut(0, 8, 7) == Lengths{0, 7});
  CHECK(cut(3, 3, 0) == Lengths{0, 0});
  CHECK(cut(8, 2, 7, TruncationStrategy::only_first) == Lengths{5, 2});
  CHECK(cut(2, 8, 7, TruncationStrategy::only_second) == Lengths{2, 5});
}

TEST_CASE("truncation: what cannot be done is refused") {
  Encoding first = row_of(3, 0), second = row_of(9, 0);
  CHECK_THROWS_WITH_AS(
      truncate_texts(first, &second, 5, {.strategy = TruncationStrategy::only_first}, Fields::all),
      "truncation: 7 tokens must go but the first text has only 3; raise max_length or use longest_first.", rote::ArgumentError);
  CHECK_THROWS_AS(truncate_texts(second, nullptr, 5, {.strategy = TruncationStrategy::only_second}, Fields::all), rote::ArgumentError);
  CHECK_THROWS_WITH_AS(truncate(second, 2, {.stride = 2}, Fields::all),
                       "truncation: stride is 2 but only 2 tokens of the text fit; the stride must be smaller.", rote::ArgumentError);
}

TEST_CASE("join: overflowing rows meet the other side and its overflowing rows") {
  Encoding a = row_of(1, 0), b = row_of(1, 10);
  a.overflowing = {row_of(1, 1), row_of(1, 2)};
  b.overflowing = {row_of(1, 11)};
  join(a, b);
  CHECK(a.ids == Ids{0, 10});
  CHECK(overflow_of(a) == std::vector<Ids>{{1, 10}, {1, 11}, {2, 10}, {2, 11}, {0, 11}});
}

TEST_CASE("padding: to the longest row, a length or a multiple, on either side") {
  const auto padded = [](Padding how, Fields fields) {
    std::vector<Encoding> rows = {row_of(1, 5), row_of(3, 7)};
    rows[0].overflowing = {row_of(2, 9)};
    pad(rows, how, fields);
    return rows;
  };
  const std::vector<Encoding> right = padded({.pad_id = 4, .pad_type_id = 2}, Fields::all);
  CHECK(right[0].ids == Ids{5, 4, 4});
  CHECK(right[0].type_ids == Ids{0, 2, 2});
  CHECK(right[0].attention_mask == Ids{1, 0, 0});
  CHECK(right[0].special_tokens_mask == Ids{0, 1, 1});
  CHECK(right[0].word_ids == Ids{0, -1, -1});
  CHECK(right[0].sequence_ids == Ids{0, -1, -1});
  CHECK(right[0].tokens == std::vector<std::string>{"5", "[PAD]", "[PAD]"});
  CHECK(right[0].overflowing[0].ids == Ids{9, 10, 4});
  CHECK(right[1].ids == Ids{7, 8, 9});

  CHECK(padded({.direction = Side::left}, Fields::all)[0].ids == Ids{0, 0, 5});
  CHECK(padded({.length = 2}, Fields::all)[1].ids.size() == 3);
  CHECK(padded({.pad_to_multiple_of = 4}, Fields::all)[1].ids.size() == 4);
  CHECK(padded({.length = 5, .pad_to_multiple_of = 4}, Fields::all)[0].ids.size() == 8);
  CHECK(padded({.pad_to_multiple_of = 3}, Fields::all)[0].ids.size() == 3);
}

TEST_CASE("template: special tokens around the texts, type ids by place") {
  PostProcessor processor;
  const TemplatePiece cls{-1, 7, {50, 51}, {"[C]", "[D]"}}, sep{-1, 8, {60}, {"[S]"}};
  processor.single = {cls, {0, 3, {}, {}}, sep};
  processor.pair = {{1, 4, {}, {}}, sep, {0, 5, {}, {}}};
  CHECK(processor.added_tokens(false) == 3);
  CHECK(processor.added_tokens(true) == 1);

  const Encoding one = processor.process(row_of(2, 0), std::nullopt, {});
  CHECK(one.ids == Ids{50, 51, 0, 1, 60});
  CHECK(one.type_ids == Ids{7, 7, 3, 3, 8});
  CHECK(one.special_tokens_mask == Ids{1, 1, 0, 0, 1});
  CHECK(one.sequence_ids == Ids{-1, -1, 0, 0, -1});
  CHECK(one.word_ids == Ids{-1, -1, 0, 1, -1});

  const Encoding two = processor.process(row_of(2, 0), row_of(1, 10, 1), {});
  CHECK(two.ids == Ids{10, 60, 0, 1});
  CHECK(two.type_ids == Ids{4, 8, 5, 5});
  CHECK(two.sequence_ids == Ids{1, -1, 0, 0});
  CHECK(processor.process(row_of(2, 0), row_of(1, 10, 1), {.special_tokens = false}).ids == Ids{10, 0, 1});

  const Encoding bare = PostProcessor{}.process(row_of(1, 0), row_of(1, 10, 1), {});
  CHECK(bare.ids == Ids{0, 10});
  CHECK(bare.type_ids == Ids{0, 1});
}
