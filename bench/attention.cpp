// bench/attention.cpp — attention forward and backward at MiniLM's and GPT-2's head sizes; ms, and FLOP/s of the products alone.
// Arguments: the shape's number in kShapes, threads.
#include <benchmark/benchmark.h>

#include <cmath>
#include <iterator>
#include <vector>

#include "kernels/pool.h"
#include "kernels/rare_table.h"

namespace {

using namespace rote;

struct Shape {
  const char* name;
  int64_t B, H, T, D;
  bool causal;
  uint32_t threshold;
};

const Shape kShapes[] = {
    {"MiniLM 32x12x64x32", 32, 12, 64, 32, false, 0},
    {"MiniLM 32x12x64x32, dropout", 32, 12, 64, 32, false, 6554},
    {"MiniLM 32x12x20x32, dropout", 32, 12, 20, 32, false, 6554},
    {"GPT-2 2x12x512x64, causal", 2, 12, 512, 64, true, 0},
};

// As a model holds them: [B,T,H,D].
struct Problem {
  explicit Problem(const Shape& s)
      : q(static_cast<size_t>(s.B * s.H * s.T * s.D)), k(q), v(q), o(q), dout(q), dq(q), dk(q), dv(q),
        max(static_cast<size_t>(s.B * s.H * s.T)), sum(max), mask(static_cast<size_t>(s.B * s.T), 1) {
    for (size_t i = 0; i < q.size(); ++i) {
      q[i] = static_cast<float>(i * 7919 % 1000) * 1e-3f - 0.5f;
      k[i] = static_cast<float>(i * 104729 % 1000) * 1e-3f - 0.5f;
      v[i] = static_cast<float>(i * 611953 % 1000) * 1e-3f - 0.5f;
      dout[i] = static_cast<float>(i * 15485863 % 1000) * 1e-3f - 0.5f;
    }
    Attention<float>& a = grad.forward;
    a.B = s.B, a.H = s.H, a.T = a.S = s.T, a.D = s.D;
    a.q = q.data(), a.k = k.data(), a.v = v.data(), a.o = o.data(), a.max = max.data(), a.sum = sum.data();
    a.q_at = a.k_at = a.v_at = a.o_at = {s.T * s.H * s.D, s.D, s.H * s.D};
    a.mask = mask.data(), a.mask_b = s.T, a.mask_s = 1;
    a.causal = s.causal;
    a.scale = 1 / std::sqrt(static_cast<float>(s.D));
    a.dropout = {.seed = 1, .first_sample = 0, .op = 2, .threshold = s.threshold, .scale = 1.0f / (1.0f - static_cast<float>(s.threshold) / 65536.0f)};
    grad.dout = dout.data(), grad.dq = dq.data(), grad.dk = dk.data(), grad.dv = dv.data();
    grad.do_at = grad.dq_at = grad.dk_at = grad.dv_at = a.q_at;
  }
  std::vector<float> q, k, v, o, dout, dq, dk, dv, max, sum;
  std::vector<uint8_t> mask;
  AttentionGrad<float> grad;
};

void report(benchmark::State& state, const Shape& s, double products) {
  state.SetLabel(s.name);
  const double scores = static_cast<double>(s.B * s.H * s.T * s.T) * (s.causal ? 0.5 : 1.0);
  state.counters["FLOP/s"] = benchmark::Counter(products * 2.0 * scores * static_cast<double>(s.D), benchmark::Counter::kIsIterationInvariantRate);
}

void attention(benchmark::State& state) {
  const Shape& s = kShapes[state.range(0)];
  Problem problem(s);
  set_num_threads(static_cast<int>(state.range(1)));
  for (auto _ : state) rare_kernels<AttentionTable, float>().attention(problem.grad.forward);
  set_num_threads(0);
  report(state, s, 2);
}

void attention_backward(benchmark::State& state) {
  const Shape& s = kShapes[state.range(0)];
  Problem problem(s);
  set_num_threads(static_cast<int>(state.range(1)));
  rare_kernels<AttentionTable, float>().attention(problem.grad.forward);
  for (auto _ : state) rare_kernels<AttentionTable, float>().attention_backward(problem.grad);
  set_num_threads(0);
  report(state, s, 5);
}

void every_shape(benchmark::internal::Benchmark* bench) {
  for (int64_t threads : {1, 2})
    for (int64_t shape = 0; shape < static_cast<int64_t>(std::size(kShapes)); ++shape) bench->Args({shape, threads});
  bench->Unit(benchmark::kMicrosecond)->UseRealTime();
}

BENCHMARK(attention)->Apply(every_shape);
BENCHMARK(attention_backward)->Apply(every_shape);

}  // namespace
