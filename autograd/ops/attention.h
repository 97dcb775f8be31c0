// autograd/ops/attention.h — scaled dot-product attention by key tiles.
#pragma once

#include "autograd/apply.h"

namespace rote {

struct AttentionOp {  // y = dropout(softmax(scale·q·kᵀ + bias))·v over the keys that the mask keeps.  Vaswani et al. 2017; Dao et al. 2022, arXiv:2205.14135
  static constexpr Row row{.name = "attention",
                           .schema = "attention(q[B,H,T,D], k[B,H,S,D], v[B,H,S,E], bool mask[...]?, bias[...]?, scale, causal=false, dropout=0.0) -> y, wide max, wide sum",
                           .saves = "q k v mask bias y max sum", .once = "the scores that its derivative reads are not kept",
                           .autocast = Autocast::lower,
                           .samples = "B=2 H=2 T=3 S=5 D=4 E=4 scale=0.5; B=1 H=1 T=4 S=4 D=3 E=5 scale=1.0 causal=true; "
                                      "B=2 H=3 T=3 S=5 D=2 E=1 bias=3,1,5 scale=0.5; B=2 H=1 T=2 S=3 D=2 E=2 mask=2,1,2,3 bias=2,3 scale=1.0; "
                                      "B=1 H=1 T=2 S=0 D=2 E=2 scale=1.0"};
  static constexpr bool takes_sixteen = true;
  static void infer(Call& call);
  static void forward(Call& call);
  static void backward(Call& call);
};

struct AttentionOptions {
  Tensor mask = {};     // bool, broadcasts to [B,H,T,S]; true keeps the key
  Tensor bias = {};     // added to the scaled scores, broadcasts to [B,H,T,S]
  double scale = 0;     // 0: 1/sqrt(D)
  bool causal = false;  // query t sees keys 0…t
  double dropout = 0;
};

// q [B,H,T,D], k [B,H,S,D] and v [B,H,S,E] with any strides -> [B,H,T,E], laid out so that transposing axes 1 and 2 back is contiguous.
// A row without any key gives 0. Sums as arithmetic.md 3 says; nothing of size T·S is kept, and made only for the gradient of a bias.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

std::vector<Composition> attention_compositions();

using AttentionOps = OpList<AttentionOp>;

}  // namespace rote
