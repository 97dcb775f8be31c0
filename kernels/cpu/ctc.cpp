// kernels/cpu/ctc.cpp — connectionist temporal classification: the sum over all alignments of a label sequence, and its gradient.
//
// The states of a sample with labels l1 … lk are - l1 - l2 … lk -, a blank at each even one; lanes are states. Sums of probabilities are kept
// as logarithms, and the largest of each time step is taken out of its row: so they stay near 0 however long the input is.
//   alpha[t][s] = x[t][label of s] + log(e^alpha[t-1][s] + e^alpha[t-1][s-1] + e^alpha[t-1][s-2]),  the last where the labels of s and s-2 differ
//   beta[t][s] runs alike from the end, x[t] left out; e^(alpha + beta), divided by its sum over s, is the probability of s at t.
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/scratch.h"
#include "kernels/simd/math.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

const Real kLowest = -static_cast<Real>(__builtin_inff());

// log(e^a + e^b + e^c)
ROTE_INLINE Vec join(Vec a, Vec b, Vec c) {
  const Vec top = maximum(a, maximum(b, c));
  const Vec shift = select(top == Vec(kLowest), Vec(Real(0)), top);
  return log(exp(a - shift) + exp(b - shift) + exp(c - shift)) + shift;
}

// Rows of states, each with kLanes states of probability 0 on either side.
struct Sample {
  int64_t T, states, width;
  const int64_t* labels;
  const Real* x;          // log-probabilities of step 0
  int64_t x_step, V, blank;
  Real *row, *other;      // two rows
  Real *skip;             // a row: 0 where a path may come from two states before, else -inf
  Real *emission;         // a row: x of each state's label at one time step

  static int64_t size(int64_t width) { return 4 * (width + 2 * kLanes); }

  Sample(const Ctc<Real>& g, int64_t n, Real* memory)
      : T(g.input_lengths[n]), states(2 * g.target_lengths[n] + 1), width(ctc_width(g.L)), labels(g.labels + n * g.L), x(g.log_probs + n * g.V),
        x_step(g.N * g.V), V(g.V), blank(g.blank) {
    const int64_t whole = width + 2 * kLanes;
    for (int64_t i = 0; i < 4 * whole; i += kLanes) store(memory + i, Vec(kLowest));
    row = memory + kLanes, other = row + whole, skip = other + whole, emission = skip + whole;
    for (int64_t s = 3; s < states; s += 2)
      if (labels[s / 2] != labels[s / 2 - 1]) skip[s] = 0;
  }
  int64_t label(int64_t s) const { return s % 2 == 0 ? blank : labels[s / 2]; }
  void emit(int64_t t) const {
    for (int64_t s = 0; s < states; ++s) emission[s] = x[t * x_step + label(s)];
  }
  // The largest of a row, 0 where all are -inf.
  Real top(const Real* p) const {
    const Real largest = lane_maximum(width, [&](int64_t s, auto m) ROTE_LOOP_BODY { return load(p + s, m); });
    return largest == kLowest ? Real(0) : largest;
  }
  template <class F>
  ROTE_INLINE void each(const F& f) const {
    for (int64_t s = 0; s < width; s += kLanes) f(s);
  }
};

Real forward_sample(const Sample& g, Real* alpha) {
  if (g.T == 0) return g.states == 1 ? Real(0) : -kLowest;
  double total = 0;  // what was taken out of the rows
  Real *before = g.other, *now = g.row;
  for (int64_t t = 0; t < g.T; ++t, alpha += g.width) {
    g.emit(t);
    if (t == 0)
      for (int64_t s = 0; s < least(2, g.states); ++s) now[s] = g.emission[s];
    else
      g.each([&](int64_t s) ROTE_LOOP_BODY {
        store(now + s, join(load(before + s), load(before + s - 1), load(before + s - 2) + load(g.skip + s)) + load(g.emission + s));
      });
    const Real top = g.top(now);
    total += static_cast<double>(top);
    g.each([&](int64_t s) ROTE_LOOP_BODY {
      const Vec v = load(now + s) - Vec(top);
      store(now + s, v);
      store(alpha + s, v);
    });
    Real* const last = now;
    now = before, before = last;
  }
  const Vec end = join(Vec(before[g.states - 1]), Vec(before[g.states - 2]), Vec(kLowest));
  return static_cast<Real>(-(total + static_cast<double>(get(end, 0))));
}

