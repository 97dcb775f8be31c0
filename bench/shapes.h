// bench/shapes.h — the matrix products of a MiniLM training step, and a few beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/table.h"

namespace rote::bench {

enum class Kind { forward, input_grad, weight_grad };  // x·wᵀ, dy·w, dyᵀ·x

struct ProductShape {
  const char* name;
  Kind kind;
  int64_t M, N, K, leaf, batch;

  double flop() const { return 2.0 * static_cast<double>(batch * M * N * K); }
};

inline const ProductShape kShapes[] = {
    {"y 2048x384x384", Kind::forward, 2048, 384, 384, 0, 1},
    {"y 2048x1536x384", Kind::forward, 2048, 1536, 384, 0, 1},
    {"y 2048x384x1536", Kind::forward, 2048, 384, 1536, 0, 1},
    {"dx 2048x384x384", Kind::input_grad, 2048, 384, 384, 0, 1},
    {"dx 2048x384x1536", Kind::input_grad, 2048, 384, 1536, 0, 1},
    {"dx 2048x1536x384", Kind::input_grad, 2048, 1536, 384, 0, 1},
    {"dw 384x384x2048 leaf 64", Kind::weight_grad, 384, 384, 2048, 64, 1},
    {"dw 1536x384x2048 leaf 64", Kind::weight_grad, 1536, 384, 2048, 64, 1},
    {"dw 384x1536x2048 leaf 64", Kind::weight_grad, 384, 1536, 2048, 64, 1},
    {"dw 384x1536x1024 leaf 32", Kind::weight_grad, 384, 1536, 1024, 32, 1},
    {"dw 384x1536x640 leaf 20", Kind::weight_grad, 384, 1536, 640, 20, 1},
    {"head 32x2x384", Kind::forward, 32, 2, 384, 0, 1},
    {"row 1x384x384", Kind::forward, 1, 384, 384, 0, 1},
    {"batch 384 of 64x64x32", Kind::forward, 64, 64, 32, 0, 384},
    {"long 512x512x16384", Kind::weight_grad, 512, 512, 16384, 0, 1},
};

struct Operands {
  explicit Operands(const ProductShape& s)
      : a(static_cast<size_t>(s.batch * s.M * s.K)), b(static_cast<size_t>(s.batch * s.N * s.K)), c(static_cast<size_t>(s.batch * s.M * s.N)) {
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7919 % 1000) * 1e-3f - 0.5f;
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 104729 % 1000) * 1e-3f - 0.5f;
  }
  Gemm<float> gemm(const ProductShape& s) {
    Gemm<float> g;
    g.batch = s.batch, g.M = s.M, g.N = s.N, g.K = s.K, g.leaf = s.leaf;
    g.a = a.data(), g.b = b.data(), g.c = c.data();
    g.a_batch = s.M * s.K, g.b_batch = s.K * s.N, g.c_batch = s.M * s.N, g.c_row = s.N;
    g.a_row = s.kind == Kind::weight_grad ? 1 : s.K, g.a_col = s.kind == Kind::weight_grad ? s.M : 1;
    g.b_row = s.kind == Kind::forward ? 1 : s.N, g.b_col = s.kind == Kind::forward ? s.K : 1;
    return g;
  }
  std::vector<float> a, b, c;
};

}  // namespace rote::bench
