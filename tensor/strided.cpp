#include "tensor/strided.h"

#include "kernels/rare_table.h"

namespace rote {

namespace {

template <class To, class From>
void copy_run(void* to, int64_t to_step, const void* from, int64_t from_step, int64_t n) {
  To* out = static_cast<To*>(to);
  const From* in = static_cast<const From*>(from);
  for (int64_t i = 0; i < n; ++i) out[i * to_step] = convert<To>(in[i * from_step]);
}

// Neighbours between f32 and a 16-bit float go through a kernel.
template <class To, class From, auto Kernel>
void copy_sixteen(void* to, int64_t to_step, const void* from, int64_t from_step, int64_t n) {
  if (to_step != 1 || from_step != 1) return copy_run<To, From>(to, to_step, from, from_step, n);
  const auto kernel = rare_kernels<SixteenTable, float>().*Kernel;
  if constexpr (sizeof(To) == 2) kernel(n, static_cast<const From*>(from), static_cast<uint16_t*>(to));
  else kernel(n, static_cast<const uint16_t*>(from), static_cast<To*>(to));
}

}  // namespace

Runs common_runs(const Shape& shape, const Strides* strides, int operands) {
  ROTE_ASSERT(operands <= Runs::kMaxOperands, "more operands than a walk has room for");
  Runs runs;
  runs.operands = operands;
  Shape merged;                           // from the last axis to the first
  Strides steps[Runs::kMaxOperands];
  for (int axis = shape.axes() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    const int last = merged.axes() - 1;
    bool joins = last >= 0;
    for (int i = 0; joins && i < operands; ++i) joins = strides[i][axis] == steps[i][last] * merged[last];
    if (joins) {
      merged[last] *= shape[axis];
    } else {
      merged.append(shape[axis]);
      for (int i = 0; i < operands; ++i) steps[i].append(strides[i][axis]);
    }
  }
  if (merged.axes() > 0) {
    runs.length = merged[0];
    for (int i = 0; i < operands; ++i) runs.step[i] = steps[i][0];
  }
  for (int axis = merged.axes() - 1; axis > 0; --axis) {
    runs.outer.append(merged[axis]);
    for (int i = 0; i < operands; ++i) runs.strides[i].append(steps[i][axis]);
  }
  return runs;
}

Runs common_runs(const Shape& shape, std::initializer_list<Strides> strides) {
  return common_runs(shape, strides.begin(), static_cast<int>(strides.size()));
}

CopyRun copy_run_of(DType to, DType from) {
  using Kernels = SixteenTable<float>;
  if (from == DType::f32 && to == DType::bf16) return copy_sixteen<BFloat16, float, &Kernels::to_bf16>;
  if (from == DType::f32 && to == DType::f16) return copy_sixteen<Half, float, &Kernels::to_f16>;
  if (to == DType::f32 && from == DType::bf16) return copy_sixteen<float, BFloat16, &Kernels::from_bf16>;
  if (to == DType::f32 && from == DType::f16) return copy_sixteen<float, Half, &Kernels::from_f16>;
  CopyRun run = nullptr;
  visit(to, [&](auto t) { visit(from, [&](auto f) { run = copy_run<decltype(t), decltype(f)>; }); });
  return run;
}

}  // namespace rote
