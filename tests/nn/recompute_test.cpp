// tests/nn/recompute_test.cpp — layers that run again in backward: the same gradients to the bit, dropout included, in less memory.
#include "nn/recompute.h"

#include <doctest/doctest.h>

#include "autograd/backward.h"
#include "nn/auto.h"
#include "nn/models/bert_heads.h"
#include "tensor/alloc.h"
#include "tensor/generator.h"
#include "tensor/hash.h"
#include "tests/nn/small_bert.h"
#include "tests/support/place.h"

namespace rote::testing {

namespace {

Tensor ids(int64_t B, int64_t T) {
  const Tensor x = empty({B, T}, {.dtype = DType::i64});
  for (int64_t i = 0; i < B * T; ++i) x.data<int64_t>()[i] = 1 + (i * 7) % 13;
  return x;
}

struct Pass {
  std::string hash;  // of all gradients
  int64_t layers = 0, peak = 0;
};

Pass gradients(nn::Model& model, const nn::Batch& batch, int64_t every) {
  model.train();
  model.zero_grad();
  const nn::RecomputeLayers recompute(every);
  const RunScopeGuard scope({.seed = 5, .first_sample = 3, .samples = batch.entries[0].second.size(0)});
  empty_cache();
  reset_peak();
  const int64_t before = memory_figures().in_use;
  backward(model(batch).loss);
  const int64_t peak = memory_figures().peak - before;
  const nn::NamedTensors params = model.named_parameters();
  fold_gradients(model.parameters());
  nn::NamedTensors grads;
  for (const auto& [name, param] : params)
    if (has_gradient(param)) grads.emplace_back(name, param.grad());
  return {hash_tensors(grads), recompute.layers(), peak};
}

}  // namespace

TEST_CASE("recompute: gradients keep their bits, dropout included; every second layer is half of them") {
  manual_seed(3);
  auto config = small_bert();
  config->num_hidden_layers = 4;
  config->labels = {"a", "b"};
  nn::BertForSequenceClassification model(config);
  nn::Batch batch;
  batch.entries = {{"input_ids", ids(8, 32)}, {"labels", from_values({8}, std::vector<int64_t>{0, 1, 0, 1, 1, 0, 1, 0})}};
  const Pass plain = gradients(model, batch, 0), all = gradients(model, batch, 1), half = gradients(model, batch, 2);
  CHECK(plain.layers == 0);
  CHECK(all.layers == 4);
  CHECK(half.layers == 2);
  CHECK(all.hash == plain.hash);
  CHECK(half.hash == plain.hash);
  CHECK(all.peak < 0.6 * static_cast<double>(plain.peak));
  CHECK(half.peak < plain.peak);
  CHECK(half.peak > all.peak);
  auto looked_at = small_bert();
  looked_at->labels = {"a", "b"};
  looked_at->attention_probs_dropout_prob = 0;
  nn::BertForSequenceClassification shown(looked_at);
  batch.output_attentions = true;  // they come from one pass
  CHECK(gradients(shown, batch, 1).layers == 0);
}

TEST_CASE("recompute: every family of layers, decoders and their encoders too") {
  if (shared_folder().empty()) {
    MESSAGE("skipped: no shared folder");
    return;
  }
  for (const char* name : {"gpt2_lm", "llama_gqa", "qwen3_lm", "mistral_sliding", "t5_cg", "bart_cg", "distilbert_seqcls", "roberta_mlm"}) {
    CAPTURE(name);
    const std::unique_ptr<nn::Model> model = std::move(nn::load_model("", shared_folder() + "/conformance/models/" + name).model);
    nn::Batch batch;
    const nn::Signature signature = model->signature();
    batch.set("input_ids", ids(2, 6));
    batch.set("labels", signature.scored == nn::Scored::rows ? from_values({2}, std::vector<int64_t>{0, 1}) : ids(2, 6));
    const Pass plain = gradients(*model, batch, 0), again = gradients(*model, batch, 1);
    CHECK(again.layers > 1);
    CHECK(again.hash == plain.hash);
  }
}

}  // namespace rote::testing
