// autograd/ops/attention.h — scaled dot-product attention by key tiles.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct AttentionOp {  // y = dropout(softmax(scale·q·kᵀ + bias))·v over the keys that the mask keeps.  Vaswani et al. 2017; Dao et al. 2022, arXiv:2205.14135
  static constexpr Row row{.name = "attention", .schema = "attention(q[B,H,T,D], k[B,H,S,D], v[B,H,S,D], bool mask[...]?, bias[...]?, scale, causal=false, dropout=0.0) -> y, wide max, wide sum", .saves = "q k v mask bias y max sum", .constants = "bias", .autocast = Autocast::lower, .samples = "B=2 H=2 T=3 S=5 D=4 scale=0.5; B=1 H=1 T=4 S=4 D=3 scale=1.0 causal=true"};
  static void infer(Call& call);
  static void forward(Call& call);
  static void backward(Call& call);
};

struct AttentionOptions {
  Tensor mask = {};     // bool, broadcasts to [B,H,T,S]; true keeps the key
  Tensor bias = {};     // added to the scaled scores, broadcasts to [B,H,T,S]; no gradient
  double scale = 0;     // 0: 1/sqrt(D)
  bool causal = false;  // query t sees keys 0…t
  double dropout = 0;
};

// q [B,H,T,D], k and v [B,H,S,D] with any strides -> [B,H,T,D], laid out so that transposing axes 1 and 2 back is contiguous.
// A row without any key gives 0. Sums as arithmetic.md 3 says; nothing of size T·S is kept.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

std::vector<Composition> attention_compositions();

using AttentionOps = OpList<AttentionOp>;

}  // namespace rote
