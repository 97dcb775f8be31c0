// bench/contract.cpp — bench-contract [THREADS [TURNS]]: what AC-1 costs. The products of a training step, and the step itself, by the kernels of the contract
// and by OpenBLAS (the fast mode) in turns, the best of each; OpenBLAS under the core type that is fastest here. A price of 1.10 is 10 % more time.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "autograd/arithmetic.h"
#include "bench/shapes.h"
#include "bench/step.h"
#include "kernels/blas.h"
#include "kernels/pool.h"
#include "tensor/generator.h"

using namespace rote;
using namespace rote::bench;

namespace {

struct Times {
  double ac1 = 1e9, fast = 1e9;  // the best, s
  double price() const { return ac1 / fast; }
};

// f(kind) in turns of some milliseconds each, after one that warms both up: short turns find a moment that no other process breaks into.
template <class F>
Times in_turns(int turns, const F& f) {
  constexpr double kTurn = 2e-3;
  const auto repeats_of = [&](Arithmetic kind) {
    f(kind);
    return std::clamp(static_cast<int>(kTurn / seconds([&] { f(kind); })), 1, 10000);
  };
  const int of_ac1 = repeats_of(Arithmetic::ac1), of_fast = repeats_of(Arithmetic::fast);
  const auto one = [&](Arithmetic kind, int repeats) {
    return seconds([&] {
      for (int i = 0; i < repeats; ++i) f(kind);
    }) / repeats;
  };
  Times best;
  for (int turn = 0; turn < turns; ++turn) {
    best.ac1 = std::min(best.ac1, one(Arithmetic::ac1, of_ac1));
    best.fast = std::min(best.fast, one(Arithmetic::fast, of_fast));
  }
  return best;
}

Times product_times(const ProductShape& shape, int turns) {
  Operands x(shape);
  const Gemm<float> g = x.gemm(shape);
  return in_turns(turns * 3, [&](Arithmetic kind) {
    const ArithmeticGuard guard(kind);
    product(g);
  });
}

constexpr const char* kCoreTypes[] = {"", "Haswell", "SkylakeX", "Cooperlake", "SapphireRapids", "Zen"};

// Under its environment OpenBLAS picks its kernels once, when it is loaded: each core type is tried in a process of its own.
int probe() {
  if (blas_name().empty()) return 1;
  Operands x(kShapes[1]);
  const Gemm<float> g = x.gemm(kShapes[1]);
  double best = 1e9;
  for (int i = 0; i < 12; ++i) best = std::min(best, seconds([&] { blas_gemm(g); }));
  std::printf("%.6f\n", best);
  return 0;
}

void choose_core_type(int threads) {
  unsetenv("OPENBLAS_L2_SIZE");
  double least = 1e9;
  std::string chosen;
  for (const std::string core : kCoreTypes) {
    const std::string command = (core.empty() ? "env -u OPENBLAS_CORETYPE " : "OPENBLAS_CORETYPE=" + core + " ") + "/proc/" + std::to_string(getpid()) + "/exe --probe " + std::to_string(threads) + " 2>/dev/null";
    FILE* const out = popen(command.c_str(), "r");
    double time = 0;
    if (out && std::fscanf(out, "%lf", &time) == 1 && time < least) least = time, chosen = core;
    if (out) pclose(out);
  }
  chosen.empty() ? unsetenv("OPENBLAS_CORETYPE") : setenv("OPENBLAS_CORETYPE", chosen.c_str(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  const bool probing = argc > 1 && argv[1] == std::string_view("--probe");
  const int shift = probing ? 1 : 0, threads = argc > 1 + shift ? std::atoi(argv[1 + shift]) : 2, turns = argc > 2 + shift ? std::atoi(argv[2 + shift]) : 8;
  if (threads < 1 || turns < 1) return std::fputs("usage: bench-contract [THREADS [TURNS]]\n", stderr), 2;
  set_num_threads(threads);
  if (probing) return probe();
  choose_core_type(threads);
  if (blas_name().empty()) return std::puts("skipped: libopenblas.so.0 was not found; apt-get install libopenblas0"), 0;
  std::printf("%d threads, %s against %s, best of turns\n%-26s %10s %10s %7s\n", threads, kernels<float>().isa, blas_name().c_str(), "", "AC-1, ms", "fast, ms", "price");
  const auto print = [](const char* name, const Times& times) { std::printf("%-26s %10.4f %10.4f %7.2f\n", name, times.ac1 * 1e3, times.fast * 1e3, times.price()); };
  const ProductShape* worst = nullptr;
  double worst_price = 0;
  for (const ProductShape& shape : kShapes) {
    const Times times = product_times(shape, turns);
    print(shape.name, times);
    if (times.price() > worst_price) worst_price = times.price(), worst = &shape;
  }
  manual_seed(0);
  Step step;
  print("step, 32 rows of 64 tokens", in_turns(turns, [&](Arithmetic kind) {
          const ArithmeticGuard guard(kind);
          step.run();
        }));
  std::printf("worst: %s, %.2f\n", worst->name, worst_price);
  return 0;
}
