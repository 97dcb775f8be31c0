// tests/trainer/neftune_test.cpp — noise on embeddings: how much, when, and that it follows from samples alone.
#include "trainer/neftune.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/mode.h"
#include "nn/embedding.h"
#include "nn/loss.h"
#include "tests/trainer/small_run.h"

namespace rote::testing {

namespace {

constexpr int64_t kWidth = 6;

// Two embeddings; the input's goes through the first alone.
struct TwoTables : nn::Model {
  nn::Embedding tokens{20, kWidth}, places{20, kWidth};
  Tensor from_tokens, from_places;

  TwoTables() { add_modules({{"tokens", tokens}, {"places", places}}); }
  nn::Signature signature() const override { return {.inputs = "input_ids[B,T] i64", .labels = ""}; }
  nn::ModelOutput forward(const nn::Batch& in) override {
    from_tokens = tokens(in["input_ids"]);
    from_places = places(from_values({3}, std::vector<int64_t>{0, 1, 2}));
    return {.logits = from_tokens};
  }
};

double difference(const Tensor& a, const Tensor& b) {
  double most = 0;
  for (int64_t i = 0; i < a.numel(); ++i) most = std::max(most, std::abs(static_cast<double>(a.data<float>()[i]) - static_cast<double>(b.data<float>()[i])));
  return most;
}

std::string trained_hash(const std::optional<double>& alpha, int64_t batch, int64_t accumulation, int64_t threads = 1) {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.per_device_train_batch_size = batch;
  args.gradient_accumulation_steps = accumulation;
  if (alpha) args.neftune_noise_alpha = *alpha;
  SmallRunOptions options{.rows = 16};
  options.trainer.rote.num_threads = threads;
  SmallRun run(args, std::move(options));
  run.train();
  return run.hash();
}

}  // namespace

TEST_CASE("neftune: uniform noise within alpha / sqrt(T C) on the input's embedding, in training only, until it goes") {
  TwoTables model;
  const Tensor ids = from_values({2, 3}, std::vector<int64_t>{1, 2, 3, 4, 5, 6});
  nn::Batch batch;
  batch.set("input_ids", ids);
  const NoGrad guard;
  model(batch);
  const Tensor plain = model.from_tokens, plain_places = model.from_places;
  {
    Neftune neftune(model, 5.0);
    neftune.expect(ids, 3);
    const RunScopeGuard scope({.seed = 7, .first_sample = 0, .samples = 2});
    model(batch);
    const double bound = 5.0 / std::sqrt(3.0 * kWidth), most = difference(model.from_tokens, plain);
    CHECK(most <= bound * (1 + 1e-6));
    CHECK(most > 0.7 * bound);  // of 36 draws
    CHECK(difference(model.from_places, plain_places) == 0);
    model.eval();
    model(batch);
    CHECK(difference(model.from_tokens, plain) == 0);
    model.train();
  }
  model(batch);
  CHECK(difference(model.from_tokens, plain) == 0);
}

TEST_CASE("neftune: the split of an update, padding and threads move no bit") {
  const std::string hash = trained_hash(5.0, 8, 1);
  CHECK(hash != trained_hash({}, 8, 1));
  CHECK(hash != trained_hash(1.0, 8, 1));
  CHECK(hash == trained_hash(5.0, 4, 2));
  CHECK(hash == trained_hash(5.0, 1, 8, 3));
}

TEST_CASE("neftune: a model without an embedding is refused") {
  struct Bare : nn::Model {
    nn::Signature signature() const override { return {}; }
    nn::ModelOutput forward(const nn::Batch&) override { return {}; }
  } model;
  CHECK_THROWS_WITH_AS(Neftune(model, 1.0), "neftune_noise_alpha: the model has no Embedding whose output could take the noise; leave it out.", ArgumentError);
}

}  // namespace rote::testing
