// tests/optim/lane_test.cpp — one lane, which is what a thread of a device computes, against the instruction set in use: each update formula.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "optim/update_table.h"
#include "optim/updates.h"

namespace rote::isa::lane {
extern const optim::UpdateKernel<float>* const update_kernels;
}

using namespace rote;

namespace {

constexpr int64_t kElements = 100000;

template <class U>
void check_update() {
  std::mt19937 source(5);
  // Magnitudes from 2^-140 to 2^20: moments that the update must flush, and sums in which one term vanishes.
  const auto draw = [&] { return std::ldexp(static_cast<float>(static_cast<int32_t>(source())) * 0x1p-31f, static_cast<int>(source() % 160) - 140); };
  std::vector<float> state[2][4];  // p, g, m, v of each
  for (std::vector<float>& x : state[0]) {
    x.resize(kElements);
    for (float& e : x) e = draw();
  }
  for (float& e : state[0][3]) e = std::abs(e);
  for (int k = 0; k < 4; ++k) state[1][k] = state[0][k];
  float scalars[U::scalars];
  for (float& s : scalars) s = static_cast<float>(source()) * 0x1p-32f;
  const optim::UpdateKernel<float> kernels[2] = {isa::lane::update_kernels[kIndexOf<U, optim::AllUpdates>], optim::update_kernel<U, float>()};
  uint32_t words[2];
  for (int i = 0; i < 2; ++i) {
    std::vector<float>* s = state[i];
    words[i] = kernels[i](kElements, s[0].data(), s[1].data(), s[2].data(), s[3].data(), scalars);
  }
  CHECK(words[0] == words[1]);
  for (int k = 0; k < 4; ++k) CHECK(std::memcmp(state[0][k].data(), state[1][k].data(), kElements * sizeof(float)) == 0);
}

template <class... U>
void check_updates(OpList<U...>) {
  (check_update<U>(), ...);
}

}  // namespace

TEST_CASE("lane: each update has the bits of the instruction set in use") { check_updates(optim::AllUpdates{}); }
