// kernels/cpu/index.cpp — the ordered sum of the gradients of a table's rows, by id. No bounds checks: callers have made them.
#include <stddef.h>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/scratch.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

// The tree law over leaves of which most are missing (they would add 0). Two neighbours on the stack belong to one subtree of 2^(b+1)
// leaves, b the highest bit in which their numbers differ; they merge before the stack receives a leaf outside that subtree.
struct SparseTree {
  ROTE_INLINE void push(const Lanes& value, int64_t leaf) {
    while (top >= 2 && above(leaves[top - 1], leaf) > above(leaves[top - 2], leaves[top - 1])) merge();
    stack[top] = value;
    leaves[top++] = leaf;
  }
  ROTE_INLINE Lanes total() {
    while (top >= 2) merge();
    return stack[0];
  }

 private:
  // Size of the smallest aligned subtree with both leaves, as its highest bit.
  static ROTE_INLINE int above(int64_t a, int64_t b) { return 63 - __builtin_clzll(static_cast<uint64_t>(a ^ b)); }
  ROTE_INLINE void merge() {
    stack[top - 2] = stack[top - 2] + stack[top - 1];
    --top;
  }
  Lanes stack[64];
  int64_t leaves[64];
  int top = 0;
};

template <class M>
ROTE_INLINE void add_row(Lanes& sum, const Real* row, M m) {
  if constexpr (sizeof(m) == sizeof(Whole)) {
    sum.a += load(row), sum.b += load(row + kLanes), sum.c += load(row + 2 * kLanes), sum.d += load(row + 3 * kLanes);
  } else {
    sum.a += load(row, m);
    if (m > kLanes) sum.b += load(row + kLanes, m - kLanes);
    if (m > 2 * kLanes) sum.c += load(row + 2 * kLanes, m - 2 * kLanes);
    if (m > 3 * kLanes) sum.d += load(row + 3 * kLanes, m - 3 * kLanes);
  }
}

// Σ over the positions of one id for the columns at dy: a chain inside each leaf, then the tree over leaves.
template <class M>
ROTE_INLINE Lanes sum_positions(const int64_t* positions, int64_t count, int64_t C, int64_t leaf, const Real* dy, M m) {
  SparseTree tree;
  for (int64_t at = 0; at < count;) {
    const int64_t number = positions[at] / leaf, end = (number + 1) * leaf;
    Lanes sum = Lanes::zero();
    for (; at < count && positions[at] < end; ++at) add_row(sum, dy + positions[at] * C, m);
    tree.push(sum, number);
  }
  return tree.total();
}

uint32_t sum_of_id(const int64_t* positions, int64_t count, int64_t C, int64_t leaf, const Real* dy, Real* out) {
  Amax amax;
  const Vec zero(Real(0));
  for (int64_t c = 0; c < C; c += kSumLanes) {
    const int m = static_cast<int>(least(C - c, kSumLanes));
    const Lanes sum = m == kSumLanes ? sum_positions(positions, count, C, leaf, dy + c, Whole{}) : sum_positions(positions, count, C, leaf, dy + c, m);
    const Vec sums[4] = {sum.a + zero, sum.b + zero, sum.c + zero, sum.d + zero};
    for (int k = 0; k < 4 && k * kLanes < m; ++k) {
      store(out + c + k * kLanes, sums[k], m - k * kLanes);
      amax.see(sums[k], m - k * kLanes);
    }
  }
  return amax.word();
}

}  // namespace

uint32_t embedding_backward(int64_t n, int64_t C, int64_t V, int64_t leaf, int64_t padding_idx, const int64_t* ids, const Real* dy,
                            Real* dtable) {
  if (leaf == 0) leaf = n > 0 ? n : 1;
  // Counting sort: begin[v] … begin[v+1] are the places in `positions` of id v, positions ascending.
  int64_t* begin = static_cast<int64_t*>(take_scratch((V + 1 + n) * static_cast<int64_t>(sizeof(int64_t))));
  int64_t* positions = begin + V + 1;
  for (int64_t v = 0; v <= V; ++v) begin[v] = 0;
  for (int64_t i = 0; i < n; ++i)
    if (ids[i] != padding_idx) ++begin[ids[i] + 1];
  for (int64_t v = 0; v < V; ++v) begin[v + 1] += begin[v];
  for (int64_t i = 0; i < n; ++i)
    if (ids[i] != padding_idx) positions[begin[ids[i]]++] = i;
  // begin[v] has moved to the end of v: the start of v + 1.
  const uint32_t word = parallel(ceil_div(V, 64), [&](int64_t task) -> uint32_t {
    const int64_t last = least((task + 1) * 64, V);
    uint32_t top = 0;
    for (int64_t v = task * 64; v < last; ++v) {
      const int64_t start = v == 0 ? 0 : begin[v - 1], count = begin[v] - start;
      if (count == 0) {
        __builtin_memset(dtable + v * C, 0, static_cast<size_t>(C) * sizeof(Real));
        continue;
      }
      const uint32_t seen = sum_of_id(positions + start, count, C, leaf, dy, dtable + v * C);
      top = seen > top ? seen : top;
    }
    return top;
  });
  give_scratch(begin);
  return word;
}

}  // namespace rote::isa::ROTE_ISA_NAME
