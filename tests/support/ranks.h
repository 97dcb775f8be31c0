// tests/support/ranks.h — the tree law over ranks (arithmetic.md 6): each owns contiguous leaves, sums and sends the largest aligned subtrees of them, and a
// receiver folds what comes in order. No sums here but the receiver's; no process, no message.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

namespace rote::testing {

struct Subtree {
  int64_t begin = 0, leaves = 0;  // a power of two that divides `begin`
};

// The leaves begin … end-1 as subtrees, each as large as its place allows.
inline std::vector<Subtree> maximal_subtrees(int64_t begin, int64_t end) {
  std::vector<Subtree> found;
  while (begin < end) {
    uint64_t leaves = std::bit_floor(static_cast<uint64_t>(end - begin));
    if (begin > 0) leaves = std::min(leaves, uint64_t{1} << std::countr_zero(static_cast<uint64_t>(begin)));
    found.push_back({begin, static_cast<int64_t>(leaves)});
    begin += static_cast<int64_t>(leaves);
  }
  return found;
}

// Sums of subtrees that follow each other from leaf 0: neighbours of one size become one of twice the size; at the end the smallest fold first.
template <class T, class Add>
class Receiver {
 public:
  explicit Receiver(Add add) : add_(std::move(add)) {}

  void push(int64_t leaves, T sum) {
    while (!parts_.empty() && parts_.back().leaves == leaves) {
      sum = add_(parts_.back().sum, sum);
      leaves *= 2;
      parts_.pop_back();
    }
    parts_.push_back({leaves, std::move(sum)});
  }
  T total() const {
    T sum = parts_.back().sum;
    for (size_t i = parts_.size() - 1; i-- > 0;) sum = add_(parts_[i].sum, sum);
    return sum;
  }

 private:
  struct Part {
    int64_t leaves;
    T sum;
  };
  Add add_;
  std::vector<Part> parts_;
};

// Borders of `ranks` contiguous ranges of n leaves, some of them perhaps empty: 0, …, n.
inline std::vector<int64_t> random_borders(int64_t n, int ranks, std::mt19937& source) {
  std::vector<int64_t> borders = {0, n};
  for (int i = 1; i < ranks; ++i) borders.push_back(static_cast<int64_t>(source() % static_cast<uint64_t>(n + 1)));
  std::sort(borders.begin(), borders.end());
  return borders;
}

}  // namespace rote::testing
