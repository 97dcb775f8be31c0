// trainer/seed.h — seeds of the process, and who goes first among several. The generator itself: tensor/generator.h.
#pragma once

#include <cstdint>
#include <functional>

namespace rote {

// Seeds every draw that follows: there is one generator for all devices. `deterministic` asks for what holds in any case.
// Throws ArgumentError outside of 0 … 2^32-1.
void set_seed(int64_t seed, bool deterministic = false);
// The same: no op here gives other bits on another run, number of threads or machine, so there is none to refuse or to warn of.
void enable_full_determinism(int64_t seed, bool warn_only = false);

// For its scope, the local first process goes before the others: they wait in the constructor until it has left its own scope, by an exception too.
// local_rank -1: one process, nothing to wait for. The barrier is where all ranks meet; one process needs none. What it throws leaves the constructor,
// but where the first process ends its scope it is said on stderr, since a destructor throws nothing.
class distributed_zero_first {
 public:
  explicit distributed_zero_first(int local_rank, std::function<void()> barrier = {});
  ~distributed_zero_first();
  distributed_zero_first(const distributed_zero_first&) = delete;
  distributed_zero_first& operator=(const distributed_zero_first&) = delete;

 private:
  int local_rank_;
  std::function<void()> barrier_;
};
using torch_distributed_zero_first = distributed_zero_first;

}  // namespace rote
