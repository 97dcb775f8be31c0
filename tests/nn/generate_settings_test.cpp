// tests/nn/generate_settings_test.cpp — beams and score settings: alone as in a batch, with any number of threads, with a cache as without; lengths,
// scores, refusals. Greedy decoding of every family: generate_test.cpp.
#include "nn/generate.h"

#include <doctest/doctest.h>

#include "autograd/ops.h"
#include "kernels/pool.h"
#include "nn/models/gpt2.h"
#include "nn/models/t5.h"
#include "tensor/generator.h"
#include "tests/nn/small_writers.h"

using namespace rote;
using nn::GenerationConfig;

namespace {

using Rows = std::vector<std::vector<int64_t>>;

std::unique_ptr<nn::Model> small_gpt2() {
  const auto config = testing::small_gpt2_config();
  manual_seed(5);
  auto model = std::make_unique<nn::GPT2LMHeadModel>(config);
  model->eval();
  return model;
}

std::unique_ptr<nn::Model> small_t5() {
  const auto config = testing::small_t5_config();
  manual_seed(6);
  auto model = std::make_unique<nn::T5ForConditionalGeneration>(config);
  model->eval();
  return model;
}

// Rows of one length, padded on the left or on the right, with their mask.
nn::Batch batch_of(const Rows& rows, bool left) {
  size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  std::vector<int64_t> ids, mask;
  for (const auto& row : rows) {
    for (size_t i = 0; i < longest; ++i) {
      const size_t pad = longest - row.size();
      const bool is_token = left ? i >= pad : i < row.size();
      ids.push_back(is_token ? row[left ? i - pad : i] : 0);
      mask.push_back(is_token ? 1 : 0);
    }
  }
  nn::Batch batch;
  batch.set("input_ids", from_values({static_cast<int64_t>(rows.size()), static_cast<int64_t>(longest)}, ids));
  batch.set("attention_mask", from_values({static_cast<int64_t>(rows.size()), static_cast<int64_t>(longest)}, mask));
  return batch;
}

std::vector<int64_t> row_of(const Tensor& x, int64_t row, int64_t first = 0) {
  return {x.data<int64_t>() + row * x.size(1) + first, x.data<int64_t>() + (row + 1) * x.size(1)};
}

// Up to the first end token, which is kept.
std::vector<int64_t> ended(std::vector<int64_t> ids, int64_t end) {
  const auto at = std::find(ids.begin(), ids.end(), end);
  if (at != ids.end()) ids.erase(at + 1, ids.end());
  return ids;
}

const Rows kPrompts = {{4, 8, 15, 16}, {23}, {7, 7, 9}};

const GenerationConfig kSettings[] = {
    {.max_new_tokens = 9, .eos_token_id = {3}},
    {.max_new_tokens = 9, .num_beams = 4, .eos_token_id = {3}},
    {.max_new_tokens = 9, .num_beams = 3, .early_stopping = nn::EarlyStopping::yes, .length_penalty = 2, .num_return_sequences = 2, .repetition_penalty = 1.3,
     .no_repeat_ngram_size = 2, .eos_token_id = {3, 5, 9, 12}},
    {.max_new_tokens = 6, .min_new_tokens = 4, .num_beams = 2, .early_stopping = nn::EarlyStopping::never, .encoder_repetition_penalty = 0.8,
     .encoder_no_repeat_ngram_size = 1, .eos_token_id = {3, 5, 9, 12}},
};

}  // namespace

