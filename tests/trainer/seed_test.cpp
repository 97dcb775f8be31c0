// tests/trainer/seed_test.cpp — seeds and the order of processes.
#include "trainer/seed.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "kernels/check.h"
#include "nn/linear.h"
#include "tests/trainer/listed_stream.h"

using namespace rote;

TEST_CASE("set_seed: the same seed, the same draws; a seed beyond 32 bits or below 0 is refused") {
  const auto drawn = [](const std::function<void()>& seed) {
    seed();
    return nn::Linear(3, 3).weight.data<float>()[4];
  };
  const float first = drawn([] { set_seed(42); });
  CHECK(drawn([] { set_seed(42, true); }) == first);
  CHECK(drawn([] { enable_full_determinism(42); }) == first);
  CHECK(drawn([] { enable_full_determinism(42, true); }) == first);
  CHECK(drawn([] { set_seed(43); }) != first);
  CHECK_NOTHROW(set_seed(0));
  CHECK_NOTHROW(set_seed(4294967295));
  CHECK_THROWS_WITH_AS(set_seed(-1), "set_seed: the seed is -1; it must lie in 0 … 4294967295.", ArgumentError);
  CHECK_THROWS_AS(set_seed(4294967296), ArgumentError);
}

TEST_CASE("distributed_zero_first: others wait at the beginning, the first one lets them go at the end, whatever ends it") {
  const auto trace_of = [](int rank) {
    std::string trace;
    try {
      const torch_distributed_zero_first guard(rank, [&] { trace += "barrier "; });
      trace += "work ";
      throw std::runtime_error("stop");
    } catch (const std::runtime_error&) {
    }
    return trace;
  };
  CHECK(trace_of(-1) == "work ");
  CHECK(trace_of(0) == "work barrier ");
  CHECK(trace_of(1) == "barrier work ");
  CHECK(trace_of(3) == "barrier work ");
  const auto broken = [] { throw std::runtime_error("no ring"); };
  CHECK_THROWS_WITH_AS(distributed_zero_first(1, broken), "no ring", std::runtime_error);
  CHECK(testing::said_by([&] { const distributed_zero_first guard(0, broken); }) ==
        "distributed_zero_first: the barrier failed, the other processes may wait: no ring\n");
  CHECK(testing::said_by([] { const distributed_zero_first guard(0, [] { throw 1; }); }) == "distributed_zero_first: the barrier failed, the other processes may wait\n");
  CHECK_NOTHROW(distributed_zero_first(1));  // one process alone has no barrier
  CHECK_THROWS_AS(distributed_zero_first(-2), ArgumentError);
}
