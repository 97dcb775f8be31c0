// tests/nn/logits_process_test.cpp — each change of scores against its line in the header, their order, and ids that are no ids.
#include "nn/logits_process.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernels/check.h"

using namespace rote;
using nn::GenerationConfig;

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
using Scores = std::vector<float>;
using Ids = std::vector<int64_t>;

struct Given {
  Ids ids, encoded = {};
  Scores scores = {1, -1, 2, -2, 0.5f};
  int64_t prompt = 1, max_length = 20, padding = 0;
};

Scores processed(const GenerationConfig& config, Given given) {
  const int64_t length = static_cast<int64_t>(given.ids.size()) + given.padding;
  for (const nn::LogitsProcessor& process : nn::logits_processors(config, given.prompt, given.max_length, static_cast<int64_t>(given.scores.size())))
    process({.ids = given.ids, .encoded = given.encoded, .length = length, .scores = given.scores});
  return given.scores;
}

}  // namespace

TEST_CASE("logits: nothing is asked for, nothing is done") {
  CHECK(nn::logits_processors({}, 3, 9, 5).empty());
  CHECK(nn::logits_processors({.repetition_penalty = 1, .eos_token_id = {2}}, 3, 9, 5).empty());
}

TEST_CASE("logits: repetition_penalty changes each distinct token once, the encoder's by the inverse") {
  CHECK(processed({.repetition_penalty = 2}, {.ids = {0, 1, 0, 0}}) == Scores{0.5f, -2, 2, -2, 0.5f});
  CHECK(processed({.encoder_repetition_penalty = 2}, {.ids = {4}, .encoded = {0, 1, 1}}) == Scores{2, -0.5f, 2, -2, 0.5f});
  CHECK(processed({.repetition_penalty = 2}, {.ids = {99, 0}}) == Scores{0.5f, -1, 2, -2, 0.5f});  // an id that is not scored
}

TEST_CASE("logits: no_repeat_ngram_size bans what would complete a run that is there") {
  CHECK(processed({.no_repeat_ngram_size = 1}, {.ids = {3, 3, 0}}) == Scores{kNever, -1, 2, kNever, 0.5f});
  CHECK(processed({.no_repeat_ngram_size = 2}, {.ids = {1, 2, 1, 3, 1}}) == Scores{1, -1, kNever, kNever, 0.5f});
  CHECK(processed({.no_repeat_ngram_size = 3}, {.ids = {1, 2, 4, 1, 2}}) == Scores{1, -1, 2, -2, kNever});
  CHECK(processed({.no_repeat_ngram_size = 3}, {.ids = {1}}) == Given{}.scores);
  CHECK(processed({.encoder_no_repeat_ngram_size = 2}, {.ids = {0, 1}, .encoded = {1, 4, 0, 2}}) == Scores{1, -1, 2, -2, kNever});
}

TEST_CASE("logits: words and biases bear on the last id of a sequence, an end token alone is no bad word") {
  const GenerationConfig words{.bad_words_ids = {{4}, {1, 2}, {0, 1, 3}, {0}}, .eos_token_id = {0}};
  CHECK(processed(words, {.ids = {2, 1}}) == Scores{1, -1, kNever, -2, kNever});
  CHECK(processed(words, {.ids = {0, 1}}) == Scores{1, -1, kNever, kNever, kNever});
  CHECK(processed(words, {.ids = {3}}) == Scores{1, -1, 2, -2, kNever});
  CHECK(processed({.sequence_bias = {{{0}, 2.5}, {{1, 2}, -4}}}, {.ids = {1}}) == Scores{3.5f, -1, -2, -2, 0.5f});
}

TEST_CASE("logits: no end before min_length, which counts padding, or before min_new_tokens, which does not") {
  const Scores banned{1, -1, 2, kNever, kNever};
  CHECK(processed({.min_length = 4, .eos_token_id = {3, 4}}, {.ids = {1, 1, 1}}) == banned);
  CHECK(processed({.min_length = 4, .eos_token_id = {3, 4}}, {.ids = {1, 1, 1}, .padding = 1}) == Given{}.scores);
  CHECK(processed({.min_new_tokens = 2, .eos_token_id = {3, 4}}, {.ids = {1, 1, 1}, .prompt = 2}) == banned);
  CHECK(processed({.min_new_tokens = 1, .eos_token_id = {3, 4}}, {.ids = {1, 1, 1}, .prompt = 2}) == Given{}.scores);
  CHECK(processed({.min_length = 4, .eos_token_id = {77}}, {.ids = {1}}) == Given{}.scores);  // that one is never scored
}

