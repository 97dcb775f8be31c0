// bench/pointwise.cpp — pointwise ops, layer norm and dropout through apply(), at the sizes of a MiniLM step; GB/s of what is read and written.
#include <benchmark/benchmark.h>

#include "autograd/mode.h"
#include "autograd/ops.h"
#include "kernels/pool.h"

namespace {

using namespace rote;

Tensor drawn(const Shape& shape) {
  const Tensor x = empty(shape);
  kernels<float>().normal(1, 2, 0, x.numel(), x.data<float>());
  return x;
}

// f over [2048,C]; `streams` tensors of that size pass through memory.
template <class F>
void run(benchmark::State& state, int64_t C, double streams, const F& f) {
  set_num_threads(static_cast<int>(state.range(0)));
  const NoGrad guard;
  const Tensor x = drawn({2048, C}), y = drawn({2048, C});
  for (auto _ : state) benchmark::DoNotOptimize(f(x, y).raw());
  state.SetBytesProcessed(static_cast<int64_t>(static_cast<double>(state.iterations() * x.numel()) * 4 * streams));
  set_num_threads(0);
}

void add(benchmark::State& state) {
  run(state, 384, 3, [](const Tensor& x, const Tensor& y) { return x + y; });
}
void gelu_forward(benchmark::State& state) {
  run(state, 1536, 2, [](const Tensor& x, const Tensor&) { return gelu(x); });
}
void tanh_forward(benchmark::State& state) {
  run(state, 1536, 2, [](const Tensor& x, const Tensor&) { return tanh(x); });
}
void layer_norm_forward(benchmark::State& state) {
  const Tensor w = drawn({384}), b = drawn({384});
  run(state, 384, 2, [&](const Tensor& x, const Tensor&) { return layer_norm(x, w, b); });
}
void dropout_forward(benchmark::State& state) {
  run(state, 384, 2, [](const Tensor& x, const Tensor&) { return dropout(x, 0.1); });
}
void softmax_rows(benchmark::State& state) {
  run(state, 384, 2, [](const Tensor& x, const Tensor&) { return softmax(x); });
}

}  // namespace

BENCHMARK(add)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(gelu_forward)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(tanh_forward)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(layer_norm_forward)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(dropout_forward)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(softmax_rows)->Arg(1)->Arg(2)->UseRealTime();
