// kernels/table.h — every kernel of one device and instruction set as a table of pointers, and which table this process uses.
//
// KernelTable<float> exists for scalar, avx2, avx512 (neon); KernelTable<double> once, baseline, for gradcheck and f64 tensors: the
// same sources, compiled with Real = double. All pointers are to elements; strides are in elements; rows are contiguous unless a
// stride says otherwise. A kernel that writes floating results returns the largest (bits & 0x7FFFFFFF) of what it wrote (as f32),
// its status word: 0x7F800000 is an infinity, above it NaN. Outputs never overlap inputs unless a comment allows it.
#pragma once

#include <cstdint>

#include "kernels/elements.h"

namespace rote {

// What is compiled for one instruction set is named by its tag.
namespace isa {
namespace scalar { struct Tag; }
namespace avx2 { struct Tag; }
namespace avx512 { struct Tag; }
namespace neon { struct Tag; }
namespace f64 { struct Tag; }
namespace lane { struct Tag; }  // for devices (kernels/simd/lane.h); here for the test that compares it with the others
}  // namespace isa

// C[M,N] = A[M,K]·B[K,N] + bias, per batch item, by arithmetic.md 2: acc = +0; acc = fma(A[i,k], B[k,j], acc) for k ascending;
// K is cut into sample leaves of `leaf` (0: one leaf), each of those into pieces of 1024; pieces of one sample leaf fold by the tree law,
// then the sample leaves do. The last leaf may be shorter. Operands in 16 bits are widened while they are packed, a C in 16 bits is narrowed
// when it is stored; the status word is that of the f32 values.
template <class Real>
struct Gemm {
  int64_t batch = 1, M = 0, N = 0, K = 0;
  Elements<Real> a;
  int64_t a_batch = 0, a_row = 0, a_col = 0;  // A[i,k] = a[i*a_row + k*a_col]
  Elements<Real> b;
  int64_t b_batch = 0, b_row = 0, b_col = 0;  // B[k,j] = b[k*b_row + j*b_col]
  Results<Real> c;
  int64_t c_batch = 0, c_row = 0;             // C[i,j] = c[i*c_row + j]
  const Real* bias = nullptr;                 // [N] or none
  int64_t leaf = 0;
};

// Dropout by Philox (arithmetic.md 7). Element e of sample s keeps its value times `scale` unless its half word is below `threshold`.
// Half word of e: block e/8 with counter (block low 32, sample low, op, sample high), key = seed; word (e%8)/2; low half for even e.
struct Dropout {
  uint64_t seed = 0, first_sample = 0;
  uint32_t op = 0;
  uint32_t threshold = 0;  // round(p·65536); 0: off
  float scale = 1;         // 1 / (1 - threshold/65536)
};

// Strides of a [B,H,T,D] or [B,H,T,E] operand whose last axis is contiguous.
struct Strides3 {
  int64_t b = 0, h = 0, t = 0;
};

// o = softmax(scale·q·kᵀ + bias, masked)·v per (b,h), by arithmetic.md 3; q and k have width D, v and o width E. Element (t,s) of head h of sample b:
// mask[b*mask_b + h*mask_h + t*mask_t + s*mask_s] != 0 keeps the key; bias alike. max, sum: [B,H,T], saved for backward.
template <class Real>
struct Attention {
  int64_t B = 0, H = 0, T = 0, S = 0, D = 0, E = 0;
  Elements<Real> q, k, v;
  Strides3 q_at, k_at, v_at, o_at;
  const uint8_t* mask = nullptr;
  int64_t mask_b = 0, mask_h = 0, mask_t = 0, mask_s = 0;
  const Real* bias = nullptr;
  int64_t bias_b = 0, bias_h = 0, bias_t = 0, bias_s = 0;
  bool causal = false;
  Real scale = 1;
  Dropout dropout;  // element of (t,s): (t - t0)·65536 + (s - origin) in sample b, op + 0x9E3779B9·h; origin: the sample's first key
                    // that any query keeps; t0: the origin where T = S, else 0
  Results<Real> o;
  Real *max = nullptr, *sum = nullptr;
};

template <class Real>
struct AttentionGrad {
  Attention<Real> forward;  // o, max, sum hold the forward's results
  Elements<Real> dout;
  Strides3 do_at;
  Results<Real> dq, dk, dv;
  Strides3 dq_at, dk_at, dv_at;
  Real* dscores = nullptr;  // [B,H,T,S] or none: gradient of the scaled and biased scores; zeros on entry, where no query sees a key they stay
};

// Norm of each channel of x [N,C,S] over N and S: y = fma((x - mean)·rstd, w, b), rstd = 1/√(var + eps); w and b may be none. Sums of a
// channel: each sample's S elements by 64 lanes, then the samples by leaves of `leaf` as in sum_columns.
template <class Real>
struct BatchNorm {
  int64_t N = 0, C = 0, S = 0, leaf = 0;
  Real eps = 0;
  bool training = false;           // mean = Σx/(N·S) and var = Σ(x - mean)²/(N·S) are computed, and depend on x; else they are given
  const Real *x = nullptr, *w = nullptr, *b = nullptr;
  Real *mean = nullptr, *var = nullptr;  // [C]
  Real* y = nullptr;
};

template <class Real>
struct BatchNormGrad {
  BatchNorm<Real> forward;         // mean and var hold the forward's; b and y are not read
  const Real* dy = nullptr;
  Real *dx = nullptr, *dw = nullptr, *db = nullptr;  // each may be none
};

// Norm of each group of C/groups channels of each sample of x [N,C,S]: y = fma((x - mean)·rstd, w, b); w and b, [C], may be none.
template <class Real>
struct GroupNorm {
  int64_t N = 0, C = 0, S = 0, groups = 0;
  Real eps = 0;
  const Real *x = nullptr, *w = nullptr, *b = nullptr;
  Real *y = nullptr, *mean = nullptr, *rstd = nullptr;  // [N,C,S], [N,groups] twice
};

template <class Real>
struct GroupNormGrad {
  GroupNorm<Real> forward;  // mean and rstd hold the forward's; b and y are not read
  int64_t leaf = 0;         // of the sums over samples, as in sum_columns
  const Real* dy = nullptr;
  Real *dx = nullptr, *dw = nullptr, *db = nullptr;  // each may be none
};

// loss[n] = -log of the probability that the log-probabilities [T,N,V] of sample n give to its labels [N,L] (kernels/cpu/ctc.cpp). Labels and
// lengths are checked by the caller. A sample that no path reaches has the loss +inf.
inline constexpr int64_t ctc_width(int64_t L) { return (2 * L + 1 + 15) / 16 * 16; }
template <class Real>
struct Ctc {
  int64_t T = 0, N = 0, V = 0, L = 0, blank = 0;
  const Real* log_probs = nullptr;
  const int64_t *labels = nullptr, *input_lengths = nullptr, *target_lengths = nullptr;
  Real* alpha = nullptr;  // [N,T,ctc_width(L)], saved for backward
  Real* loss = nullptr;   // [N]
};

// dlog_probs = -dloss·(probability of the class at that step), of_scores: with e^log_probs added before; 0 past the input length and where
// dloss is 0, NaN where the loss is infinite.
template <class Real>
struct CtcGrad {
  Ctc<Real> forward;      // loss and alpha hold the forward's
  const Real* dloss = nullptr;
  bool of_scores = false;
  Real* dlog_probs = nullptr;
};

// A convolution over three axes (fewer: leading ones of size 1), or one of its two transposes. Output o of an axis reads the inputs
// o·stride - pad + k·dilation, k < kernel, where they exist; what lies outside is 0. x [N,C,in], w [O,C/groups,kernel], y [N,O,out]; a group is
// C/groups channels of x and O/groups of y. Fields that a kernel does not name may be none.
template <class Real>
struct Conv {
  int64_t N = 0, C = 0, O = 0, groups = 1;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, pad[3] = {}, dilation[3] = {1, 1, 1};
  const Real *x = nullptr, *w = nullptr, *y = nullptr, *bias = nullptr;
  int64_t leaf = 0;  // of conv_weight: rows (sample, output position) of one sample leaf
  Real* to = nullptr;
};

// A sparse matrix applied along the middle axis of [outer,in,inner]: row j of [outer,out,inner] is the chain over t from begin[j] to begin[j+1]
// of weight[t]·x[index[t]], the first a product, then fma; 0 for an empty row; then it is divided by divisor[j] where there are divisors.
template <class Real>
struct Taps {
  int64_t outer = 0, in = 0, out = 0, inner = 0;
  const int64_t *begin = nullptr, *index = nullptr;
  const Real *weight = nullptr, *divisor = nullptr;
  const Real* x = nullptr;
  Real* y = nullptr;
};

template <class Real>
struct KernelTable {
  const char* isa;

