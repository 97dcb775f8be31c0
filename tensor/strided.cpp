#include "tensor/strided.h"

namespace rote {

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

}  // namespace rote
