// trainer/data/sampler.cpp — Mersenne Twister, permutations and grouping by length.
#include "trainer/data/sampler.h"

#include <algorithm>
#include <numeric>

#include "kernels/check.h"

namespace rote::data {

Mt19937::Mt19937(uint64_t seed) {
  state_[0] = static_cast<uint32_t>(seed);
  for (size_t i = 1; i < state_.size(); ++i) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
}

void Mt19937::refill() {
  const size_t n = state_.size();
  for (size_t i = 0; i < n; ++i) {
    const uint32_t joined = (state_[i] & 0x80000000u) | (state_[(i + 1) % n] & 0x7FFFFFFFu);
    state_[i] = state_[(i + 397) % n] ^ (joined >> 1) ^ (joined & 1 ? 0x9908B0DFu : 0);
  }
  at_ = 0;
}

uint32_t Mt19937::next() {
  if (at_ == state_.size()) refill();
  uint32_t word = state_[at_++];
  word ^= word >> 11;
  word ^= (word << 7) & 0x9D2C5680u;
  word ^= (word << 15) & 0xEFC60000u;
  return word ^ (word >> 18);
}

std::vector<int64_t> randperm(int64_t n, Mt19937& generator) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = 0; i + 1 < order.size(); ++i) std::swap(order[i], order[i + generator.next() % (order.size() - i)]);
  return order;
}

std::vector<int64_t> grouped_by_length(const std::vector<int64_t>& order, const std::vector<int64_t>& lengths, int64_t group) {
  const auto length = [&](int64_t row) { return lengths[static_cast<size_t>(row)]; };
  const size_t size = static_cast<size_t>(group);
  std::vector<int64_t> out = order;
  size_t longest = 0;
  for (size_t begin = 0; begin < out.size(); begin += size) {
    const auto first = out.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = out.begin() + static_cast<std::ptrdiff_t>(std::min(begin + size, out.size()));
    std::stable_sort(first, last, [&](int64_t a, int64_t b) { return length(a) > length(b); });
    if (length(*first) > length(out[longest])) longest = begin;
  }
  if (!out.empty()) std::swap(out[0], out[longest]);
  return out;
}

std::vector<int64_t> epoch_order(const EpochOrder& wanted) {
  const int64_t n = wanted.rows;
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (wanted.strategy == SamplingStrategy::sequential) return order;

  Mt19937 generator(static_cast<uint64_t>(wanted.base_seed) + static_cast<uint64_t>(wanted.epoch));
  order = randperm(n, generator);
  if (wanted.strategy != SamplingStrategy::group_by_length) return order;

  ROTE_CHECK(wanted.lengths && static_cast<int64_t>(wanted.lengths->size()) == n, ArgumentError, "group_by_length: got ",
             wanted.lengths ? wanted.lengths->size() : 0, " lengths for ", n, " rows; every row needs one.");
  // At least four groups an epoch, at most 50 updates in one: long enough to find equal lengths, short enough to stay random.
  const int64_t updates = std::clamp<int64_t>(n / (4 * wanted.block), 1, 50);
  return grouped_by_length(order, *wanted.lengths, updates * wanted.block);
}

}  // namespace rote::data
