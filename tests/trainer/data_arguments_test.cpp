// tests/trainer/data_arguments_test.cpp — the arguments of tasks: their other names, and what a task does not look at.
#include "trainer/data_arguments.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "trainer/parser.h"

namespace rote::testing {

namespace {

DataArguments parsed(const std::vector<std::string>& words) { return std::get<0>(parse_words(words, Usage{"test", ""}, DataArguments{}).values); }

}  // namespace

TEST_CASE("data arguments: the names of the reference's scripts are one length") {
  for (const char* name : {"--max_seq_length", "--max_length", "--block_size", "--max_source_length"}) {
    CAPTURE(std::string(name));
    CHECK(parsed({name, "64"}).max_seq_length == 64);
  }
  CHECK(parsed({"--task", "masked-lm", "--line_by_line", "--mlm_probability", "0.2"}).mlm_probability == 0.2);
  CHECK_FALSE(parsed({"--no_keep_linebreaks"}).keep_linebreaks);
  CHECK_THROWS_AS(parsed({"--mlm_probability", "1.5"}), ArgumentError);
}

TEST_CASE("data arguments: what a task does not look at is said, what it looks at and what is not given is not") {
  CHECK(without_effect(parsed({"--task", "causal-lm", "--mlm_probability", "0.2", "--line_by_line"})) ==
        std::vector<std::string>{"--line_by_line: has no effect for --task causal-lm.", "--mlm_probability: has no effect for --task causal-lm."});
  CHECK(without_effect(parsed({"--task", "masked-lm", "--mlm_probability", "0.2", "--line_by_line"})).empty());
  CHECK(without_effect(parsed({"--source_prefix", "x", "--max_target_length", "9"})).size() == 2);
  CHECK(without_effect(parsed({"--task", "seq2seq", "--source_prefix", "x", "--max_target_length", "9", "--label_column_name", "y"})).empty());
  CHECK(without_effect(parsed({"--task", "question-answering", "--doc_stride", "9", "--label_all_tokens", "--text_column_names", "x"})) ==
        std::vector<std::string>{"--text_column_names: has no effect for --task question-answering.", "--label_all_tokens: has no effect for --task question-answering."});
  CHECK(without_effect(parsed({"--task", "token-classification", "--label_all_tokens", "--return_entity_level_metrics", "--label_column_name", "y"})).empty());
  CHECK(without_effect(parsed({"--task", "image-classification", "--label_column_name", "y", "--image_column_name", "z"})).empty());
  CHECK(without_effect(parsed({"--image_column_name", "z"})).size() == 1);
  for (const std::string& task : words_of(Task{})) CHECK(without_effect(parsed({"--task", task})).empty());
}

}  // namespace rote::testing
