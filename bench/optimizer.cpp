// bench/optimizer.cpp — one AdamW step and the clip norm over 22.7 M parameters; GB/s of what is read and written.
#include <benchmark/benchmark.h>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "kernels/pool.h"
#include "optim/adamw.h"
#include "optim/clip.h"

namespace {

using namespace rote;

constexpr int64_t kNumbers = 22'713'216;

Tensor parameter_with_grad() {
  Tensor p = full({kNumbers}, 0.5);
  requires_grad(p);
  backward({p * 1.0}, {full({kNumbers}, 1e-3)});
  return p;
}

void adamw_step(benchmark::State& state) {
  set_num_threads(static_cast<int>(state.range(0)));
  optim::AdamW adamw({{"p", parameter_with_grad()}}, {.lr = 1e-4});
  adamw.step();
  for (auto _ : state) adamw.step();
  state.SetBytesProcessed(state.iterations() * kNumbers * 4 * 7);  // p g m v read, p m v written
  set_num_threads(0);
}

void clip_norm(benchmark::State& state) {
  set_num_threads(static_cast<int>(state.range(0)));
  const Tensor p = parameter_with_grad();
  for (auto _ : state) benchmark::DoNotOptimize(optim::global_norm({p}));
  state.SetBytesProcessed(state.iterations() * kNumbers * 4);
  set_num_threads(0);
}

}  // namespace

BENCHMARK(adamw_step)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(clip_norm)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
