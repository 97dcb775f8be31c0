#include "trainer/seed.h"

#include <cstdio>
#include <exception>
#include <utility>

#include "kernels/check.h"
#include "tensor/generator.h"

namespace rote {

void set_seed(int64_t seed, bool) {
  ROTE_CHECK(seed >= 0 && seed <= 0xFFFFFFFFLL, ArgumentError, "set_seed: the seed is ", seed, "; it must lie in 0 … 4294967295.");
  manual_seed(static_cast<uint64_t>(seed));
}

void enable_full_determinism(int64_t seed, bool) { set_seed(seed, true); }

distributed_zero_first::distributed_zero_first(int local_rank, std::function<void()> barrier) : local_rank_(local_rank), barrier_(std::move(barrier)) {
  ROTE_CHECK(local_rank >= -1, ArgumentError, "distributed_zero_first: local_rank is ", local_rank, "; it must be -1 for one process, or the rank.");
  if (local_rank_ > 0 && barrier_) barrier_();
}

distributed_zero_first::~distributed_zero_first() {
  if (local_rank_ != 0 || !barrier_) return;
  try {
    barrier_();
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "distributed_zero_first: the barrier failed, the other processes may wait: %s\n", fault.what());
  } catch (...) {
    std::fprintf(stderr, "distributed_zero_first: the barrier failed, the other processes may wait\n");
  }
}

}  // namespace rote
