// kernels/cpu/kernels.h — the CPU kernels of one instruction set, as kernels/table.h describes them. Only kernels/cpu/*.cpp include it.
#pragma once

#include "kernels/functions.h"
#include "kernels/rare_table.h"
#include "kernels/simd/vec.h"
#include "kernels/table.h"

namespace rote::isa::ROTE_ISA_NAME {

// gemm.cpp, attention.cpp
uint32_t gemm(const Gemm<Real>& g);
uint32_t attention(const Attention<Real>& a);
uint32_t attention_backward(const AttentionGrad<Real>& a);

// reduce.cpp
uint32_t sum_rows(int64_t rows, int64_t n, const Real* x, Real* y);
uint32_t sum_columns(int64_t rows, int64_t columns, int64_t leaf, const Elements<Real>& x, Real* y);
uint32_t max_rows(int64_t rows, int64_t n, const Real* x, Real* y);

// softmax.cpp
uint32_t softmax(int64_t rows, int64_t n, const Real* x, Real* y);
uint32_t softmax_backward(int64_t rows, int64_t n, const Real* y, const Real* dy, Real* dx);
uint32_t log_softmax(int64_t rows, int64_t n, const Real* x, Real* y);
uint32_t log_softmax_backward(int64_t rows, int64_t n, const Real* y, const Real* dy, Real* dx);

// norm.cpp
uint32_t layer_norm(int64_t rows, int64_t n, Real eps, const Real* x, const Real* w, const Real* b, Real* y, Real* mean, Real* rstd);
uint32_t layer_norm_backward(int64_t rows, int64_t n, int64_t leaf, const Real* x, const Real* w, const Real* mean, const Real* rstd,
                             const Real* dy, Real* dx, Real* dw, Real* db);

// batch_norm.cpp, group_norm.cpp
uint32_t batch_norm(const BatchNorm<Real>& norm);
uint32_t batch_norm_backward(const BatchNormGrad<Real>& grad);
uint32_t group_norm(const GroupNorm<Real>& norm);
uint32_t group_norm_backward(const GroupNormGrad<Real>& grad);

// loss.cpp
uint32_t cross_entropy(int64_t rows, int64_t V, const Real* logits, const int64_t* labels, int64_t ignore_index, const Real* class_weight,
                       Real smoothing, Real* loss, Real* lse);
uint32_t cross_entropy_backward(int64_t rows, int64_t V, const Real* logits, const int64_t* labels, int64_t ignore_index,
                                const Real* class_weight, Real smoothing, const Real* lse, const Real* dloss, Real* dlogits);

// ctc.cpp
uint32_t ctc(const Ctc<Real>& g);
uint32_t ctc_backward(const CtcGrad<Real>& grad);

// index.cpp
uint32_t embedding_backward(int64_t n, int64_t C, int64_t V, int64_t leaf, int64_t padding_idx, const int64_t* ids, const Real* dy,
                            Real* dtable);

// conv.cpp, taps.cpp
uint32_t conv(const Conv<Real>& c);
uint32_t conv_input(const Conv<Real>& c);
uint32_t conv_weight(const Conv<Real>& c);
uint32_t unfold(const Conv<Real>& c);
uint32_t fold(const Conv<Real>& c);
uint32_t taps(const Taps<Real>& t);

// random.cpp
uint32_t dropout(const Dropout& dropout, int64_t samples, int64_t per_sample, const Real* x, Real* y);
uint32_t uniform(uint64_t seed, uint32_t op, uint64_t sample, int64_t n, Real* y);
uint32_t normal(uint64_t seed, uint32_t op, uint64_t sample, int64_t n, Real* y);

// clip.cpp
void square_blocks(int64_t n, const Real* x, double* blocks);

// table.cpp, functions.cpp
extern const KernelTable<Real> kTable;
extern const NamedFunction<Real> kFunctions[];

}  // namespace rote::isa::ROTE_ISA_NAME