  uint32_t (*gemm)(const Gemm<Real>&);

  // y[r] = Σ x[r,:]: 64 lanes, leaves of 4096, tree (arithmetic.md 3).
  uint32_t (*sum_rows)(int64_t rows, int64_t n, const Real* x, Real* y);
  // y[c] = Σ_r x[r,c]: one chain per column inside a leaf of `leaf` rows (0: one leaf) cut every 1024 rows, then the trees, as in Gemm.
  uint32_t (*sum_columns)(int64_t rows, int64_t columns, int64_t leaf, const Elements<Real>& x, Real* y);
  // y[r] = max x[r,:] with NaN winning and +0 > -0; n > 0.
  uint32_t (*max_rows)(int64_t rows, int64_t n, const Real* x, Real* y);

  uint32_t (*softmax)(int64_t rows, int64_t n, const Real* x, Real* y);
  uint32_t (*softmax_backward)(int64_t rows, int64_t n, const Real* y, const Real* dy, Real* dx);
  uint32_t (*log_softmax)(int64_t rows, int64_t n, const Real* x, Real* y);
  uint32_t (*log_softmax_backward)(int64_t rows, int64_t n, const Real* y, const Real* dy, Real* dx);

  // y = fma((x-mean)·rstd, w, b); w and b may be none. mean, rstd: [rows]; without mean it is RMS norm: nothing is subtracted.
  uint32_t (*layer_norm)(int64_t rows, int64_t n, Real eps, const Real* x, const Real* w, const Real* b, Real* y, Real* mean, Real* rstd);
  // dw, db by leaves of `leaf` rows as in sum_columns; dx, dw, db may each be none.
  uint32_t (*layer_norm_backward)(int64_t rows, int64_t n, int64_t leaf, const Real* x, const Real* w, const Real* mean, const Real* rstd,
                                  const Real* dy, Real* dx, Real* dw, Real* db);