TEST_CASE("generate: a prompt in a batch is continued as it is alone, to the bit of its scores (66)") {
  for (const bool is_encoder : {false, true}) {
    CAPTURE(is_encoder);
    const std::unique_ptr<nn::Model> model = is_encoder ? small_t5() : small_gpt2();
    const int64_t kept = is_encoder ? 1 : 4;  // what a row of the batch begins with
    for (const GenerationConfig& config : kSettings) {
      const nn::Generated together = nn::generate(*model, batch_of(kPrompts, !is_encoder), config);
      const int64_t each = config.num_return_sequences;
      for (size_t prompt = 0; prompt < kPrompts.size(); ++prompt) {
        const nn::Generated alone = nn::generate(*model, batch_of({kPrompts[prompt]}, true), config);
        const int64_t own = is_encoder ? 1 : static_cast<int64_t>(kPrompts[prompt].size());
        for (int64_t i = 0; i < each; ++i) {
          const int64_t row = static_cast<int64_t>(prompt) * each + i;
          std::vector<int64_t> a = row_of(together.sequences, row, kept), b = row_of(alone.sequences, i, own);
          a.resize(std::min(a.size(), b.size()));
          CHECK(a == b);
          if (config.num_beams > 1) CHECK(together.sequences_scores.data<float>()[row] == alone.sequences_scores.data<float>()[i]);
        }
      }
    }
  }
}

TEST_CASE("generate: threads and the cache change nothing") {
  for (const bool is_encoder : {false, true}) {
    const std::unique_ptr<nn::Model> model = is_encoder ? small_t5() : small_gpt2();
    for (GenerationConfig config : kSettings) {
      const nn::Generated first = nn::generate(*model, batch_of(kPrompts, !is_encoder), config);
      for (const int threads : {1, 2, 5}) {
        set_num_threads(threads);
        const nn::Generated again = nn::generate(*model, batch_of(kPrompts, !is_encoder), config);
        REQUIRE(again.sequences.shape() == first.sequences.shape());
        for (int64_t row = 0; row < first.sequences.size(0); ++row) {
          CHECK(row_of(again.sequences, row) == row_of(first.sequences, row));
          if (config.num_beams > 1) CHECK(again.sequences_scores.data<float>()[row] == first.sequences_scores.data<float>()[row]);
        }
      }
      set_num_threads(0);
      config.use_cache = false;
      const nn::Generated without = nn::generate(*model, batch_of(kPrompts, !is_encoder), config);
      REQUIRE(without.sequences.shape() == first.sequences.shape());
      for (int64_t row = 0; row < first.sequences.size(0); ++row) CHECK(row_of(without.sequences, row) == row_of(first.sequences, row));
    }
  }
}

TEST_CASE("generate: a beam's score is the mean log probability that the model gives its tokens, those of the prompt not counted (64)") {
  const std::unique_ptr<nn::Model> model = small_t5();
  const GenerationConfig config{.max_new_tokens = 7, .num_beams = 4, .num_return_sequences = 4, .eos_token_id = {3}};
  const nn::Generated given = nn::generate(*model, batch_of({kPrompts[0]}, true), config);
  const NoGrad no_grad;
  for (int64_t row = 0; row < 4; ++row) {
    const std::vector<int64_t> ids = ended(row_of(given.sequences, row), 3);
    nn::Batch batch = batch_of({kPrompts[0]}, true);
    batch.set("decoder_input_ids", from_values({1, static_cast<int64_t>(ids.size())}, ids));
    const Tensor log_probs = log_softmax((*model)(batch).logits);
    double sum = 0;
    for (size_t i = 1; i < ids.size(); ++i) sum += static_cast<double>(contiguous(log_probs).data<float>()[(static_cast<int64_t>(i) - 1) * 31 + ids[i]]);
    CHECK(static_cast<double>(given.sequences_scores.data<float>()[row]) == doctest::Approx(sum / static_cast<double>(ids.size() - 1)).epsilon(1e-5));
    if (row > 0) CHECK(given.sequences_scores.data<float>()[row] <= given.sequences_scores.data<float>()[row - 1]);
  }
}

