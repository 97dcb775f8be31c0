// tests/nn/chunking_test.cpp — chunk_size_feed_forward of every family that has it: outputs and gradients are those of the whole, to the bit.
#include <doctest/doctest.h>

#include "autograd/backward.h"
#include "autograd/mode.h"
#include "nn/encoder.h"
#include "tensor/alloc.h"
#include "tests/nn/small_families.h"
#include "tests/support/compare.h"

using namespace rote;
using rote::testing::small_families;
using rote::testing::small_model;
using rote::testing::SmallFamily;

namespace {

bool same_bits(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && rote::testing::first_bit_difference(a.numel(), a.data<float>(), b.data<float>()) < 0; }

bool chunks(const SmallFamily& family) { return family.name == "bert" || family.name == "roberta" || family.name == "distilbert"; }

std::string in_pieces(int64_t chunk) { return str("\"chunk_size_feed_forward\":", chunk, ","); }

nn::Batch rows(int64_t B, int64_t T) {
  std::vector<int64_t> ids, labels;
  for (int64_t i = 0; i < B * T; ++i) ids.push_back(2 + i * i % 43), labels.push_back(i % 3 == 0 ? -100 : 2 + i % 41);
  nn::Batch batch;
  batch.set("input_ids", from_values({B, T}, ids));
  batch.set("labels", from_values({B, T}, labels));
  return batch;
}

// A model after one backward of a window; in training its dropout draws.
std::unique_ptr<nn::Model> stepped(const SmallFamily& family, const std::string& more, const nn::Batch& in, bool trains) {
  auto model = small_model(family, 5, more);
  model->train(trains);
  const RunScopeGuard scope({.seed = 1, .first_sample = 0, .samples = in["input_ids"].size(0)});
  backward((*model)(in).loss);
  fold_gradients(model->parameters());
  model->eval();
  return model;
}

}  // namespace

TEST_CASE("chunking: outputs and gradients are those of the whole, dropout's too") {
  const nn::Batch in = rows(4, 12);
  for (const SmallFamily& family : small_families()) {
    if (!chunks(family)) continue;
    CAPTURE(family.name);
    for (const bool trains : {false, true}) {
      const auto whole = stepped(family, "", in, trains);
      for (const int64_t chunk : {1, 3, 4, 12}) {
        CAPTURE(chunk);
        const auto cut = stepped(family, in_pieces(chunk), in, trains);
        const nn::NamedTensors a = whole->named_parameters(), b = cut->named_parameters();
        for (size_t i = 0; i < a.size(); ++i) {
          CAPTURE(a[i].first);
          CHECK(same_bits(a[i].second.grad(), b[i].second.grad()));
        }
        CHECK(same_bits((*whole)(in).logits, (*cut)(in).logits));
        const NoGrad no_grad;
        CHECK(same_bits((*whole)(in).logits, (*cut)(in).logits));
      }
    }
    CHECK_THROWS_AS((*small_model(family, 5, in_pieces(5)))(in), ShapeError);
  }
}

TEST_CASE("chunking: without gradients pieces need less memory at a time") {
  const NoGrad no_grad;
  for (const SmallFamily& family : small_families()) {
    if (!chunks(family)) continue;
    CAPTURE(family.name);
    const nn::Batch in = rows(16, 32);
    const auto peak = [&](int64_t chunk) {
      const std::string wide = family.name == "distilbert" ? "hidden_dim" : "intermediate_size";
      SmallFamily wider = family;
      const size_t at = wider.config.find("\"" + wide + "\":28");
      wider.config.replace(at + wide.size() + 3, 2, "2048");
      const auto model = small_model(wider, 5, in_pieces(chunk));
      empty_cache();
      reset_peak();
      (*model)(in);
      return memory_figures().peak;
    };
    CHECK(peak(4) * 2 < peak(0));
  }
}
