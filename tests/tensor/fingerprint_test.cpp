// tests/tensor/fingerprint_test.cpp — the values that docs/reproducibility.md's lines of Python give, and what a tensor's fingerprint depends on.
#include "tensor/fingerprint.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "kernels/pool.h"

using namespace rote;

namespace {

Tensor ramp(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0.0f);
  return from_values({n}, values);
}

}  // namespace

TEST_CASE("fingerprint: the values that numpy gives by the lines of the page") {
  CHECK(fingerprint(from_values({2, 3}, std::vector<float>{0, 1, 2, 3, 4, 5})) == 0x44491c19a8675d41u);
  CHECK(fingerprint(ramp(40000)) == 0x082783d0be4b120eu);  // three chunks, the last one short
  CHECK(fingerprint(from_values({}, std::vector<int64_t>{-7})) == 0xdeca8bd38bf1e47du);
  CHECK(fingerprint(empty({0, 3})) == 0x13663c30c885ea12u);
  CHECK(fingerprint(from_values({2}, std::vector<float>{1, -NAN})) == 0xad34377437df3dc0u);
  CHECK(fingerprint(converted(from_values({3}, std::vector<float>{1, 2.5f, -3}), DType::f16)) == 0xb48fc71a2e662a04u);
  CHECK(fingerprint(from_values({}, std::vector<double>{0.1})) == 0xb39355b6dd8d67a1u);
  CHECK(fingerprint(Tensor()) == 0);
}

TEST_CASE("fingerprint: shape, dtype and values count; layout, threads and company do not") {
  const Tensor a = from_values({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor memory = from_values({3, 2}, std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(fingerprint(a) == fingerprint(alias(memory, {2, 3}, {1, 2}, 0)));
  CHECK(fingerprint(a) != fingerprint(memory));
  CHECK(fingerprint(a) != fingerprint(alias(a, {3, 2}, {2, 1}, 0)));
  CHECK(fingerprint(a) != fingerprint(alias(a, {1, 2, 3}, {6, 3, 1}, 0)));
  CHECK(fingerprint(full({4}, 0.0)) != fingerprint(full({4}, 0.0, {.dtype = DType::i32})));
  CHECK(fingerprint(full({4}, 0.0, {.dtype = DType::f16})) != fingerprint(full({4}, 0.0, {.dtype = DType::bf16})));
  CHECK(fingerprint(full({4}, 0.0)) != fingerprint(full({4}, -0.0)));
  const Tensor large = ramp(100001);
  const uint64_t alone = fingerprint(large);
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    CHECK(fingerprints({a, Tensor(), large, memory}) == std::vector<uint64_t>{fingerprint(a), 0, alone, fingerprint(memory)});
  }
  set_num_threads(0);
  Tensor other = ramp(100001);
  other.data<float>()[99999] = std::nextafter(99999.0f, 0.0f);
  CHECK(fingerprint(other) != alone);
}
