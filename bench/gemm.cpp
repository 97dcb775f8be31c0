// bench/gemm.cpp — the matrix product at the shapes of a MiniLM training step, in FLOP/s; OpenBLAS beside it where the build found it.
// Arguments: the shape's number in kShapes, threads. "peak" is what fused multiply-adds of one core reach when all they touch is registers.
#include <benchmark/benchmark.h>

#include <iterator>

#include "bench/shapes.h"
#include "kernels/pool.h"
#include "kernels/table.h"

#ifdef ROTE_WITH_OPENBLAS
#include <cblas.h>
#endif

namespace {

using namespace rote;
using namespace rote::bench;

void report(benchmark::State& state, const ProductShape& s) {
  state.SetLabel(s.name);
  state.counters["FLOP/s"] = benchmark::Counter(s.flop(), benchmark::Counter::kIsIterationInvariantRate);
}

void gemm(benchmark::State& state) {
  const ProductShape& s = kShapes[state.range(0)];
  Operands x(s);
  set_num_threads(static_cast<int>(state.range(1)));
  const Gemm<float> g = x.gemm(s);
  for (auto _ : state) kernels<float>().gemm(g);
  set_num_threads(0);
  report(state, s);
}

void every_shape(benchmark::internal::Benchmark* bench) {
  for (int64_t threads : {1, 2})
    for (int64_t shape = 0; shape < static_cast<int64_t>(std::size(kShapes)); ++shape) bench->Args({shape, threads});
  bench->Unit(benchmark::kMicrosecond)->UseRealTime();
}

BENCHMARK(gemm)->Apply(every_shape);

#ifdef __x86_64__
// Twelve independent chains hide the latency of two units. Written out: a compiler would move or spill them.
void peak_avx2(benchmark::State& state) {
  if (!__builtin_cpu_supports("fma")) return state.SkipWithError("this processor has no FMA");
  for (auto _ : state) {
    for (int turn = 0; turn < 10000; ++turn) {
#define ROTE_FMA(n) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #n "\n"
      asm volatile(ROTE_FMA(0) ROTE_FMA(1) ROTE_FMA(2) ROTE_FMA(3) ROTE_FMA(4) ROTE_FMA(5) ROTE_FMA(6) ROTE_FMA(7) ROTE_FMA(8) ROTE_FMA(9)
                       ROTE_FMA(10) ROTE_FMA(11)
                   :
                   :
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
#undef ROTE_FMA
    }
  }
  state.counters["FLOP/s"] = benchmark::Counter(2.0 * 10000 * 12 * 8, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(peak_avx2);

void peak_avx512(benchmark::State& state) {
  if (!__builtin_cpu_supports("avx512f")) return state.SkipWithError("this processor has no AVX-512");
  for (auto _ : state) {
    for (int turn = 0; turn < 10000; ++turn) {
#define ROTE_FMA(n) "vfmadd231ps %%zmm14, %%zmm15, %%zmm" #n "\n"
      asm volatile(ROTE_FMA(0) ROTE_FMA(1) ROTE_FMA(2) ROTE_FMA(3) ROTE_FMA(4) ROTE_FMA(5) ROTE_FMA(6) ROTE_FMA(7) ROTE_FMA(8) ROTE_FMA(9)
                       ROTE_FMA(10) ROTE_FMA(11)
                   :
                   :
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
#undef ROTE_FMA
    }
  }
  state.counters["FLOP/s"] = benchmark::Counter(2.0 * 10000 * 12 * 16, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(peak_avx512);
#endif

#ifdef ROTE_WITH_OPENBLAS
void openblas(benchmark::State& state) {
  const ProductShape& s = kShapes[state.range(0)];
  Operands x(s);
  openblas_set_num_threads(static_cast<int>(state.range(1)));
  const int M = static_cast<int>(s.M), N = static_cast<int>(s.N), K = static_cast<int>(s.K);
  const CBLAS_TRANSPOSE a_form = s.kind == Kind::weight_grad ? CblasTrans : CblasNoTrans, b_form = s.kind == Kind::forward ? CblasTrans : CblasNoTrans;
  for (auto _ : state) {
    for (int64_t i = 0; i < s.batch; ++i) {
      cblas_sgemm(CblasRowMajor, a_form, b_form, M, N, K, 1, x.a.data() + i * s.M * s.K, s.kind == Kind::weight_grad ? M : K,
                  x.b.data() + i * s.N * s.K, s.kind == Kind::forward ? K : N, 0, x.c.data() + i * s.M * s.N, N);
    }
  }
  report(state, s);
}
BENCHMARK(openblas)->Apply(every_shape);
#endif

}  // namespace
