// nn/encoder.h — the layers of an encoder, one after another, and what each reports.
#pragma once

#include "autograd/mode.h"
#include "autograd/ops/join.h"
#include "autograd/ops/view.h"
#include "nn/attention.h"
#include "nn/container.h"
#include "nn/model.h"
#include "nn/recompute.h"

namespace rote::nn {

// x [B,T,C] through all layers, each called with x, `beside` and with_probabilities. Fills last_hidden_state, and hidden_states (of x too) and
// attentions where asked for.
template <class L, class... Beside>
ModelOutput encode(ModuleList<L>& layers, const Tensor& x, bool with_states, bool with_probabilities, const Beside&... beside) {
  ModelOutput out;
  out.last_hidden_state = x;
  if (with_states) out.hidden_states.push_back(x);
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto call = [&layer = layers[i], with_probabilities, beside...](const Tensor& in) { return AttentionResult(layer(in, beside..., with_probabilities)); };
    const AttentionResult result = run_layer(i, with_probabilities, out.last_hidden_state, call);
    out.last_hidden_state = result.context;
    if (with_states) out.hidden_states.push_back(result.context);
    if (with_probabilities) out.attentions.push_back(result.probabilities);
  }
  return out;
}

// f over x [B,T,C], `chunk` positions after another, so that little is in memory at a time; 0: all at once. So too where gradients are recorded or
// elements are dropped: what backward needs is kept anyway, and pieces would sum gradients and draw in another order than the whole.
template <class F>
Tensor in_chunks(const Module& layer, const Tensor& x, int64_t chunk, const F& f) {
  const int64_t T = x.size(1);
  ROTE_CHECK(chunk == 0 || T % chunk == 0, ShapeError, layer.class_name(), ": rows of length ", T, " do not divide into pieces of chunk_size_feed_forward ", chunk,
             "; pad them to a multiple of it.");
  if (chunk == 0 || grad_enabled() || layer.training()) return f(x);
  std::vector<Tensor> pieces;
  for (int64_t t = 0; t < T; t += chunk) pieces.push_back(f(slice(x, 1, t, t + chunk)));
  return cat(pieces, 1);
}

}  // namespace rote::nn
