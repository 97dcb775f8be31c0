// bench/step.h — a training step of MiniLM, and a clock: what the programs that time two ways in turns share.
#pragma once

#include <chrono>
#include <memory>

#include "autograd/backward.h"
#include "autograd/mode.h"
#include "nn/models/bert_heads.h"
#include "optim/adamw.h"

namespace rote::bench {

template <class F>
double seconds(const F& f) {
  const auto begun = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// MiniLM with a classifier: 6 layers of 384, 32 rows of 64 tokens.
struct Step {
  static std::shared_ptr<nn::BertConfig> config() {
    auto config = std::make_shared<nn::BertConfig>();
    config->model_type = "bert";
    config->num_hidden_layers = 6;
    config->hidden_size = 384;
    config->num_attention_heads = 12;
    config->intermediate_size = 1536;
    config->problem_type = "single_label_classification";
    return config;
  }
  static constexpr int64_t B = 32, T = 64;
  nn::BertForSequenceClassification model{config()};
  optim::AdamW adamw{model.named_parameters(), {.lr = 1e-4}};
  nn::Batch batch;
  uint64_t consumed = 0;

  Step() {
    const Tensor ids = arange(B * T);
    for (int64_t i = 0; i < B * T; ++i) ids.data<int64_t>()[i] = i * 7919 % 30522;
    batch.set("input_ids", alias(ids, {B, T}, {T, 1}, 0));
    batch.set("attention_mask", full({B, T}, 1, {.dtype = DType::i64}));
    batch.set("labels", full({B}, 1, {.dtype = DType::i64}));
    model.train();
  }
  void run() {
    adamw.zero_grad();
    {
      const RunScopeGuard scope({.seed = 0, .first_sample = consumed, .samples = B});
      backward(model(batch).loss);
    }
    fold_gradients(adamw.params());
    adamw.step();
    consumed += B;
  }
};

}  // namespace rote::bench
