#include "optim/blocks.h"

#include <algorithm>
#include <bit>

#include "autograd/backward.h"
#include "autograd/mode.h"
#include "kernels/pool.h"
#include "kernels/rare_table.h"

namespace rote::optim {

namespace {

constexpr int64_t kBlock = 2048;  // elements: a block of all of Adam's tensors stays in the L1 cache

using Room = float[kBlock];

const SixteenTable<float>& sixteen() { return rare_kernels<SixteenTable, float>(); }

template <class T>
T* elements(const Tensor& x, int64_t begin) {
  return static_cast<T*>(x.raw()) + begin;
}

// f(begin, n) for each block of `total` elements. Returns the largest word.
template <class F>
uint32_t over_blocks(int64_t total, const F& f) {
  return parallel((total + kBlock - 1) / kBlock, [&](int64_t block) -> uint32_t { return f(block * kBlock, std::min(kBlock, total - block * kBlock)); });
}

void narrow(const Tensor& x, int64_t begin, int64_t n, const float* values) {
  (x.dtype() == DType::bf16 ? sixteen().to_bf16 : sixteen().to_f16)(n, values, elements<uint16_t>(x, begin));
}

void narrow_by_chance(const Tensor& x, int64_t begin, int64_t n, const float* values, const Chance& chance) {
  sixteen().to_bf16_by_chance(chance, begin, n, values, elements<uint16_t>(x, begin));
}

// bits(master) = weight·2^16 + low. The weight is rounded half up, not half to even: then low fits 16 signed bits and the master comes back to the bit.
void join(int64_t n, const uint16_t* weight, const int16_t* low, float* master) {
  for (int64_t i = 0; i < n; ++i) master[i] = std::bit_cast<float>((static_cast<uint32_t>(weight[i]) << 16) + static_cast<uint32_t>(static_cast<int32_t>(low[i])));
}

void split(int64_t n, const float* master, uint16_t* weight, int16_t* low) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t u = std::bit_cast<uint32_t>(master[i]), canonical = (u & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : u;
    const uint32_t high = (canonical + 0x8000u) >> 16;
    weight[i] = static_cast<uint16_t>(high);
    low[i] = static_cast<int16_t>(static_cast<uint16_t>(canonical - (high << 16)));
  }
}

// What the parameter holds: the weights and their rest.
float* opened(const Optimizer::Slot& slot, int64_t begin, int64_t n, float* room) {
  const Tensor& p = slot.param;
  if (p.dtype() == DType::f32) return elements<float>(p, begin);
  if (slot.precision.weights == Weights::split_master) return join(n, elements<uint16_t>(p, begin), elements<int16_t>(slot.rest, begin), room), room;
  widened(p, begin, n, room);
  if (slot.precision.weights != Weights::kahan) return room;
  Room lost;
  const float* compensation = widened(slot.rest, begin, n, lost);
  for (int64_t i = 0; i < n; ++i) room[i] += compensation[i];
  return room;
}

// The way back. `op` numbers the draw.
void closed(const Optimizer::Slot& slot, int64_t begin, int64_t n, const float* values, uint32_t op) {
  const Tensor& p = slot.param;
  switch (slot.precision.weights) {
    case Weights::as_they_are: return narrow(p, begin, n, values);
    case Weights::split_master: return split(n, values, elements<uint16_t>(p, begin), elements<int16_t>(slot.rest, begin));
    case Weights::stochastic: return narrow_by_chance(p, begin, n, values, {slot.precision.seed, static_cast<uint64_t>(slot.step), op});
    case Weights::kahan: break;
  }
  Room lost;
  narrow(p, begin, n, values);
  widened(p, begin, n, lost);
  float* rest = slot.rest.dtype() == DType::f32 ? elements<float>(slot.rest, begin) : lost;
  for (int64_t i = 0; i < n; ++i) rest[i] = values[i] - lost[i];
  if (rest == lost) narrow(slot.rest, begin, n, lost);
}

// The id of the parameter's draws, of those of a tensor of its state.
uint32_t draw_of(const Optimizer::Slot& slot, int tensor) { return draw_id("rounding", slot.name, static_cast<uint32_t>(tensor)); }

}  // namespace

const float* widened(const Tensor& x, int64_t begin, int64_t n, float* room) {
  if (x.dtype() == DType::f32) return elements<float>(x, begin);
  (x.dtype() == DType::bf16 ? sixteen().from_bf16 : sixteen().from_f16)(n, elements<uint16_t>(x, begin), room);
  return room;
}

uint32_t run_in_blocks(const UpdateFormula& formula, const Optimizer::Slot& slot, const Tensor& gradient, const float* scalars) {
  uint32_t ops[1 + kMostStates];
  for (int k = 0; k <= formula.states; ++k) ops[k] = draw_of(slot, k);
  return over_blocks(slot.param.numel(), [&](int64_t begin, int64_t n) -> uint32_t {
    alignas(64) Room p_room, g_room, state_room[kMostStates];
    float* const p = opened(slot, begin, n, p_room);
    const float* const g = widened(gradient, begin, n, g_room);
    float* state[kMostStates];
    for (int k = 0; k < formula.states; ++k) state[k] = const_cast<float*>(widened(slot.state[static_cast<size_t>(k)].second, begin, n, state_room[k]));
    const uint32_t amax = formula.f32(n, p, g, state, scalars);
    if (p == p_room) closed(slot, begin, n, p, ops[0]);
    for (int k = 0; k < formula.states; ++k)
      if (state[k] == state_room[k])
        narrow_by_chance(slot.state[static_cast<size_t>(k)].second, begin, n, state[k], {slot.precision.seed, static_cast<uint64_t>(slot.step), ops[1 + k]});
    return amax;
  });
}

void keep_in_bf16(Optimizer::Slot& slot) {
  const Tensor before = slot.param.dtype() == DType::f32 ? detach(slot.param) : Tensor();
  if (before.defined()) {
    TensorImpl& impl = *slot.param.impl();
    const Tensor narrow = empty(impl.shape, {.dtype = DType::bf16});
    impl.storage = narrow.storage();
    impl.strides = narrow.strides();
    impl.offset = 0;
    impl.dtype = DType::bf16;
    zero_grad({slot.param});
  }
  const Precision& precision = slot.precision;
  if (precision.weights == Weights::split_master) slot.rest = zeros(slot.param.shape(), {.dtype = DType::i16});
  if (precision.weights == Weights::kahan) slot.rest = zeros(slot.param.shape(), {.dtype = precision.compensation});
  if (!before.defined()) return;
  const uint32_t op = draw_of(slot, 0);
  over_blocks(before.numel(), [&](int64_t begin, int64_t n) -> uint32_t {
    closed(slot, begin, n, elements<float>(before, begin), op);
    return 0;
  });
}

}  // namespace rote::optim
