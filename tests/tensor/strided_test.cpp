// tests/tensor/strided_test.cpp — copies between layouts, small and large, in pieces by several threads: each element at its place, once.
#include "tensor/strided.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "kernels/pool.h"
#include "tensor/tensor.h"

using namespace rote;

namespace {

// Element i of memory holds i modulo 251, which every dtype has.
Tensor numbered(int64_t n, DType dtype) {
  const Tensor x = empty({n}, {.dtype = DType::f32});
  for (int64_t i = 0; i < n; ++i) x.data<float>()[i] = static_cast<float>(i % 251);
  return converted(x, dtype);
}

// The offsets that x's elements have, in logical order.
std::vector<int64_t> offsets(const Shape& shape, const Strides& strides) {
  std::vector<int64_t> all{0};
  for (int axis = 0; axis < shape.axes(); ++axis) {
    std::vector<int64_t> next;
    for (const int64_t at : all)
      for (int64_t i = 0; i < shape[axis]; ++i) next.push_back(at + i * strides[axis]);
    all = next;
  }
  return all;
}

struct Layout {
  Shape shape;
  Strides to, from;
};

const Layout kLayouts[] = {
    {{300, 700}, {700, 1}, {1, 300}},                 // turned
    {{700, 45}, {1, 700}, {45, 1}},                   // written turned
    {{3, 90, 200}, {18000, 200, 1}, {200, 600, 1}},   // runs of some length
    {{40, 50, 60}, {3000, 60, 1}, {1, 2400, 40}},     // all axes in another order
    {{20000, 3}, {3, 1}, {1, 20000}},                 // short runs, turned
    {{3, 20000}, {20000, 1}, {1, 3}},
    {{50000}, {1}, {3}},                              // every third element
    {{70000, 2}, {2, 1}, {4, 2}},                     // short runs, neither
    {{200, 300}, {301, 1}, {0, 1}},                   // repeated rows into rows with a gap
    {{100000}, {1}, {1}},
    {{17, 33}, {33, 1}, {1, 17}},                     // small
};

}  // namespace

TEST_CASE("copy_runs: each element lands at its place, between all layouts and dtypes, for each number of threads") {
  for (const Layout& layout : kLayouts) {
    const std::vector<int64_t> to_at = offsets(layout.shape, layout.to), from_at = offsets(layout.shape, layout.from);
    int64_t to_size = 0, from_size = 0;
    for (const int64_t at : to_at) to_size = std::max(to_size, at + 1);
    for (const int64_t at : from_at) from_size = std::max(from_size, at + 1);
    const DType pairs[][2] = {{DType::f32, DType::f32}, {DType::bf16, DType::bf16}, {DType::bf16, DType::f32}, {DType::f32, DType::f16}, {DType::i64, DType::i64}};
    for (const auto& [to_dtype, from_dtype] : pairs)
      for (const int threads : {1, 2, 5}) {
        CAPTURE(layout.shape.numel());
        set_num_threads(threads);
        const Tensor from = numbered(from_size, from_dtype), to = full({to_size}, 99, {.dtype = to_dtype});
        std::vector<float> want(static_cast<size_t>(to_size), 99);
        for (size_t i = 0; i < to_at.size(); ++i) want[static_cast<size_t>(to_at[i])] = static_cast<float>(from_at[i] % 251);
        copy_runs(common_runs(layout.shape, {layout.to, layout.from}), to.raw(), to_dtype, from.raw(), from_dtype);
        const Tensor got = converted(to, DType::f32);
        CHECK(std::vector<float>(got.data<float>(), got.data<float>() + to_size) == want);
      }
  }
  set_num_threads(0);
}
