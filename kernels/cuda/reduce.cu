// kernels/cuda/reduce.cu — sums of rows, sums of columns, maxima of rows, in the orders of cpu/reduce.cpp. No tensor, no axis.
#include "kernels/cuda/grid.cuh"
#include "kernels/tree.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

constexpr int64_t kRowLeaf = 4096;        // elements of one leaf of a row
constexpr int kRowLanes = 64;             // threads of one leaf
constexpr int kFold = 64;                 // leaves that a thread folds: a power of two, so that they are a subtree of the tree law
constexpr int64_t kChainRows = 1024;      // rows of one chain of a column's sum

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What a row is reduced by: + joins two results, as the tree asks.
struct Sum {
  Real v;
  static ROTE_INLINE Sum none() { return {Real(0)}; }
  friend ROTE_INLINE Sum operator+(Sum a, Sum b) { return {a.v + b.v}; }
};
struct Largest {
  Real v;
  static ROTE_INLINE Largest none() { return {-static_cast<Real>(__builtin_inff())}; }
  friend ROTE_INLINE Largest operator+(Largest a, Largest b) { return {maximum(Vec(a.v), Vec(b.v)).v}; }
};
ROTE_INLINE Real result(Sum s) { return s.v + Real(0); }
ROTE_INLINE Real result(Largest s) { return s.v; }

// out[r·leaves + k] = leaf k of row r: thread l of 64 takes the elements l, l + 64, … in order, then the threads fold by halves. `status` is
// given where a leaf is the row.
template <class T>
__global__ void leaves_of_rows(int64_t rows, int64_t n, int64_t leaves, const Real* x, Real* out, uint32_t* status) {
  __shared__ Real upper[kThreads / kRowLanes][kRowLanes / 2];
  const int lane = static_cast<int>(threadIdx.x) % kRowLanes, place = static_cast<int>(threadIdx.x) / kRowLanes;
  Amax amax;
  // Every thread of the block makes the same rounds, with or without a leaf of its own, to meet the others at the barriers.
  for (int64_t first = int64_t{blockIdx.x} * (kThreads / kRowLanes); first < rows * leaves; first += int64_t{gridDim.x} * (kThreads / kRowLanes)) {
    const int64_t leaf = first + place;
    T sum = T::none();
    if (leaf < rows * leaves) {
      const Real* row = x + leaf / leaves * n;
      const int64_t begin = leaf % leaves * kRowLeaf, end = begin + kRowLeaf < n ? begin + kRowLeaf : n;
      for (int64_t i = begin + lane; i < end; i += kRowLanes) sum = sum + T{row[i]};
    }
    if (lane >= kRowLanes / 2) upper[place][lane - kRowLanes / 2] = sum.v;
    __syncthreads();
    if (lane < kRowLanes / 2) {
      sum = sum + T{upper[place][lane]};
      for (int half = kRowLanes / 4; half > 0; half /= 2) sum = sum + T{__shfl_down_sync(0xFFFFFFFFu, sum.v, half)};
      if (lane == 0 && leaf < rows * leaves) {
        out[leaf] = status ? result(sum) : sum.v;
        amax.see(out[leaf]);
      }
    }
    __syncthreads();
  }
  if (status) join_status(status, amax);
}

// out[r·parts + k] = the subtree of 64 leaves from leaf 64·k of row r on. `status` is given where that is the row.
template <class T>
__global__ void fold_leaves(int64_t rows, int64_t leaves, int64_t parts, const Real* in, Real* out, uint32_t* status) {
  Amax amax;
  over_grid(rows * parts, [&](int64_t part) {
    const int64_t begin = part % parts * kFold, end = begin + kFold < leaves ? begin + kFold : leaves;
    TreeSum<T, 8> tree;
    for (int64_t i = begin; i < end; ++i) tree.push(T{in[part / parts * leaves + i]});
    out[part] = status ? result(tree.total()) : tree.total().v;
    amax.see(out[part]);
  });
  if (status) join_status(status, amax);
}

int64_t leaves_of(int64_t n) { return n > kRowLeaf ? ceil_div(n, kRowLeaf) : 1; }

