// tests/trainer/answer_rows_test.cpp — questions and contexts into rows, and where answers then stand.
#include "trainer/data/answer_rows.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "tests/trainer/tiny_model.h"

namespace rote::testing {

namespace {

using Ids = std::vector<int64_t>;

text::Tokenizer tiny_tokenizer(const std::string& padding_side = "right") {
  const TempFolder folder;
  folder.file("tokenizer.json", tiny_tokenizer_json());
  folder.file("tokenizer_config.json", "{\"padding_side\": \"" + padding_side + "\", \"cls_token\": \"[CLS]\", \"pad_token\": \"[PAD]\"}");
  return text::Tokenizer::from_folder(folder.path());
}

data::Questions questions(const std::string& context, const std::string& answer, int64_t start, const std::string& question = "  good ?") {
  const std::string answers = answer.empty() ? "[]" : "[{\"text\": \"" + answer + "\", \"answer_start\": " + std::to_string(start) + "}]";
  return data::parse_question_lines("{\"id\": \"q\", \"question\": \"" + question + "\", \"context\": \"" + context + "\", \"answers\": " + answers + "}", "x.jsonl");
}

struct Row {
  Ids ids;
  int64_t start, end;
};
Row row_of(const data::AnswerRows& rows, int64_t i) {
  const data::Example example = rows.dataset->at(i);
  return {data::find(example, "input_ids")->whole, data::find(example, "start_positions")->whole[0], data::find(example, "end_positions")->whole[0]};
}

}  // namespace

TEST_CASE("answer_rows: question, then context; the answer's first and last token by code points") {
  const text::Tokenizer tokenizer = tiny_tokenizer();
  // 2 good ? 3 | film (0,4) ##s (4,5) was (6,9) \u00e9 (10,11) fine (12,16) . (16,17) | 3
  const data::AnswerRows rows = data::answer_rows(questions("films was \u00e9 fine.", "was \u00e9 fine", 6), tokenizer, {.max_length = 32, .stride = 0});
  REQUIRE(rows.windows.size() == 1);
  const Row row = row_of(rows, 0);
  CHECK(row.ids == Ids{2, 4, 1, 3, 8, 19, 14, 1, 6, 24, 3});
  CHECK(row.start == 6);
  CHECK(row.end == 8);
  CHECK(data::find(rows.dataset->at(0), "token_type_ids")->whole == Ids{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1});
  CHECK(rows.windows[0].question == 0);
  CHECK(rows.windows[0].no_answer == 0);
  CHECK(rows.windows[0].first == 4);
  CHECK(rows.windows[0].offsets == std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 5}, {6, 9}, {10, 11}, {12, 16}, {16, 17}});
  // Part of a word is the word's piece; the last token of a row is itself, not what follows it.
  const Row part = row_of(data::answer_rows(questions("films was fine", "ilm", 1), tokenizer, {.max_length = 32, .stride = 0}), 0);
  CHECK(part.start == 4);
  CHECK(part.end == 4);
  const Row last = row_of(data::answer_rows(questions("films was fine", "fine", 10), tokenizer, {.max_length = 32, .stride = 0}), 0);
  CHECK(last.start == 7);
  CHECK(last.end == 7);
  const Row all = row_of(data::answer_rows(questions("films was fine", "films was fine", 0), tokenizer, {.max_length = 32, .stride = 0}), 0);
  CHECK(all.start == 4);
  CHECK(all.end == 7);
}

TEST_CASE("answer_rows: a long context makes rows that overlap; one that does not hold the answer whole has none") {
  const text::Tokenizer tokenizer = tiny_tokenizer();
  // Eight tokens of context in rows of four that share two: good bad fine dull | fine dull film plot | film plot cast the.
  const data::AnswerRows rows = data::answer_rows(questions("good bad fine dull film plot cast the", "dull film", 14, "good"), tokenizer, {.max_length = 8, .stride = 2});
  REQUIRE(rows.windows.size() == 3);
  CHECK(row_of(rows, 0).ids == Ids{2, 4, 3, 4, 5, 6, 7, 3});
  const Ids starts = {row_of(rows, 0).start, row_of(rows, 1).start, row_of(rows, 2).start}, ends = {row_of(rows, 0).end, row_of(rows, 1).end, row_of(rows, 2).end};
  CHECK(starts == Ids{0, 4, 0});
  CHECK(ends == Ids{0, 5, 0});
  CHECK(rows.windows[1].offsets.front() == std::pair<int64_t, int64_t>{9, 13});
  const data::AnswerRows none = data::answer_rows(questions("good bad fine dull film", "", 0, "good"), tokenizer, {.max_length = 8, .stride = 2});
  CHECK(row_of(none, 0).start == 0);
  CHECK(row_of(none, 1).end == 0);
}

TEST_CASE("answer_rows: context, then question where the tokenizer pads on the left") {
  const text::Tokenizer tokenizer = tiny_tokenizer("left");
  const data::AnswerRows rows = data::answer_rows(questions("films was fine", "fine", 10), tokenizer, {.max_length = 32, .stride = 0});
  const Row row = row_of(rows, 0);
  CHECK(row.ids == Ids{2, 8, 19, 14, 6, 3, 4, 1, 3});
  CHECK(row.start == 4);
  CHECK(row.end == 4);
  CHECK(rows.windows[0].first == 1);
}

TEST_CASE("answer_rows: an empty context has no place for an answer; one without room is refused with its question") {
  const text::Tokenizer tokenizer = tiny_tokenizer();
  const data::AnswerRows empty = data::answer_rows(questions("", "", 0), tokenizer, {.max_length = 32, .stride = 0});
  CHECK(empty.windows[0].offsets.empty());
  CHECK(row_of(empty, 0).start == 0);
  CHECK_THROWS_WITH_AS(data::answer_rows(questions("good bad fine dull film", "", 0, "good good good good"), tokenizer, {.max_length = 9, .stride = 2}),
                       "x.jsonl: question q: truncation: stride is 2 but only 2 tokens of the text fit; the stride must be smaller.", ArgumentError);
  CHECK_THROWS_AS(data::answer_rows(questions("good bad", "", 0, "good good good good"), tokenizer, {.max_length = 6, .stride = 0}), ArgumentError);
}

}  // namespace rote::testing
