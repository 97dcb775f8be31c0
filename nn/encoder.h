// nn/encoder.h — the layers of an encoder, one after another, and what each reports.
#pragma once

#include "nn/attention.h"
#include "nn/container.h"
#include "nn/model.h"

namespace rote::nn {

// x [B,T,C] through all layers, each called with x, `beside` and with_probabilities. Fills last_hidden_state, and hidden_states (of x too) and
// attentions where asked for.
template <class L, class... Beside>
ModelOutput encode(ModuleList<L>& layers, const Tensor& x, bool with_states, bool with_probabilities, const Beside&... beside) {
  ModelOutput out;
  out.last_hidden_state = x;
  if (with_states) out.hidden_states.push_back(x);
  for (size_t i = 0; i < layers.size(); ++i) {
    const AttentionResult result = layers[i](out.last_hidden_state, beside..., with_probabilities);
    out.last_hidden_state = result.context;
    if (with_states) out.hidden_states.push_back(result.context);
    if (with_probabilities) out.attentions.push_back(result.probabilities);
  }
  return out;
}

}  // namespace rote::nn