// The rows of dx from step 0 to T, with `x_step` between them, receive the probabilities of their labels.
void posteriors(const Sample& g, const Real* alpha, Real* dx) {
  Real *next = g.other, *beta = g.row;  // next: beta and emission of the step after
  for (int64_t t = g.T; t-- > 0;) {
    const Real* a = alpha + t * g.width;
    if (t == g.T - 1)
      for (int64_t s = g.states > 1 ? g.states - 2 : 0; s < g.states; ++s) beta[s] = 0;
    else
      g.each([&](int64_t s) ROTE_LOOP_BODY { store(beta + s, join(load(next + s), load(next + s + 1), load(next + s + 2) + load(g.skip + s + 2))); });
    g.emit(t);
    g.each([&](int64_t s) ROTE_LOOP_BODY { store(next + s, load(beta + s) + load(g.emission + s)); });
    g.each([&](int64_t s) ROTE_LOOP_BODY { store(beta + s, load(beta + s) + load(a + s)); });
    const Vec top(g.top(beta)), step(g.top(next));
    const Vec sum(lane_sum(g.width, [&](int64_t s, auto m) ROTE_LOOP_BODY { return exp(load(beta + s, m) - top); }));
    g.each([&](int64_t s) ROTE_LOOP_BODY {
      store(beta + s, exp(load(beta + s) - top) / sum);
      store(next + s, load(next + s) - step);
    });
    Real* out = dx + t * g.x_step;
    over_row(g.V, [&](int64_t c, auto m) ROTE_LOOP_BODY { store(out + c, Vec(Real(0)), m); });
    for (int64_t s = 0; s < g.states; ++s) out[g.label(s)] += beta[s];
  }
}

// f(sample, n, amax) for each sample, with working memory.
template <class F>
uint32_t over_samples(const Ctc<Real>& g, const F& f) {
  return parallel(g.N, [&](int64_t n) -> uint32_t {
    Real* const memory = static_cast<Real*>(take_scratch(Sample::size(ctc_width(g.L)) * static_cast<int64_t>(sizeof(Real))));
    Amax amax;
    f(Sample(g, n, memory), n, amax);
    give_scratch(memory);
    return amax.word();
  });
}

}  // namespace

uint32_t ctc(const Ctc<Real>& g) {
  return over_samples(g, [&](const Sample& sample, int64_t n, Amax& amax) {
    g.loss[n] = forward_sample(sample, g.alpha + n * g.T * sample.width);
    amax.see(g.loss[n]);
  });
}

uint32_t ctc_backward(const CtcGrad<Real>& grad) {
  const Ctc<Real>& g = grad.forward;
  return over_samples(g, [&](const Sample& sample, int64_t n, Amax& amax) {
    Real* const dx = grad.dlog_probs + n * g.V;
    const Real dloss = grad.dloss[n];
    const bool reached = g.loss[n] != -kLowest;
    const int64_t steps = dloss == 0 ? 0 : sample.T;
    if (reached && steps > 0) posteriors(sample, g.alpha + n * g.T * sample.width, dx);
    for (int64_t t = 0; t < g.T; ++t) {
      Real* out = dx + t * sample.x_step;
      const Real* x = sample.x + t * sample.x_step;
      over_row(g.V, [&](int64_t c, auto m) ROTE_LOOP_BODY {
        Vec v(Real(0));
        if (t < steps) {
          const Vec p = reached ? load(out + c, m) : Vec(static_cast<Real>(__builtin_nanf("")));
          v = Vec(dloss) * (grad.of_scores ? exp(load(x + c, m)) - p : -p);
        }
        store(out + c, v, m);
        see(amax, v, m);
      });
    }
  });
}

}  // namespace rote::isa::ROTE_ISA_NAME
