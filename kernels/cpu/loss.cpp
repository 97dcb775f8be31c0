// kernels/cpu/loss.cpp — cross-entropy of class labels with label smoothing and class weights, per row, and its gradient. No reduction.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/simd/math.h"

namespace rote::isa::ROTE_ISA_NAME {

// max and s = Σ exp(x - max) give log p_c = (x_c - max) - log s and lse = max + log s.
//   own = w_y·(log s - (x_y - max));   all = Σ_c w_c·(log s - (x_c - max))
//   loss = own without smoothing, else fma(1 - smoothing, own, (smoothing/V)·all)
// Ignored rows get loss 0 and lse 0.
uint32_t cross_entropy(int64_t rows, int64_t V, const Real* logits, const int64_t* labels, int64_t ignore_index, const Real* class_weight,
                       Real smoothing, Real* loss, Real* lse) {
  return over_rows(rows, V, [&](int64_t r, Amax& amax) {
    const int64_t label = labels[r];
    if (label == ignore_index) {
      loss[r] = lse[r] = 0;
      return;
    }
    const Real* x = logits + r * V;
    const Real max = lane_maximum(V, [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(x + i, m); });
    const Vec top(max);
    const Real sum = lane_sum(V, [&](int64_t i, auto m) ROTE_LOOP_BODY { return keep(exp(load(x + i, m) - top), m); });
    const Real log_sum = get(log(Vec(sum)), 0);
    lse[r] = max + log_sum;
    Real own = log_sum - (x[label] - max);
    if (class_weight) own = class_weight[label] * own;
    if (smoothing == 0) {
      loss[r] = own;
    } else {
      const Vec log_total(log_sum);
      const Real all = lane_sum(V, [&](int64_t i, auto m) ROTE_LOOP_BODY {
        const Vec term = keep(log_total - (load(x + i, m) - top), m);
        return class_weight ? load(class_weight + i, m) * term : term;
      });
      loss[r] = get(fma(Vec(Real(1) - smoothing), Vec(own), Vec(smoothing / static_cast<Real>(V) * all)), 0);
    }
    amax.see(loss[r]);
    amax.see(lse[r]);
  });
}

// p = exp(x - lse); the target t_c = w_c·smoothing/V + [c = y]·w_y·(1 - smoothing) has the sum T; dlogits = dloss·fma(p, T, -t).
uint32_t cross_entropy_backward(int64_t rows, int64_t V, const Real* logits, const int64_t* labels, int64_t ignore_index,
                                const Real* class_weight, Real smoothing, const Real* lse, const Real* dloss, Real* dlogits) {
  const Real share = smoothing / static_cast<Real>(V), own_share = Real(1) - smoothing;
  const Real weights = class_weight ? lane_sum(V, [&](int64_t i, auto m) ROTE_LOOP_BODY { return load(class_weight + i, m); }) : Real(0);
  return over_rows(rows, V, [&](int64_t r, Amax& amax) {
    Real* out = dlogits + r * V;
    const int64_t label = labels[r];
    if (label == ignore_index) {
      over_row(V, [&](int64_t i, auto m) ROTE_LOOP_BODY { store(out + i, Vec(Real(0)), m); });
      return;
    }
    const Real* x = logits + r * V;
    const Real own = class_weight ? class_weight[label] * own_share : own_share;
    const Vec total(class_weight ? own + share * weights : Real(1));
    const Vec log_total(lse[r]), scale(dloss[r]), spread(share), own_target(own), zero(Real(0));
    over_row(V, [&](int64_t i, auto m) ROTE_LOOP_BODY {
      const Vec p = exp(load(x + i, m) - log_total);
      const Vec others = class_weight ? load(class_weight + i, m) * spread : spread;
      const Vec target = others + select(iota() == Int(static_cast<Bits>(label - i)), own_target, zero);
      const Vec v = scale * fma(p, total, -target);
      store(out + i, v, m);
      see(amax, v, m);
    });
  });
}

}  // namespace rote::isa::ROTE_ISA_NAME
