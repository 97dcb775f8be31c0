// bench/status.cpp — bench-status product NAME REPEATS | loop NAME: one kernel by one thread, for bench/status.py, which compares two builds of it.
// A product is computed that often, and nothing is printed; of a loop over 2048 x 3072 numbers, or as many as fit the nearest cache (NAME-l1), the best
// of some turns in ms. Without arguments the names.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "autograd/ops.h"
#include "bench/shapes.h"
#include "bench/step.h"
#include "kernels/pool.h"

using namespace rote;
using namespace rote::bench;

namespace {

struct Loop {
  const char* name;
  uint32_t (*run)(int64_t n, const float* x, const float* y, float* out);
};

template <class F>
uint32_t forward(int64_t n, const float* x, const float* y, float* out) {
  const float* in[] = {x, y};
  return formula_loops<F>().template kernel<float>().forward(n, in, nullptr, out);
}
template <class F>
uint32_t backward(int64_t n, const float* x, const float* y, float* out) {
  const float* saved[] = {x};
  float* din[] = {out};
  return formula_loops<F>().template kernel<float>().backward(n, saved, y, nullptr, din);
}

constexpr Loop kLoops[] = {
    {"add", forward<Add>}, {"mul", forward<Mul>}, {"relu", forward<Relu>}, {"exp", forward<Exp>}, {"gelu", forward<Gelu>}, {"gelu-backward", backward<Gelu>},
};

double best_ms(const Loop& loop, int64_t n) {
  const Tensor x = empty({n}), y = empty({n}), out = empty({n});
  kernels<float>().normal(1, 2, 0, n, x.data<float>());
  kernels<float>().normal(1, 3, 0, n, y.data<float>());
  const int repeats = static_cast<int>(std::max<int64_t>(1, (1 << 22) / n));
  double best = 1e9;
  for (int turn = 0; turn < 12; ++turn)
    best = std::min(best, seconds([&] {
                      for (int i = 0; i < repeats; ++i) loop.run(n, x.data<float>(), y.data<float>(), out.data<float>());
                    }));
  return best / repeats * 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  set_num_threads(1);
  const std::string_view kind = argc > 1 ? argv[1] : "", name = argc > 2 ? argv[2] : "";
  if (argc == 4 && kind == "product")
    for (const ProductShape& shape : kShapes)
      if (name == shape.name) {
        Operands operands(shape);
        const Gemm<float> gemm = operands.gemm(shape);
        for (int i = std::atoi(argv[3]); i > 0; --i) kernels<float>().gemm(gemm);
        return 0;
      }
  if (argc == 3 && kind == "loop")
    for (const Loop& loop : kLoops) {
      const bool near = name == std::string(loop.name) + "-l1";
      if (near || name == loop.name) return std::printf("%.6f\n", best_ms(loop, near ? 2048 : 2048 * 3072)), 0;
    }
  if (argc != 1) return std::fputs("usage: bench-status product NAME REPEATS | loop NAME; without arguments it prints the names.\n", stderr), 2;
  for (const ProductShape& shape : kShapes) std::printf("product %s\n", shape.name);
  for (const Loop& loop : kLoops) std::printf("loop %s\nloop %s-l1\n", loop.name, loop.name);
}
