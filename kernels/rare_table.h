// kernels/rare_table.h — kernels that many programs never call, in small tables: a program holds those whose rare_kernels<…> it names, and no others.
#pragma once

#include <cstring>

#include "kernels/table.h"

namespace rote {

template <class Real>
struct AttentionTable {
  uint32_t (*attention)(const Attention<Real>&);
  uint32_t (*attention_backward)(const AttentionGrad<Real>&);
};

template <class Real>
struct BatchNormTable {
  uint32_t (*batch_norm)(const BatchNorm<Real>&);
  uint32_t (*batch_norm_backward)(const BatchNormGrad<Real>&);
};

template <class Real>
struct GroupNormTable {
  uint32_t (*group_norm)(const GroupNorm<Real>&);
  uint32_t (*group_norm_backward)(const GroupNormGrad<Real>&);
};

template <class Real>
struct CtcTable {
  uint32_t (*ctc)(const Ctc<Real>&);
  uint32_t (*ctc_backward)(const CtcGrad<Real>&);
};

template <class Real>
struct ConvTable {
  // y = conv(x, w) + bias: one chain per element over k = channels of the group, then kernel positions in row-major order, cut and folded as a
  // Gemm over K; then the bias, [O] or none.
  uint32_t (*conv)(const Conv<Real>&);
  // x from y, the transpose in x: for each kernel position, in row-major order, a Gemm over the group's channels of y; these add up from +0; then
  // the bias, [C] or none.
  uint32_t (*conv_input)(const Conv<Real>&);
  // w from x and y: a Gemm over the rows (sample, output position), in leaves of `leaf` rows.
  uint32_t (*conv_weight)(const Conv<Real>&);
};

// The values that each window reads, [N,C·kernel,out] from x, and their sums [N,C,in] back from y = such columns: kernel positions ascending.
template <class Real>
struct WindowTable {
  uint32_t (*unfold)(const Conv<Real>&);
  uint32_t (*fold)(const Conv<Real>&);
};

// Whose half words round by chance: element e takes half word e%8 of block e/8 with counter (block, step low, op, step high), as in Dropout.
struct Chance {
  uint64_t seed = 0, step = 0;
  uint32_t op = 0;
};

// n 16-bit floats (their bits) to f32 and back, as kernels/dtype.h converts; there is none for f64.
template <class Real>
struct SixteenTable {
  void (*from_bf16)(int64_t n, const uint16_t* x, Real* y);
  void (*from_f16)(int64_t n, const uint16_t* x, Real* y);
  void (*to_bf16)(int64_t n, const Real* x, uint16_t* y);
  void (*to_f16)(int64_t n, const Real* x, uint16_t* y);
  // One of the two neighbours of x[i], element first + i of its tensor: the larger magnitude with the chance of what the 16 bits cut off, in 65536ths.
  // To nearest where that would be infinite. REQUIRES: first is a multiple of 128.
  void (*to_bf16_by_chance)(const Chance& chance, int64_t first, int64_t n, const Real* x, uint16_t* y);
};

template <class Real>
struct TapsTable {
  uint32_t (*taps)(const Taps<Real>&);
};

// What kernels/cpu/table.cpp defines once for each instruction set.
template <class Tag, class Table>
struct RareTable {
  static const Table table;
};

// The f32 table of one instruction set by name; nullptr where this build or this machine lacks it.
template <template <class> class Table>
const Table<float>* rare_kernel_table(const char* isa) {
  if (kernel_table(isa) == nullptr) return nullptr;
#ifdef ROTE_WITH_AVX512
  if (std::strcmp(isa, "avx512") == 0) return &RareTable<isa::avx512::Tag, Table<float>>::table;
#endif
#ifdef ROTE_WITH_AVX2
  if (std::strcmp(isa, "avx2") == 0) return &RareTable<isa::avx2::Tag, Table<float>>::table;
#endif
#ifdef ROTE_WITH_NEON
  if (std::strcmp(isa, "neon") == 0) return &RareTable<isa::neon::Tag, Table<float>>::table;
#endif
  return &RareTable<isa::scalar::Tag, Table<float>>::table;
}

// The table of the instruction set in use, as kernels<Real>().
template <template <class> class Table, class Real>
const Table<Real>& rare_kernels() {
  if constexpr (sizeof(Real) == sizeof(double)) {
    return RareTable<isa::f64::Tag, Table<double>>::table;
  } else {
    static const Table<float>& table = *rare_kernel_table<Table>(kernels<float>().isa);
    return table;
  }
}

}  // namespace rote
