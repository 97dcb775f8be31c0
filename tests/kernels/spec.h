// tests/kernels/spec.h — the orders of arithmetic.md as plain recursive code, and what all kernel tests share. No kernel is called here.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "kernels/functions.h"
#include "kernels/pool.h"
#include "kernels/rare_table.h"

namespace rote::testing {

// The f32 tables that this build and machine have.
inline std::vector<const KernelTable<float>*> all_tables() {
  std::vector<const KernelTable<float>*> found;
  for (const char* isa : {"scalar", "avx2", "avx512", "neon"}) {
    if (const KernelTable<float>* table = kernel_table(isa)) found.push_back(table);
  }
  return found;
}

// The rare kernels of one instruction set together.
template <class Real>
struct RareKernels : AttentionTable<Real>, BatchNormTable<Real>, GroupNormTable<Real>, CtcTable<Real>, ConvTable<Real>, WindowTable<Real>, TapsTable<Real> {
  const char* isa;
};

inline std::vector<const RareKernels<float>*> all_rare_kernels() {
  static const std::vector<RareKernels<float>> held = [] {
    std::vector<RareKernels<float>> found;
    for (const KernelTable<float>* table : all_tables()) {
      const char* isa = table->isa;
      found.push_back({*rare_kernel_table<AttentionTable>(isa), *rare_kernel_table<BatchNormTable>(isa), *rare_kernel_table<GroupNormTable>(isa),
                       *rare_kernel_table<CtcTable>(isa), *rare_kernel_table<ConvTable>(isa), *rare_kernel_table<WindowTable>(isa),
                       *rare_kernel_table<TapsTable>(isa), isa});
    }
    return found;
  }();
  std::vector<const RareKernels<float>*> found;
  for (const RareKernels<float>& kernels : held) found.push_back(&kernels);
  return found;
}

template <class Table, class F>
void each_of(const std::vector<const Table*>& tables, const F& test) {
  for (const Table* table : tables) {
    for (int threads : {1, 2, 5}) {
      set_num_threads(threads);
      test(*table);
    }
  }
  set_num_threads(0);
}

// Calls test(table) for each table and for 1, 2 and 5 threads.
template <class F>
void each_table(const F& test) {
  each_of(all_tables(), test);
}
template <class F>
void each_rare_kernels(const F& test) {
  each_of(all_rare_kernels(), test);
}

inline std::vector<float> random_values(int64_t n, uint32_t seed, float scale = 1) {
  std::mt19937 source(seed);
  std::vector<float> x(static_cast<size_t>(n));
  for (float& v : x) v = scale * (static_cast<float>(source() >> 8) * 0x1p-23f - 1.0f);
  return x;
}

inline bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same_bits(a[i], b[i])) return false;
  }
  return true;
}

inline uint32_t amax_word(const std::vector<float>& x) {
  uint32_t top = 0;
  for (float v : x) top = std::max(top, std::bit_cast<uint32_t>(v) & 0x7FFFFFFFu);
  return top;
}

// One function of the vector layer on one number.
inline float call(const char* name, float a) {
  for (const NamedFunction<float>* f = vector_functions("scalar"); f->name; ++f) {
    if (std::string_view(f->name) != name) continue;
    float out = 0;
    f->apply(1, &a, nullptr, nullptr, &out);
    return out;
  }
  return std::nanf("");
}

// The tree law: split at the largest power of two below n.
template <class T>
T spec_tree(const std::vector<T>& leaves, size_t begin, size_t n) {
  if (n == 1) return leaves[begin];
  const size_t left = std::bit_floor(n - 1);
  return spec_tree(leaves, begin, left) + spec_tree(leaves, begin + left, n - left);
}

// Σ value(i): 64 lanes, folded by halves, leaves of 4096, the tree; + 0.
template <class F>
auto spec_lane_sum(int64_t n, const F& value) {
  using T = decltype(value(int64_t{0}));
  std::vector<T> leaves;
  for (int64_t begin = 0; begin < n || leaves.empty(); begin += 4096) {
    T lanes[64] = {};
    for (int64_t i = begin; i < std::min(begin + 4096, n); ++i) lanes[(i - begin) % 64] += value(i);
    for (int h = 32; h > 0; h /= 2)
      for (int l = 0; l < h; ++l) lanes[l] += lanes[l + h];
    leaves.push_back(lanes[0]);
  }
  return spec_tree(leaves, 0, leaves.size()) + T(0);
}

// Σ over rows: add(sum, r) extends the chain; cut at leaves and every 1024 rows; trees inside a leaf, then over leaves; + 0.
template <class T = float, class F>
T spec_column_sum(int64_t rows, int64_t leaf, const F& add) {
  if (rows == 0) return T(0);
  if (leaf == 0) leaf = rows;
  std::vector<T> leaves;
  for (int64_t begin = 0; begin < rows; begin += leaf) {
    const int64_t end = std::min(begin + leaf, rows);
    std::vector<T> pieces;
    for (int64_t piece = begin; piece < end; piece += 1024) {
      T sum(0);
      for (int64_t r = piece; r < std::min(piece + 1024, end); ++r) sum = add(sum, r);
      pieces.push_back(sum);
    }
    leaves.push_back(spec_tree(pieces, 0, pieces.size()));
  }
  return spec_tree(leaves, 0, leaves.size()) + T(0);
}

}  // namespace rote::testing
