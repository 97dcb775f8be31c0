// nn/embedding.h — a table of vectors picked by ids.
#pragma once

#include "autograd/ops/index.h"
#include "nn/init.h"
#include "nn/module.h"

namespace rote::nn {

struct EmbeddingOptions {
  int64_t padding_idx = -1;  // this row is 0 and stays so: it gets no gradient. -1: no such row
};

// ids i64 [*] in 0…V-1 -> [*,C], weight [V,C]. Starts standard normal, as PyTorch's.
struct Embedding : Layer<Embedding> {
  using Options = EmbeddingOptions;
  Tensor weight;
  const int64_t padding_idx;

  Embedding(int64_t V, int64_t C, EmbeddingOptions options = {}) : weight(empty({V, C})), padding_idx(options.padding_idx) {
    ROTE_CHECK(padding_idx >= -1 && padding_idx < V, ArgumentError, "Embedding: padding_idx is ", padding_idx, " but there are ", V, " rows; it lies in 0…", V - 1,
               ", or is -1 for none.");
    if (init_enabled()) reset(1, init_draw());
    add_parameters({{"weight", weight}});
  }

  // Draws the table anew, normal with deviation `std`; the padding row is 0.
  void reset(double std, uint32_t draw) {
    fill_normal(weight, std, draw);
    if (padding_idx >= 0) fill(alias(weight, {weight.size(1)}, {1}, padding_idx * weight.size(1)), 0);
  }

  Tensor forward(const Tensor& ids) { return embedding(ids, weight, padding_idx); }
};

}  // namespace rote::nn
