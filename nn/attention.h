// nn/attention.h — attention as the models call it: heads, who sees whom, keys and values kept while decoding. The arithmetic is the op's.
#pragma once

#include <tuple>
#include <vector>

#include "autograd/ops/attention.h"
#include "tensor/tensor.h"

namespace rote::nn {

Tensor split_heads(const Tensor& x, int64_t heads);  // [B,T,H·D] -> [B,H,T,D], a view
Tensor merge_heads(const Tensor& x);                 // [B,H,T,D] -> [B,T,H·D]

// Who sees whom, from an attention_mask [B,S] (0: padding) or none, for queries at the last T of S positions: true keeps the key.
Tensor key_mask(const Tensor& attention_mask);  // bool [B,1,1,S], or none
struct CausalMask {
  Tensor mask = {};     // bool, broadcasts to [B,1,T,S]; none: every key that `causal` leaves
  bool causal = false;  // query t sees keys 0…t; only where T = S
  // f32 [1,1,T,S] or none: what a window hides while decoding, as scores that weigh nothing. A mask would move the place from which the op
  // counts its key tiles, and with it bits.
  Tensor bias = {};
  // bool [B,1,T,1] or none: queries of left padding, which see no key. As in the reference they look at all keys evenly: a first real token
  // may be scored by the place before it.
  Tensor unseeing = {};
};
// Each query sees itself and what lies before it, at most `window` keys where that is not 0.
CausalMask causal_mask(const Tensor& attention_mask, int64_t T, int64_t S, int64_t window = 0);

struct AttendOptions {
  Tensor mask = {};       // bool, broadcasts to [B,H,T,S]
  Tensor bias = {};       // added to the scaled scores, broadcasts to [B,H,T,S]
  bool causal = false;
  Tensor unseeing = {};   // as in CausalMask
  double scale = 0;       // 0: 1/√D
  double dropout = 0;     // of the probabilities
  bool with_probabilities = false;
};
inline AttendOptions seeing(const CausalMask& m) { return {.mask = m.mask, .bias = m.bias, .causal = m.causal, .unseeing = m.unseeing}; }
struct AttentionResult {
  Tensor context;         // [B,T,H·D]
  Tensor probabilities;   // [B,H,T,S], where asked for; without them nothing of size T·S is made

  auto parts() const { return std::tie(context, probabilities); }
};
// q [B,H,T,D], k and v [B,G,S,D], where each key head serves H/G query heads. Vaswani et al. 2017; Ainslie et al. 2023, arXiv:2305.13245
AttentionResult attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options);

// Keys and values of the positions seen so far, by layer; decoding feeds one position at a time. Not for training.
class KeyValueCache {
 public:
  struct Pair {
    Tensor key, value;  // [B,G,S,D]
  };
  // The layer's keys and values with those of new positions behind.
  Pair append(size_t layer, const Tensor& key, const Tensor& value);
  // Of an encoder's output: computed by the first call, the same in every later one.
  template <class F>
  Pair once(size_t layer, F&& compute) {
    if (crossed_.size() <= layer) crossed_.resize(layer + 1);
    if (!crossed_[layer].key.defined()) crossed_[layer] = compute();
    return crossed_[layer];
  }
  // Row i becomes what was row rows[i], in the encoder's keys only where `encoder_too`.
  void select(const std::vector<int64_t>& rows, bool encoder_too);
  int64_t length() const { return layers_.empty() ? 0 : layers_[0].length; }

 private:
  struct Layer {
    Pair memory;          // with room for more
    int64_t length = 0;
  };
  std::vector<Layer> layers_;
  std::vector<Pair> crossed_;
};

}  // namespace rote::nn
