// tests/optim/blocks_test.cpp — updates over what is kept in 16 bits: the masters of an f32 run to the bit, what each way keeps, one bit pattern for any threads.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "autograd/status.h"
#include "kernels/philox.h"
#include "kernels/pool.h"
#include "optim/adamw.h"
#include "optim/blocks.h"
#include "optim/clip.h"
#include "optim/sgd.h"

using namespace rote;
using namespace rote::optim;

namespace {

constexpr int64_t kElements = 5000;  // two blocks and a part

// Values in (-1,1) that use all bits.
Tensor drawn(uint64_t seed, int64_t n = kElements) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(static_cast<int32_t>(philox(seed, {{static_cast<uint32_t>(i), 0, 0, 0}}).word[0])) * 0x1p-31f);
  return from_values({n}, values);
}

Tensor parameter(const Tensor& values) {
  Tensor p = full(values.shape(), 0);
  copy_elements(p, values);
  return requires_grad(p);
}

// Gradients that bf16 holds, so that f32 and bf16 parameters are fed the same.
void give_grad(const Tensor& p, uint64_t seed) {
  zero_grad({p});
  backward({p * 1.0}, {converted(converted(drawn(seed, p.numel()), DType::bf16), p.dtype())});
  REQUIRE(p.grad().dtype() == p.dtype());
}

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

// What weights and rest stand for.
std::vector<float> masters(const Tensor& p, const Tensor& low) {
  std::vector<float> all;
  for (int64_t i = 0; i < p.numel(); ++i)
    all.push_back(std::bit_cast<float>((uint32_t{p.data<BFloat16>()[i].bits} << 16) + static_cast<uint32_t>(static_cast<int32_t>(low.data<int16_t>()[i]))));
  return all;
}

Tensor rest_of(const Optimizer& optimizer) { return optimizer.state_tensors().back().second; }

}  // namespace

TEST_CASE("split master: any f32 comes back to the bit, its weight is a nearest bf16") {
  std::vector<float> values = {0.0f, -0.0f, 1.0f, -1.0f, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max(), 1e-45f};
  for (uint64_t u = 0; u < uint64_t{1} << 32; u += 65521 * 7) values.push_back(std::bit_cast<float>(static_cast<uint32_t>(u)));
  for (const uint32_t low : {0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) values.push_back(std::bit_cast<float>(0x3F800000u | low));
  const Tensor p = parameter(from_values({static_cast<int64_t>(values.size())}, values));
  Sgd sgd({{"p", p}}, {.lr = 0});
  sgd.keep({.weights = Weights::split_master});
  const std::vector<float> back = masters(p, rest_of(sgd));
  int wrong = 0, far = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t weight = p.data<BFloat16>()[i].bits, nearest = to_bfloat16(values[i]).bits;
    if (std::isnan(values[i])) {
      wrong += weight != 0x7FC0 || bits(back[i]) != 0x7FC00000u;
      continue;
    }
    wrong += bits(back[i]) != bits(values[i]);
    far += weight != nearest && !((bits(values[i]) & 0xFFFFu) == 0x8000u && weight == nearest + 1);  // a tie goes away from zero
  }
  CHECK(wrong == 0);
  CHECK(far == 0);
}

TEST_CASE("split master: masters are those of AdamW over f32 parameters with the same gradients, to the bit") {
  for (const bool amsgrad : {false, true}) {
    const Tensor start = drawn(1), p = parameter(start), q = parameter(start);
    AdamW f32({{"p", p}}, {.lr = 1e-3, .amsgrad = amsgrad}), split({{"p", q}}, {.lr = 1e-3, .amsgrad = amsgrad});
    split.keep({.weights = Weights::split_master});
    for (uint64_t t = 0; t < 20; ++t) {
      give_grad(p, 100 + t);
      give_grad(q, 100 + t);
      f32.step({.max_norm = 1});
      split.step({.max_norm = 1});
    }
    const std::vector<float> back = masters(q, rest_of(split));
    int wrong = 0;
    for (int64_t i = 0; i < kElements; ++i) wrong += bits(back[static_cast<size_t>(i)]) != bits(p.data<float>()[i]);
    CHECK(wrong == 0);
    const NamedState a = f32.state_tensors(), b = split.state_tensors();
    for (size_t k = 0; k < a.size(); ++k)
      for (int64_t i = 0; i < kElements; ++i) wrong += bits(a[k].second.data<float>()[i]) != bits(b[k].second.data<float>()[i]);
    CHECK(wrong == 0);
  }
}

TEST_CASE("blocks: the same bits for any thread count, for each way") {
  for (const Weights weights : {Weights::as_they_are, Weights::split_master, Weights::kahan, Weights::stochastic}) {
    std::vector<NamedState> states;
    std::vector<Tensor> ends;
    for (const int threads : {1, 2, 5}) {
      set_num_threads(threads);
      const Tensor p = parameter(drawn(1));
      AdamW adamw({{"p", p}}, {});
      adamw.keep({.momentum = DType::bf16, .variance = DType::bf16, .weights = weights, .seed = 3});
      for (uint64_t t = 0; t < 4; ++t) {
        give_grad(p, 100 + t);
        adamw.step();
      }
      states.push_back(adamw.state_tensors());
      states.back().emplace_back("p", p);
    }
    set_num_threads(0);
    for (size_t k = 0; k < states[0].size(); ++k)
      for (const size_t other : {1, 2}) {
        const Tensor a = states[0][k].second, b = states[other][k].second;
        CHECK(std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.numel() * size_of(a.dtype()))) == 0);
      }
  }
}

