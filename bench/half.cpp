// bench/half.cpp — bench-half [THREADS [TURNS]]: half precision against f32, in turns, the best of each. Products with 16-bit operands as a training step has
// them, and the step itself under autocast. A speed of 1.10 is 10 % faster than f32.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "autograd/backward.h"
#include "bench/shapes.h"
#include "bench/step.h"
#include "kernels/dtype.h"
#include "kernels/pool.h"
#include "tensor/generator.h"

using namespace rote;
using namespace rote::bench;

namespace {

struct Times {
  double f32 = 1e9, bf16 = 1e9, f16 = 1e9;  // the best, s
};

// f(lower) in turns, with none for f32. The first turn warms up.
template <class F>
Times in_turns(int turns, const F& f) {
  Times best;
  for (int turn = 0; turn <= turns; ++turn) {
    const double f32 = seconds([&] { f(std::nullopt); }), bf16 = seconds([&] { f(DType::bf16); }), f16 = seconds([&] { f(DType::f16); });
    if (turn > 0) best = {std::min(best.f32, f32), std::min(best.bf16, bf16), std::min(best.f16, f16)};
  }
  return best;
}

void print(const char* name, const Times& times) {
  std::printf("%-26s %10.4f %10.4f %10.4f %7.2f %7.2f\n", name, times.f32 * 1e3, times.bf16 * 1e3, times.f16 * 1e3, times.f32 / times.bf16, times.f32 / times.f16);
}

// GPT-2 small, 4 rows of 256 tokens.
const ProductShape kGptShapes[] = {
    {"y 1024x2304x768", Kind::forward, 1024, 2304, 768, 0, 1},
    {"dx 1024x768x3072", Kind::input_grad, 1024, 768, 3072, 0, 1},
    {"dw 3072x768x1024 leaf 256", Kind::weight_grad, 3072, 768, 1024, 256, 1},
};

// As autocast leaves them: activations and their gradients are in 16 bits, weights are rounded while they are packed, and the gradient of a weight is f32.
Times product_times(const ProductShape& shape, int turns) {
  Operands x(shape);
  const Gemm<float> wide = x.gemm(shape);
  std::vector<uint16_t> a[2], b[2], c(x.c.size());
  for (const float v : x.a) a[0].push_back(to_bfloat16(v).bits), a[1].push_back(to_half(v).bits);
  for (const float v : x.b) b[0].push_back(to_bfloat16(v).bits), b[1].push_back(to_half(v).bits);
  const int repeats = std::max(1, static_cast<int>(2e8 / shape.flop()));  // some milliseconds a turn
  Times times = in_turns(turns * 3, [&](std::optional<DType> lower) {
    Gemm<float> g = wide;
    if (lower) {
      const bool is_bf16 = lower == DType::bf16;
      const Stored narrow = is_bf16 ? Stored::bf16 : Stored::f16;
      g.a = {a[is_bf16 ? 0 : 1].data(), narrow};
      if (shape.kind == Kind::weight_grad) g.b = {b[is_bf16 ? 0 : 1].data(), narrow};
      else g.b = {x.b.data(), is_bf16 ? Stored::rounded_to_bf16 : Stored::rounded_to_f16}, g.c = {c.data(), narrow};
    }
    for (int i = 0; i < repeats; ++i) kernels<float>().gemm(g);
  });
  times.f32 /= repeats, times.bf16 /= repeats, times.f16 /= repeats;
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2, turns = argc > 2 ? std::atoi(argv[2]) : 8;
  if (threads < 1 || turns < 1) return std::fputs("usage: bench-half [THREADS [TURNS]]\n", stderr), 2;
  set_num_threads(threads);
  std::printf("%d threads, %s, best of turns\n%-26s %10s %10s %10s %7s %7s\n", threads, kernels<float>().isa, "", "f32, ms", "bf16, ms", "f16, ms", "bf16", "f16");
  for (const ProductShape& shape : kShapes) print(shape.name, product_times(shape, turns));
  for (const ProductShape& shape : kGptShapes) print(shape.name, product_times(shape, turns));
  manual_seed(0);
  Step step;
  print("step, 32 rows of 64 tokens", in_turns(turns, [&](std::optional<DType> lower) {
          const AutocastGuard precision(lower);
          step.run();
        }));
}
