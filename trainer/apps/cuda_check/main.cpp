// trainer/apps/cuda_check/main.cpp — rote-cuda-check: refers to every kernel that was compiled for devices, so that the link fails where one is
// missing, and says how many there are, for which devices, and how many devices are here. Runs none of them.
#include <cstdio>
#include <iterator>

#include "autograd/ops/formulas.h"
#include "kernels/cuda/kernels.h"
#include "optim/updates.h"

using namespace rote;

namespace {

struct Counts {
  int formulas = 0, derivatives = 0, integers = 0;
};

template <class... F>
Counts count(OpList<F...>) {
  Counts counts;
  const cuda::FormulaLaunchers* const all[] = {&cuda::formula_launchers<F>()...};
  for (const cuda::FormulaLaunchers* launchers : all) {
    counts.formulas += launchers->forward != nullptr || launchers->integer != nullptr;
    counts.derivatives += launchers->backward != nullptr;
    counts.integers += launchers->integer != nullptr;
  }
  return counts;
}

template <class... F>
int count_updates(OpList<F...>) {
  int updates = 0;
  for (const cuda::UpdateLauncher launcher : {cuda::update_launcher<F>()...}) updates += launcher != nullptr;
  return updates;
}

// Kept, for the link to look for each.
struct Reduction {
  void (*of_rows)(cuda::Stream, int64_t, int64_t, const float*, float*, float*, uint32_t*);
  void (*of_columns)(cuda::Stream, int64_t, int64_t, int64_t, const float*, float*, float*, uint32_t*);
};
[[gnu::used]] const Reduction kReductions[] = {{cuda::sum_rows, nullptr}, {cuda::max_rows, nullptr}, {nullptr, cuda::sum_columns}};

}  // namespace

int main() {
  const Counts counts = count(AllFormulas{});
  const int updates = count_updates(optim::AllUpdates{});
  std::printf("%d formulas (%d with a derivative, %d on integers), %d updates, %zu reductions for %s; %d devices here\n", counts.formulas,
              counts.derivatives, counts.integers, updates, std::size(kReductions), cuda::architectures(), cuda::device_count());
  return counts.formulas == kCount<AllFormulas> ? 0 : 1;
}