TEST_CASE("logits: forced tokens stand alone, the first at length 1, the last before max_length") {
  CHECK(processed({.forced_bos_token_id = 2}, {.ids = {0}}) == Scores{kNever, kNever, 0, kNever, kNever});
  CHECK(processed({.forced_bos_token_id = 2}, {.ids = {0, 1}}) == Given{}.scores);
  CHECK(processed({.forced_eos_token_id = {1, 2}}, {.ids = {0, 1}, .max_length = 3}) == Scores{kNever, 0, 0, kNever, kNever});
  CHECK(processed({.forced_eos_token_id = {1, 2}}, {.ids = {0, 1}, .max_length = 4}) == Given{}.scores);
}

TEST_CASE("logits: suppressed tokens are never chosen, some only at the beginning, and none that is forced (68)") {
  const Scores without{kNever, -1, 2, kNever, 0.5f};
  CHECK(processed({.suppress_tokens = {0, 3}}, {.ids = {1, 2}}) == without);
  CHECK(processed({.begin_suppress_tokens = {0, 3}}, {.ids = {1, 2}, .prompt = 2}) == without);
  CHECK(processed({.begin_suppress_tokens = {0, 3}}, {.ids = {1, 2, 4}, .prompt = 2}) == Given{}.scores);
  CHECK(processed({.forced_bos_token_id = 1, .begin_suppress_tokens = {0, 3}}, {.ids = {1, 2}}) == without);  // behind the forced one
  const char* const fault = "generate: the id 3 is forced and suppressed as well; leave it out of forced_bos_token_id and forced_eos_token_id, or out of suppress_tokens.";
  CHECK_THROWS_WITH_AS((GenerationConfig{.forced_bos_token_id = 3, .suppress_tokens = {1, 3}}.check()), fault, ArgumentError);
  CHECK_THROWS_WITH_AS((GenerationConfig{.forced_eos_token_id = {2, 3}, .suppress_tokens = {3}}.check()), fault, ArgumentError);
  CHECK_NOTHROW((GenerationConfig{.forced_eos_token_id = {2}, .suppress_tokens = {3}}.check()));
}

TEST_CASE("logits: an end is made likelier step by step, and what is no number goes") {
  const GenerationConfig decay{.exponential_decay_length_penalty = std::pair<int64_t, double>(1, 2), .eos_token_id = {1}};
  CHECK(processed(decay, {.ids = {0, 0}}) == Given{}.scores);
  CHECK(processed(decay, {.ids = {0, 0, 0}})[1] == 0);     // -1 + 1·(2 - 1)
  CHECK(processed(decay, {.ids = {0, 0, 0, 0}})[1] == 2);  // -1 + 1·(4 - 1)
  GenerationConfig twice = decay;
  twice.eos_token_id = {1, 1};
  CHECK(processed(twice, {.ids = {0, 0, 0, 0}})[1] == 2);
  const float most = std::numeric_limits<float>::max();
  CHECK(processed({.remove_invalid_values = true}, {.ids = {0}, .scores = {NAN, INFINITY, kNever, 3, -3}}) == Scores{0, most, -most, 3, -3});
}

TEST_CASE("logits: renormalize_logits makes probabilities that sum to one, after all else") {
  double sum = 0;
  for (const float score : processed({.suppress_tokens = {2}, .renormalize_logits = true}, {.ids = {0}})) sum += std::exp(static_cast<double>(score));
  CHECK(sum == doctest::Approx(1).epsilon(1e-6));
  CHECK(processed({.renormalize_logits = true}, {.ids = {0}, .scores = {kNever, kNever}}) == Scores{kNever, kNever});
}

TEST_CASE("logits: ids outside the vocabulary are refused by the setting's name") {
  const auto refusal = [](const GenerationConfig& config) {
    try {
      nn::logits_processors(config, 1, 9, 5);
    } catch (const ArgumentError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refusal({.suppress_tokens = {5}}) == "generate: suppress_tokens has the id 5; the model's lie in 0…4.");
  CHECK(refusal({.bad_words_ids = {{1, -1}}}) == "generate: bad_words_ids has the id -1; the model's lie in 0…4.");
  CHECK(refusal({.forced_bos_token_id = 9}) == "generate: forced_bos_token_id has the id 9; the model's lie in 0…4.");
  CHECK(refusal({.eos_token_id = {50}}) == "");
}