TEST_CASE("blocks: steps too small for bf16 are kept by all ways but rounding to nearest") {
  // 1000 steps of 1e-4 from 1: rounded to nearest each is lost, the gap below 1 is 2^-8.
  const auto after = [](Weights weights) {
    Tensor p = parameter(full({kElements}, 1.0));
    if (weights == Weights::as_they_are) {
      p = converted(p, DType::bf16);
      requires_grad(p);
    }
    Sgd sgd({{"p", p}}, {.lr = 1e-4});
    if (weights != Weights::as_they_are) sgd.keep({.weights = weights, .seed = 8});
    zero_grad({p});
    backward(sum(p));
    for (int t = 0; t < 1000; ++t) sgd.step();
    return mean(to(p, DType::f32)).item();
  };
  CHECK(after(Weights::as_they_are) == 1);
  CHECK(after(Weights::split_master) == doctest::Approx(.9).epsilon(.0025));  // half of a gap
  CHECK(after(Weights::kahan) == doctest::Approx(.9).epsilon(.0025));
  // Each of 5000 walks throws 1000 coins for a gap of 2^-8 or so: its standard error is below 0.02, that of their mean below 3e-4.
  CHECK(std::abs(after(Weights::stochastic) - .9) < 1.5e-3);
}

TEST_CASE("kahan: weight and compensation together follow the f32 run to 2^-16, the weight alone is their nearest bf16") {
  const Tensor start = drawn(1), p = parameter(start), q = parameter(start);
  AdamW f32({{"p", p}}, {.lr = 1e-3}), kahan({{"p", q}}, {.lr = 1e-3});
  kahan.keep({.weights = Weights::kahan});
  for (uint64_t t = 0; t < 20; ++t) {
    give_grad(p, 100 + t);
    give_grad(q, 100 + t);
    f32.step();
    kahan.step();
  }
  const Tensor rest = rest_of(kahan);
  int far = 0, unrounded = 0;
  for (int64_t i = 0; i < kElements; ++i) {
    const float weight = to_float(q.data<BFloat16>()[i]), lost = to_float(rest.data<BFloat16>()[i]), exact = p.data<float>()[i];
    // The compensation is at most 2^-9 of the weight and rounded to 8 bits each step: 20 errors of 2^-18.
    far += std::abs(weight + lost - exact) > 20 * 0x1p-17f * std::max(std::abs(exact), 2e-2f);
    unrounded += to_bfloat16(weight + lost).bits != q.data<BFloat16>()[i].bits && std::abs(lost) < 0x1p-9f * std::abs(weight);
  }
  CHECK(far == 0);
  CHECK(unrounded == 0);
}

TEST_CASE("rounding by chance: another step, name or seed draws anew; the same ones draw the same") {
  // One step of equal weights that cuts off about half of a last bit.
  const auto after = [](const char* name, uint64_t seed, int64_t steps_before) {
    const Tensor p = parameter(full({kElements}, 1.0));
    Sgd sgd({{name, p}}, {.lr = 0x1p-9});
    sgd.keep({.weights = Weights::stochastic, .seed = seed});
    sgd.load_state({}, {{name, steps_before}});
    backward(sum(p));
    sgd.step();
    return std::vector<BFloat16>(p.data<BFloat16>(), p.data<BFloat16>() + kElements);
  };
  const auto first = after("p", 5, 1);
  const auto different = [&](const std::vector<BFloat16>& other) {
    int n = 0;
    for (size_t i = 0; i < first.size(); ++i) n += first[i].bits != other[i].bits;
    return n;
  };
  CHECK(different(after("p", 5, 1)) == 0);
  for (const int n : {different(after("q", 5, 1)), different(after("p", 6, 1)), different(after("p", 5, 2))}) CHECK(n == doctest::Approx(kElements / 2).epsilon(.1));
}

TEST_CASE("moments in bf16: the mean of squares follows a gradient that shrinks, to nearest it would stand still") {
  // v = .999·v + .001·g²; each step moves it by less than half of bf16's last bit.
  const Tensor p = parameter(full({kElements}, 1.0));
  AdamW adamw({{"p", p}}, {.lr = 0, .weight_decay = 0});
  adamw.keep({.momentum = DType::bf16, .variance = DType::bf16, .seed = 11});
  double exact = 0;
  float nearest = 0;
  for (int t = 0; t < 600; ++t) {
    const double g = t < 100 ? 1 : 1e-3;
    zero_grad({p});
    backward(sum(p * g));
    adamw.step();
    exact = .999 * exact + .001 * g * g;
    nearest = to_float(to_bfloat16(.999f * nearest + .001f * static_cast<float>(g * g)));
  }
  const double kept = mean(to(adamw.state_tensors()[1].second, DType::f32)).item();
  CHECK(kept == doctest::Approx(exact).epsilon(.005));
  CHECK(nearest > 1.5f * static_cast<float>(exact));
}

TEST_CASE("blocks: an update that leaves bf16's range is told by its status word") {
  Tensor p = parameter(full({4}, 3e38));
  Sgd sgd({{"p", p}}, {.lr = 1});
  sgd.keep({.weights = Weights::split_master});
  zero_grad({p});
  backward({p * 1.0}, {converted(full({4}, -4e37), DType::bf16)});
  clear_status();
  sgd.step({.norm = 1.0});
  const std::optional<StatusRecord> bad = first_non_finite();
  REQUIRE(bad.has_value());
  CHECK(status_path(bad->path) == "p");
  CHECK(masters(p, rest_of(sgd))[0] < std::numeric_limits<float>::infinity());  // the master is finite, its weight is not
}

TEST_CASE("clip: the norm of 16-bit gradients is that of the same values in f32") {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor narrow = converted(drawn(3, 10000), dtype), wide = converted(narrow, DType::f32);
    CHECK(two_norm({narrow, narrow}) == two_norm({wide, wide}));
  }
}
