#include "nn/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/mode.h"
#include "autograd/ops.h"

namespace rote::nn {

Tensor split_heads(const Tensor& x, int64_t heads) { return permute(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), {0, 2, 1, 3}); }

Tensor merge_heads(const Tensor& x) { return reshape(permute(x, {0, 2, 1, 3}), {x.size(0), x.size(2), x.size(1) * x.size(3)}); }

Tensor key_mask(const Tensor& attention_mask) {
  if (!attention_mask.defined()) return {};
  return reshape(ne(attention_mask, 0.0), {attention_mask.size(0), 1, 1, attention_mask.size(1)});
}

namespace {

// Beside it every score is lost in rounding: all keys weigh the same, while gradients pass.
Tensor lowest(DType dtype) {
  const double value = dtype == DType::f64 ? std::numeric_limits<double>::lowest() : dtype == DType::f16 ? -65504 : -3.38e38;
  return full({1, 1, 1, 1}, value, {.dtype = dtype});
}

// bool [1,1,T,S] for queries at the last T positions.
Tensor visible_before(int64_t T, int64_t S, int64_t window) {
  const Tensor visible = empty({1, 1, T, S}, {.dtype = DType::boolean});
  for (int64_t t = 0; t < T; ++t)
    for (int64_t s = 0; s < S; ++s) {
      const int64_t place = t + S - T;
      visible.data<bool>()[t * S + s] = s <= place && (window == 0 || s > place - window);
    }
  return visible;
}

}  // namespace

namespace {

// Which queries see no key of `mask` [B,1,T,S]; none where each sees one.
Tensor without_keys(const Tensor& mask) {
  const int64_t B = mask.size(0), T = mask.size(2), S = mask.size(3);
  const Tensor all = contiguous(mask), empty_rows = empty({B, 1, T, 1}, {.dtype = DType::boolean});
  bool any = false;
  for (int64_t row = 0; row < B * T; ++row) {
    const bool* keys = all.data<bool>() + row * S;
    empty_rows.data<bool>()[row] = std::none_of(keys, keys + S, [](bool kept) { return kept; });
    any = any || empty_rows.data<bool>()[row];
  }
  return any ? empty_rows : Tensor();
}

}  // namespace

CausalMask causal_mask(const Tensor& attention_mask, int64_t T, int64_t S, int64_t window) {
  const Tensor keys = key_mask(attention_mask);
  const bool all_before = window == 0 || window >= S;
  if (!keys.defined() && all_before && (T == S || T == 1)) return {{}, T == S, {}, {}};
  const Tensor visible = visible_before(T, S, window);
  Tensor hidden;
  if (!all_before && T == 1) hidden = where(visible, scalar(0), lowest(DType::f32));
  if (!keys.defined()) return {hidden.defined() ? Tensor() : visible, false, hidden, {}};
  const Tensor both = logical_and(keys, visible);
  // The mask of the keys alone where it says all: nothing of size T·S is read.
  return {T == 1 || (all_before && T == S) ? keys : both, all_before && T == S, hidden, without_keys(both)};
}

namespace {

// Each head as often as there are query heads for it.
Tensor repeated(const Tensor& x, int64_t times) {
  if (times == 1) return x;
  const int64_t B = x.size(0), G = x.size(1), S = x.size(2), D = x.size(3);
  return reshape(expand(unsqueeze(x, 2), {B, G, times, S, D}), {B, G * times, S, D});
}

}  // namespace

AttentionResult attend(const Tensor& q, const Tensor& key, const Tensor& value, const AttendOptions& options) {
  const int64_t T = q.size(2), S = key.size(2), times = q.size(1) / key.size(1);
  const Tensor k = repeated(key, times), v = repeated(value, times);
  const double scale = options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(q.size(3)));
  const Tensor bias = options.bias.defined() ? to(options.bias, q.dtype()) : Tensor();
  if (!options.with_probabilities) {
    Tensor context = scaled_dot_product_attention(
        q, k, v, {.mask = options.mask, .bias = bias, .scale = scale, .causal = options.causal, .dropout = options.dropout});
    if (options.unseeing.defined())
      context = where(options.unseeing, scaled_dot_product_attention(q, k, v, {.bias = lowest(q.dtype()), .scale = scale, .dropout = options.dropout}), context);
    return {merge_heads(context), {}};
  }
  // Dropout of [B,H,T,S] would be numbered by the padded length, that of the fused op is not.
  ROTE_CHECK(options.dropout == 0, StateError, "attention: output_attentions while training needs a dropout of 0 in attention, it is ", options.dropout,
             "; ask for attentions in eval mode.");
  Tensor scores = matmul(q, transpose(k, 2, 3)) * scale;
  if (bias.defined()) scores = scores + bias;
  Tensor mask = options.mask;
  if (options.causal) {
    const Tensor visible = visible_before(T, S, 0);
    mask = mask.defined() ? logical_and(mask, visible) : visible;
  }
  Tensor probabilities = mask.defined() ? masked_softmax(scores, mask) : softmax(scores);
  if (options.unseeing.defined()) probabilities = where(options.unseeing, softmax(scores + lowest(q.dtype())), probabilities);
  return {merge_heads(matmul(probabilities, v)), probabilities};
}

KeyValueCache::Pair KeyValueCache::append(size_t layer, const Tensor& key, const Tensor& value) {
  ROTE_CHECK(!grad_enabled(), StateError, "KeyValueCache: it serves decoding alone; open a NoGrad around it.");
  if (layers_.size() <= layer) layers_.resize(layer + 1);
  Layer& kept = layers_[layer];
  const int64_t count = key.size(2), needed = kept.length + count;
  const auto extended = [&](Tensor& memory, const Tensor& more) {
    const int64_t B = more.size(0), G = more.size(1), D = more.size(3);
    const auto part = [&](const Tensor& x, int64_t first, int64_t n) { return slice(x, 2, first, first + n); };
    if (!memory.defined() || memory.size(2) < needed) {
      const Tensor larger = empty({B, G, std::max<int64_t>(2 * needed, 64), D}, {.dtype = more.dtype()});
      if (kept.length > 0) copy_elements(part(larger, 0, kept.length), part(memory, 0, kept.length));
      memory = larger;
    }
    copy_elements(part(memory, kept.length, count), more);
    return part(memory, 0, needed);
  };
  const Pair all{extended(kept.memory.key, key), extended(kept.memory.value, value)};
  kept.length = needed;
  return all;
}

void KeyValueCache::select(const std::vector<int64_t>& rows, bool encoder_too) {
  const Tensor wanted = from_values({static_cast<int64_t>(rows.size())}, rows);
  bool moves = encoder_too;
  for (size_t row = 0; row < rows.size(); ++row) moves = moves || rows[row] != static_cast<int64_t>(row);
  if (!moves) return;
  const auto selected = [&](const Tensor& x, int64_t length) {
    const int64_t B = wanted.size(0), G = x.size(1), S = x.size(2), D = x.size(3);
    const Tensor result = empty({B, G, S, D}, {.dtype = x.dtype()});  // the room for more stays
    copy_elements(slice(result, 2, 0, length), index_select(slice(x, 2, 0, length), 0, wanted));
    return result;
  };
  for (Layer& layer : layers_) layer.memory = {selected(layer.memory.key, layer.length), selected(layer.memory.value, layer.length)};
  if (!encoder_too) return;
  for (Pair& pair : crossed_) pair = {selected(pair.key, pair.key.size(2)), selected(pair.value, pair.value.size(2))};
}

}  // namespace rote::nn