  // loss[r] = -weight·Σ_c target_c·log p_c with target = (1-smoothing)·onehot(label) + smoothing/V; 0 where label = ignore_index.
  // lse[r] = log Σ exp(logits[r,:]). class_weight: [V] or none, multiplies each class's term.
  uint32_t (*cross_entropy)(int64_t rows, int64_t V, const Real* logits, const int64_t* labels, int64_t ignore_index, const Real* class_weight,
                            Real smoothing, Real* loss, Real* lse);
  // dlogits[r,:] = dloss[r]·∂loss[r]/∂logits; exactly 0 in ignored rows.
  uint32_t (*cross_entropy_backward)(int64_t rows, int64_t V, const Real* logits, const int64_t* labels, int64_t ignore_index,
                                     const Real* class_weight, Real smoothing, const Real* lse, const Real* dloss, Real* dlogits);

  // dtable[V,C] (all of it written; ids are checked by the caller): stable counting sort by (id, leaf, position), chain inside a leaf of `leaf` rows, then the tree over
  // the sample leaves that hold the id (missing leaves are skipped: adding their 0 changes nothing). Rows with id == padding_idx add nothing.
  uint32_t (*embedding_backward)(int64_t n, int64_t C, int64_t V, int64_t leaf, int64_t padding_idx, const int64_t* ids, const Real* dy,
                                 Real* dtable);

  // x, y: [samples, per_sample]; y may be x.
  uint32_t (*dropout)(const Dropout& dropout, int64_t samples, int64_t per_sample, const Real* x, Real* y);
  // Uniform [0,1) = (word >> 8)·2^-24 and standard normal (inverse CDF of one word): element i from word i%4 of block i/4, sample 0.
  uint32_t (*uniform)(uint64_t seed, uint32_t op, uint64_t sample, int64_t n, Real* y);
  uint32_t (*normal)(uint64_t seed, uint32_t op, uint64_t sample, int64_t n, Real* y);

  // Σ x² in f64 for the clip norm: 64 lanes per block of 4096, tree over blocks; blocks[i] receives block i's sum, ceil(n/4096) of them.
  void (*square_blocks)(int64_t n, const Real* x, double* blocks);
};

// The table in use: the widest instruction set of this machine, or the one that ROTE_ISA names (scalar, avx2, avx512, neon).
// Throws ArgumentError at the first call where ROTE_ISA names an unknown one or one that this machine lacks.
template <class Real>
const KernelTable<Real>& kernels();
template <>
const KernelTable<float>& kernels<float>();
template <>
const KernelTable<double>& kernels<double>();

// The same choice for a given value of ROTE_ISA; nullptr or "": the widest.
const KernelTable<float>& choose_kernels(const char* wanted);

// The f32 table of one instruction set by name, whatever ROTE_ISA says; nullptr where this build or this machine lacks it.
const KernelTable<float>* kernel_table(const char* isa);

}  // namespace rote
