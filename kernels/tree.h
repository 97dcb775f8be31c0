// kernels/tree.h — the tree law (arithmetic.md 6): how leaf results are added. Only per-ISA sources include it; holds no memory of its own.
//
// Tree over n leaves: split at the largest power of two below n, left + right, recurse. Streamed, it is a binary counter: leaves go on a
// stack in order, and once leaf i lies on it the two topmost entries merge as often as i has trailing one bits; at the end they merge
// until one is left. Both forms give the same additions, so the same bits.
#pragma once

#include <stdint.h>

#include "kernels/simd/vec.h"

namespace rote::isa::ROTE_ISA_NAME {

constexpr int kTreeDepth = 40;  // entries that 2^39 leaves need

// Merges due once leaf number `leaf` (from 0) is on the stack, and those due after the last of n leaves (n > 0).
ROTE_INLINE int tree_merges(int64_t leaf) { return 63 - __builtin_clzll(~static_cast<uint64_t>(leaf) & (static_cast<uint64_t>(leaf) + 1)); }
ROTE_INLINE int tree_merges_at_end(int64_t leaves) { return __builtin_popcountll(static_cast<uint64_t>(leaves)) - 1; }

// The stack for values with operator+ (Real, Vec, a struct of Vecs). Larger values (a tile in memory) keep their own stack with the two
// functions above.
template <class T, int kDepth = kTreeDepth>
struct TreeSum {
  ROTE_INLINE void push(T value) {
    for (int merges = tree_merges(leaves); merges > 0; --merges) value = stack[--top] + value;
    stack[top++] = value;
    ++leaves;
  }
  // REQUIRES: something was pushed.
  ROTE_INLINE T total() const {
    T value = stack[top - 1];
    for (int i = top - 2; i >= 0; --i) value = stack[i] + value;
    return value;
  }
  T stack[kDepth];
  int top = 0;
  int64_t leaves = 0;
};

}  // namespace rote::isa::ROTE_ISA_NAME
