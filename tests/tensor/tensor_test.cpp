// tests/tensor/tensor_test.cpp — the handle, shapes, layouts, conversions, printing.
#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "tensor/alloc.h"
#include "tensor/tensor.h"

using namespace rote;

TEST_CASE("shape: broadcasting aligns at the end and refuses other sizes by name") {
  CHECK(broadcast({4, 1, 3}, {2, 1}, "f") == Shape{4, 2, 3});
  CHECK(broadcast({}, {0, 2}, "f") == Shape{0, 2});
  CHECK_THROWS_WITH_AS(broadcast({4, 3}, {2}, "add"), "add: shapes [4,3] and [2] do not broadcast; counted from the end, each pair of sizes must be equal or hold a 1.",
                       ShapeError);
}

TEST_CASE("shape: axes count from either end") {
  CHECK(normalize_axis(-1, 3, "f") == 2);
  CHECK(normalize_axis(0, 0, "f") == 0);
  CHECK_THROWS_WITH_AS(normalize_axis(3, 3, "sum"), "sum: axis 3 of a tensor with 3 axes; it must lie in -3…2.", ShapeError);
}

TEST_CASE("tensor: an alias shares storage and a copy does not") {
  const Tensor x = from_values({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor t = alias(x, {3, 2}, {1, 3}, 0);
  CHECK(!t.is_contiguous());
  const Tensor copy = contiguous(t);
  CHECK(copy.is_contiguous());
  x.data<float>()[1] = 20;
  CHECK(contiguous(t).data<float>()[2] == 20);
  CHECK(copy.data<float>()[2] == 2);
}

TEST_CASE("tensor: wrong dtype, wrong count and undefined handles are refused with values") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(x.data<double>(), "data: the tensor is f32[2,3], asked for as f64; convert it with to(x, DType::f64) first.", DTypeError);
  CHECK_THROWS_WITH_AS(x.item(), "item: f32[2,3] has 6 elements; item() reads a tensor with exactly one.", ShapeError);
  CHECK_THROWS_WITH_AS(from_values({2}, std::vector<float>{1}), "from_values: 1 values for shape [2], which holds 2.", ShapeError);
  CHECK_THROWS_AS(Tensor().shape(), ArgumentError);
}

TEST_CASE("convert: float to integer truncates toward zero and clamps, NaN gives 0") {
  CHECK(convert<int32_t>(-2.9f) == -2);
  CHECK(convert<int32_t>(3e10f) == INT32_MAX);
  CHECK(convert<int8_t>(-1e9) == -128);
  CHECK(convert<uint8_t>(-1.0) == 0);
  CHECK(convert<int64_t>(1e30) == INT64_MAX);
  CHECK(convert<int64_t>(NAN) == 0);
  CHECK(convert<bool>(0.5f));
}

TEST_CASE("half: every value survives the way to f32 and back, and rounding is to nearest even") {
  for (int bits = 0; bits < 65536; ++bits) {
    const Half h{static_cast<uint16_t>(bits)};
    const float f = to_float(h);
    if (f != f) CHECK(to_half(f).bits == 0x7E00);
    else CHECK(to_half(f).bits == bits);
    const BFloat16 b{static_cast<uint16_t>(bits)};
    const float g = to_float(b);
    if (g == g) CHECK(to_bfloat16(g).bits == bits);
  }
  CHECK(to_half(65519.99f).bits == 0x7BFF);
  CHECK(to_half(65520.0f).bits == 0x7C00);
  CHECK(to_half(1.0f + 0x1p-11f).bits == 0x3C00);  // halfway: to even
  CHECK(to_half(1.0f + 0x3p-11f).bits == 0x3C02);
  CHECK(to_half(0x1p-25f).bits == 0);
  CHECK(to_half(0x1.8p-25f).bits == 1);
  CHECK(to_bfloat16(1.0f + 0x1p-8f).bits == 0x3F80);
}

TEST_CASE("alloc: a freed block is used again and figures follow") {
  empty_cache();
  const int64_t before = memory_figures().in_use;
  void* a = allocate(1000);
  CHECK(memory_figures().in_use == before + 1024);
  CHECK(reinterpret_cast<uintptr_t>(a) % 64 == 0);
  release(a);
  void* b = allocate(900);
  CHECK(b == a);
  release(b);
  set_memory_limit(memory_figures().in_use + 4096);
  CHECK_THROWS_AS(allocate(1 << 20), MemoryError);
  set_memory_limit(0);
  release(allocate(1 << 20));  // a block of the cache is no way around the limit
  set_memory_limit(memory_figures().in_use + 4096);
  CHECK_THROWS_AS(allocate(1 << 20), MemoryError);
  set_memory_limit(0);
}

TEST_CASE("print: aligned, abridged, with dtype and shape") {
  std::ostringstream out;
  out << from_values({2, 2}, std::vector<float>{1, -2.5f, 3, 100}) << "\n" << arange(9);
  CHECK(out.str() == "[[   1, -2.5],\n [   3,  100]] f32[2,2]\n[0, 1, 2, …, 6, 7, 8] i64[9]");
}
