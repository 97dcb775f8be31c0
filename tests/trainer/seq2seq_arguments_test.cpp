// tests/trainer/seq2seq_arguments_test.cpp — Seq2SeqTrainingArguments: every row and rule of TrainingArguments, and the five after them.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "trainer/argument_text.h"
#include "trainer/parser.h"
#include "trainer/seq2seq_arguments.h"

using namespace rote;

TEST_CASE("seq2seq arguments: the rows of TrainingArguments come first, in their order") {
  const ValueMap dict = to_dict(Seq2SeqTrainingArguments{}), base = to_dict(TrainingArguments{});
  REQUIRE(dict.size() == base.size() + 5);
  for (size_t i = 0; i < base.size(); ++i) CHECK(dict.begin()[i] == base.begin()[i]);
  const char* own[] = {"sortish_sampler", "predict_with_generate", "generation_max_length", "generation_num_beams", "generation_config"};
  for (size_t i = 0; i < 5; ++i) CHECK(dict.begin()[base.size() + i].first == own[i]);
}

TEST_CASE("seq2seq arguments: lines and rules are those of TrainingArguments") {
  const Usage usage{.program = "p", .about = ""};
  const auto args = std::get<0>(parse_words({"--eval_strategy", "steps", "--logging_steps", "20", "--no_cuda"}, usage, Seq2SeqTrainingArguments{}).values);
  CHECK(args.do_eval);
  CHECK(*args.eval_steps == 20);
  CHECK(args.use_cpu);
  CHECK_THROWS_WITH_AS(parse_words({"--logging_steps", "2.5"}, usage, Seq2SeqTrainingArguments{}),
                       "--logging_steps: is 2.5; above 1 it must be a whole number of steps, below 1 a share of the run.", ArgumentError);
}
