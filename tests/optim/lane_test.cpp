// tests/optim/lane_test.cpp — one lane, which is what a thread of a device computes, against the instruction set in use: each update formula.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "optim/update_table.h"
#include "optim/updates.h"

using namespace rote;

namespace {

constexpr int64_t kElements = 100000;

template <class U>
void check_update() {
  std::mt19937 source(5);
  // Magnitudes from 2^-140 to 2^20: moments that the update must flush, and sums in which one term vanishes.
  const auto draw = [&] { return std::ldexp(static_cast<float>(static_cast<int32_t>(source())) * 0x1p-31f, static_cast<int>(source() % 160) - 140); };
  constexpr int kTensors = 2 + U::states;  // p, g and the state
  std::vector<float> tensors[2][kTensors];
  for (int k = 0; k < kTensors; ++k) {
    tensors[0][k].resize(kElements);
    for (float& e : tensors[0][k]) e = k < 3 ? draw() : std::abs(draw());
    tensors[1][k] = tensors[0][k];
  }
  float scalars[U::scalars];
  for (float& s : scalars) s = static_cast<float>(source()) * 0x1p-32f;
  const optim::UpdateKernel<float> kernels[2] = {optim::UpdateLoop<isa::lane::Tag, float, U>::kernel, optim::update_kernel<U, float>()};
  uint32_t words[2];
  for (int i = 0; i < 2; ++i) {
    std::vector<float>* t = tensors[i];
    float* state[3] = {};
    for (int k = 0; k < U::states; ++k) state[k] = t[2 + k].data();
    words[i] = kernels[i](kElements, t[0].data(), t[1].data(), state, scalars);
  }
  CHECK(words[0] == words[1]);
  for (int k = 0; k < kTensors; ++k) CHECK(std::memcmp(tensors[0][k].data(), tensors[1][k].data(), kElements * sizeof(float)) == 0);
}

template <class... U>
void check_updates(OpList<U...>) {
  (check_update<U>(), ...);
}

}  // namespace

TEST_CASE("lane: each update has the bits of the instruction set in use") { check_updates(optim::AllUpdates{}); }