TEST_CASE("generate: fewer sequences are the first of more, and one beam is the likeliest token each time") {
  const std::unique_ptr<nn::Model> model = small_gpt2();
  GenerationConfig config{.max_new_tokens = 8, .num_beams = 5, .num_return_sequences = 5, .eos_token_id = {3}};
  const Tensor all = nn::generate(*model, batch_of({kPrompts[2]}, true), config).sequences;
  config.num_return_sequences = 2;
  const Tensor two = nn::generate(*model, batch_of({kPrompts[2]}, true), config).sequences;
  for (int64_t row = 0; row < 2; ++row) CHECK(ended(row_of(two, row, 3), 3) == ended(row_of(all, row, 3), 3));
  std::vector<int64_t> ids = kPrompts[2];
  const NoGrad no_grad;
  for (int64_t n = 0; n < 8; ++n) {
    const Tensor logits = (*model)(batch_of({ids}, true)).logits;
    ids.push_back(argmax(select(logits, 1, logits.size(1) - 1)).data<int64_t>()[0]);
  }
  CHECK(row_of(nn::generate(*model, batch_of({kPrompts[2]}, true), {.max_new_tokens = 8}).sequences, 0) == ids);
}

TEST_CASE("generate: lengths: 20 new tokens unless told, a prompt counts, positions are a limit") {
  const std::unique_ptr<nn::Model> gpt2 = small_gpt2(), t5 = small_t5();
  const nn::Batch prompt = batch_of({kPrompts[0]}, true);
  CHECK(nn::generate(*gpt2, prompt).sequences.size(1) == 24);
  CHECK(nn::generate(*t5, prompt).sequences.size(1) == 21);
  CHECK(nn::generate(*gpt2, prompt, {.max_length = 9}).sequences.size(1) == 9);
  CHECK(nn::generate(*t5, prompt, {.max_length = 9}).sequences.size(1) == 9);
  CHECK(nn::generate(*t5, prompt, {.max_length = 9, .max_new_tokens = 3}).sequences.size(1) == 4);
  CHECK(nn::generate(*gpt2, prompt, {.max_length = 41}).sequences.size(1) == 41);
  CHECK_THROWS_WITH_AS(nn::generate(*gpt2, prompt, {.max_length = 42}),
                       "generate: sequences of 42 tokens need 41 positions, the model has 40; lower max_length or max_new_tokens.", ArgumentError);
  CHECK_THROWS_WITH_AS(nn::generate(*gpt2, prompt, {.max_length = 4}),
                       "generate: max_length is 4 and the prompt has 4 tokens already; raise it, or give max_new_tokens.", ArgumentError);
  CHECK(nn::generate(*gpt2, batch_of({std::vector<int64_t>(30, 5)}, true)).sequences.size(1) == 40);
}

TEST_CASE("generate: ended rows are filled up, and what cannot be continued is refused") {
  const std::unique_ptr<nn::Model> model = small_gpt2();
  const std::vector<int64_t> free = row_of(nn::generate(*model, batch_of(kPrompts, true), {.max_new_tokens = 5}).sequences, 0, 4);
  const Tensor filled = nn::generate(*model, batch_of(kPrompts, true), {.max_new_tokens = 5, .pad_token_id = 30, .eos_token_id = {free[0]}}).sequences;
  CHECK(row_of(filled, 0, 4)[0] == free[0]);
  for (int64_t i = 5; i < filled.size(1); ++i) CHECK(row_of(filled, 0)[static_cast<size_t>(i)] == 30);
  CHECK_THROWS_WITH_AS(nn::generate(*model, batch_of(kPrompts, false)),
                       "generate: row 1 ends in padding, after which this model would go on; pad prompts of decoder-only models on the left.", ArgumentError);
  model->train();
  nn::generate(*model, batch_of(kPrompts, true), {.max_new_tokens = 1});
  CHECK(model->training());
  const NoGrad no_grad;
  for (const auto& [name, param] : model->named_parameters())
    if (name == "transformer.ln_f.bias") fill_(param, NAN);
  CHECK_THROWS_AS(nn::generate(*model, batch_of(kPrompts, true)), NonFiniteError);
}
