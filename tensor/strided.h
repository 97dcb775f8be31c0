// tensor/strided.h — walking several strided operands of one shape in logical order, as long runs along the last axis. No math.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/dtype.h"
#include "tensor/shape.h"

namespace rote {

// The shape with neighbouring axes merged wherever every operand allows it: `outer` axes, then runs of `length` elements, operand i
// stepping by step[i] inside a run.
struct Runs {
  static constexpr int kMaxOperands = 6;
  int operands = 0;
  Shape outer;
  Strides strides[kMaxOperands];  // over the outer axes
  int64_t length = 1;
  int64_t step[kMaxOperands] = {};
};

Runs common_runs(const Shape& shape, std::initializer_list<Strides> strides);
Runs common_runs(const Shape& shape, const Strides* strides, int operands);

// Copies n elements, each `step` places after the one before, converted to the dtype of `to`.
using CopyRun = void (*)(void* to, int64_t to_step, const void* from, int64_t from_step, int64_t n);
CopyRun copy_run_of(DType to, DType from);

// Copies operand 1 of the runs to operand 0, by all threads. The two share no memory.
void copy_runs(const Runs& runs, void* to, DType to_dtype, const void* from, DType from_dtype);

// Calls f(at) for each run in logical order; at[i] is operand i's element offset.
template <class F>
void for_each_run(const Runs& runs, F&& f) {
  int64_t index[Shape::kMaxAxes] = {};
  int64_t at[Runs::kMaxOperands] = {};
  const int axes = runs.outer.axes();
  if (runs.length == 0 || runs.outer.numel() == 0) return;
  while (true) {
    f(static_cast<const int64_t*>(at));
    int axis = axes - 1;
    for (; axis >= 0; --axis) {
      for (int i = 0; i < runs.operands; ++i) at[i] += runs.strides[i][axis];
      if (++index[axis] < runs.outer[axis]) break;
      for (int i = 0; i < runs.operands; ++i) at[i] -= runs.strides[i][axis] * runs.outer[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace rote