template <class T>
void reduce_rows(cuda::Stream stream, int64_t rows, int64_t n, const Real* x, Real* y, Real* scratch, uint32_t* status) {
  if (rows == 0) return;
  int64_t leaves = leaves_of(n);
  Real* out = leaves == 1 ? y : scratch;
  leaves_of_rows<T><<<blocks_for(rows * leaves * kRowLanes), kThreads, 0, stream>>>(rows, n, leaves, x, out, leaves == 1 ? status : nullptr);
  while (leaves > 1) {
    const int64_t parts = ceil_div(leaves, kFold);
    const Real* in = out;
    out = parts == 1 ? y : out + rows * leaves;
    fold_leaves<T><<<blocks_for(rows * parts), kThreads, 0, stream>>>(rows, leaves, parts, in, out, parts == 1 ? status : nullptr);
    leaves = parts;
  }
}

// How the rows of a column's sum are cut: leaves of the batch, and chains in each of them.
struct Chains {
  int64_t rows, columns, leaf, leaves, of_leaf;
};
Chains chains_of(int64_t rows, int64_t columns, int64_t leaf) {
  if (leaf == 0 || leaf > rows) leaf = rows > 0 ? rows : 1;
  return {rows, columns, leaf, ceil_div(rows, leaf), ceil_div(leaf, kChainRows)};
}

ROTE_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// out[k·columns + c] = chain k of column c.
__global__ void column_chains(Chains chains, const Real* x, Real* out) {
  over_grid(chains.leaves * chains.of_leaf * chains.columns, [&](int64_t i) {
    const int64_t chain = i / chains.columns, c = i % chains.columns, leaf = chain / chains.of_leaf;
    const int64_t begin = leaf * chains.leaf + chain % chains.of_leaf * kChainRows;
    const int64_t end = least(begin + kChainRows, least((leaf + 1) * chains.leaf, chains.rows));
    Real sum = 0;
    for (int64_t r = begin; r < end; ++r) sum += x[r * chains.columns + c];
    out[i] = sum;
  });
}

// The trees: chains of a leaf, then leaves. A last leaf that is shorter has fewer chains.
__global__ void fold_chains(Chains chains, const Real* in, Real* y, uint32_t* status) {
  Amax amax;
  over_grid(chains.columns, [&](int64_t c) {
    TreeSum<Real> leaves;
    for (int64_t leaf = 0; leaf < chains.leaves; ++leaf) {
      const int64_t rows = least(chains.leaf, chains.rows - leaf * chains.leaf);
      TreeSum<Real> pieces;
      for (int64_t k = 0; k * kChainRows < rows; ++k) pieces.push(in[(leaf * chains.of_leaf + k) * chains.columns + c]);
      leaves.push(pieces.total());
    }
    y[c] = chains.leaves > 0 ? leaves.total() + Real(0) : Real(0);
    amax.see(y[c]);
  });
  join_status(status, amax);
}

}  // namespace

}  // namespace rote::isa::ROTE_ISA_NAME

namespace rote::cuda {

using namespace isa::ROTE_ISA_NAME;

int64_t row_scratch(int64_t rows, int64_t n) {
  int64_t floats = 0;
  for (int64_t leaves = leaves_of(n); leaves > 1; leaves = ceil_div(leaves, kFold)) floats += rows * leaves;
  return floats;
}

void sum_rows(Stream stream, int64_t rows, int64_t n, const float* x, float* y, float* scratch, uint32_t* status) {
  reduce_rows<Sum>(stream, rows, n, x, y, scratch, status);
  check_launch("sum_rows");
}

void max_rows(Stream stream, int64_t rows, int64_t n, const float* x, float* y, float* scratch, uint32_t* status) {
  reduce_rows<Largest>(stream, rows, n, x, y, scratch, status);
  check_launch("max_rows");
}

int64_t column_scratch(int64_t rows, int64_t columns, int64_t leaf) {
  const Chains chains = chains_of(rows, columns, leaf);
  return chains.leaves * chains.of_leaf * columns;
}

void sum_columns(Stream stream, int64_t rows, int64_t columns, int64_t leaf, const float* x, float* y, float* scratch, uint32_t* status) {
  if (columns == 0) return;
  const Chains chains = chains_of(rows, columns, leaf);
  if (rows > 0) column_chains<<<blocks_for(column_scratch(rows, columns, leaf)), kThreads, 0, stream>>>(chains, x, scratch);
  fold_chains<<<blocks_for(columns), kThreads, 0, stream>>>(chains, scratch, y, status);
  check_launch("sum_columns");
}

}  // namespace rote::cuda
