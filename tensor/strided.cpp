#include "tensor/strided.h"

namespace rote {

namespace {

template <class To, class From>
void copy_run(void* to, int64_t to_step, const void* from, int64_t from_step, int64_t n) {
  To* out = static_cast<To*>(to);
  const From* in = static_cast<const From*>(from);
  for (int64_t i = 0; i < n; ++i) out[i * to_step] = convert<To>(in[i * from_step]);
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
  CopyRun run = nullptr;
  visit(to, [&](auto t) { visit(from, [&](auto f) { run = copy_run<decltype(t), decltype(f)>; }); });
  return run;
}

}  // namespace rote
