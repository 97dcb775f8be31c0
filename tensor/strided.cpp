#include "tensor/strided.h"

#include <algorithm>
#include <cstring>

#include "kernels/pool.h"
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

namespace {

// f(at0, at1, n) for pieces of n elements of a run that begin there, all of them once, by all threads and in any order. Where the second operand's
// neighbours lie across the runs, sixteen runs go side by side: a cache line of it is fetched once.
template <class F>
void for_each_piece(const Runs& runs, const F& f) {
  constexpr int64_t kSmall = 1 << 15, kShort = 32, kAcross = 16;
  int across = -1;
  for (int axis = 0; runs.step[1] != 1 && axis < runs.outer.axes(); ++axis)
    if (runs.strides[1][axis] == 1) across = axis;
  const int64_t elements = runs.outer.numel() * runs.length;
  if (elements < kSmall || (across < 0 && runs.length < kShort))
    return for_each_run(runs, [&](const int64_t* at) { f(at[0], at[1], runs.length); });
  Shape units = runs.outer;
  if (across >= 0) units[across] = (units[across] + kAcross - 1) / kAcross;
  const int64_t piece = across >= 0 ? 256 : 8192, pieces = (runs.length + piece - 1) / piece;
  const int64_t count = units.numel() * pieces, per_task = std::max<int64_t>(1, count * kSmall / elements);
  parallel((count + per_task - 1) / per_task, [&](int64_t task) -> uint32_t {
    for (int64_t unit = task * per_task; unit < std::min(count, (task + 1) * per_task); ++unit) {
      const int64_t begin = unit % pieces * piece, n = std::min(piece, runs.length - begin);
      int64_t at0 = begin * runs.step[0], at1 = begin * runs.step[1], rest = unit / pieces, side_by_side = 1;
      for (int axis = units.axes() - 1; axis >= 0; --axis) {
        int64_t index = rest % units[axis];
        rest /= units[axis];
        if (axis == across) {
          index *= kAcross;
          side_by_side = std::min(kAcross, runs.outer[axis] - index);
        }
        at0 += index * runs.strides[0][axis], at1 += index * runs.strides[1][axis];
      }
      for (int64_t k = 0; k < side_by_side; ++k) f(at0 + (k > 0 ? k * runs.strides[0][across] : 0), at1 + k, n);
    }
    return 0;
  });
}

}  // namespace

void copy_runs(const Runs& runs, void* to, DType to_dtype, const void* from, DType from_dtype) {
  const CopyRun run = copy_run_of(to_dtype, from_dtype);
  const int64_t to_size = size_of(to_dtype), from_size = size_of(from_dtype);
  const bool is_plain = to_dtype == from_dtype && runs.step[0] == 1 && runs.step[1] == 1;
  for_each_piece(runs, [&](int64_t to_at, int64_t from_at, int64_t n) {
    char* const out = static_cast<char*>(to) + to_at * to_size;
    const char* const in = static_cast<const char*>(from) + from_at * from_size;
    if (is_plain) std::memcpy(out, in, static_cast<size_t>(n * to_size));
    else run(out, runs.step[0], in, runs.step[1], n);
  });
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
