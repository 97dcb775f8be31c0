// kernels/cpu/tile.h — the register tile of the matrix product: chains over packed panels, the fold of their pieces, the store.
//
// A tile is R rows x V vectors of outputs, one fma chain per output, all in registers. K is walked in steps (one piece each, arithmetic.md 2):
// a step's chain starts from +0, then `pops` earlier partial results are added from the tile's own stack, then the sum is pushed. That is
// the counter form of the tree law (arithmetic.md 6); the stack lies in L1, so that a leaf costs one store and one load of the tile.
#pragma once

#include "kernels/simd/sixteen.h"
#include "kernels/simd/vec.h"

namespace rote::isa::ROTE_ISA_NAME {

// Rows and vectors of the largest tile: accumulators + one row of B + one broadcast fill the registers.
#if defined(__AVX512F__)
constexpr int kTileRows = 14, kTileVecs = 2;  // 28 + 2 + 1 of 32 zmm
#elif defined(__AVX2__)
constexpr int kTileRows = 6, kTileVecs = 1;   // 12 + 2 + 1 of 16 ymm
#elif defined(__aarch64__)
constexpr int kTileRows = 6, kTileVecs = 1;   // 24 + 4 + 1 of 32 q
#else
constexpr int kTileRows = 4, kTileVecs = 1;   // software fma: registers decide nothing
#endif
constexpr int kTileColumns = kTileVecs * kLanes;

struct Step {
  int32_t rows = 0;  // of K
  int32_t pops = 0;  // partial results to add afterwards
};

struct TileJob {
  const Real *a = nullptr, *b = nullptr;  // a[k*R + i], b[k*16*V + j]
  const Step* steps = nullptr;
  int64_t step_count = 0;
  bool last = true;       // the last step's sum is the result; else it is pushed too
  Real* stack = nullptr;  // partial results of R*V*16 each, `depth` of them present, room for one more than ever pushed
  int64_t depth = 0;
  Results<Real> c;
  int64_t c_row = 0;
  const Real* bias = nullptr;
  int rows = 0, columns = 0;  // of the tile that exist in C
  Amax* amax = nullptr;
};

template <int R, int V>
ROTE_INLINE void chain(Vec (&acc)[R][V], const Real* a, const Real* b, int64_t k) {
  for (; k > 0; --k, a += R, b += V * kLanes) {
    Vec row[V];
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) row[v] = load(b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vec x(a[r]);
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) acc[r][v] = fma(x, row[v], acc[r][v]);
    }
  }
}

// Tiles that C has only in part, or in 16 bits, go through memory, in rows of `width`.
template <class Target>
ROTE_INLINE void store_rows(const TileJob& job, const Real* tile, int width) {
  auto* c = static_cast<typename Target::Element*>(job.c.p);
  Amax amax = *job.amax;
  for (int r = 0; r < job.rows; ++r, c += job.c_row, tile += width) {
    for (int j = 0; j < job.columns; j += kLanes) {
      const int n = job.columns - j < kLanes ? job.columns - j : kLanes;
      Vec y = load(tile + j);
      if (job.bias) y += load(job.bias + j, n);
      Target::store(c + j, y, n);
      amax.see(y, n);
    }
  }
  *job.amax = amax;
}

__attribute__((noinline)) inline void store_through_memory(const TileJob& job, const Real* tile, int width) {
  with_format(job.c.stored, [&](auto target) ROTE_LOOP_BODY { store_rows<decltype(target)>(job, tile, width); });
}

template <int R, int V>
void compute_tile(const TileJob& job) {
  constexpr int64_t kSize = R * V * kLanes;
  Vec acc[R][V];
  const Real *a = job.a, *b = job.b;
  Real* top = job.stack + job.depth * kSize;
  for (int64_t s = 0;; ++s) {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) acc[r][v] = Vec(Real(0));
    const Step step = job.steps[s];
    chain<R, V>(acc, a, b, step.rows);
    a += step.rows * int64_t{R};
    b += step.rows * int64_t{V * kLanes};
    for (int pops = step.pops; pops > 0; --pops) {
      top -= kSize;
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < V; ++v) acc[r][v] = load(top + (r * V + v) * kLanes) + acc[r][v];
    }
    if (s + 1 == job.step_count && job.last) break;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) store(top + (r * V + v) * kLanes, acc[r][v]);
    if (s + 1 == job.step_count) return;
    top += kSize;
  }
  if (job.rows < R || job.columns < V * kLanes || job.c.stored != Stored::real) {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) store(top + (r * V + v) * kLanes, acc[r][v]);
    return store_through_memory(job, top, V * kLanes);
  }
  if (job.bias) {
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) {
      const Vec bias = load(job.bias + v * kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) acc[r][v] += bias;
    }
  }
  Real* const c = static_cast<Real*>(job.c.p);
  Amax amax = *job.amax;
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) {
      store(c + r * job.c_row + v * kLanes, acc[r][v]);
      amax.see(acc[r][v]);
    }
  *job.amax = amax;
}

// Heights that are compiled: 1 and the even ones. A panel of fewer rows is packed with rows of zeros up to the next.
constexpr int tile_height(int64_t rows) { return rows >= kTileRows ? kTileRows : rows <= 1 ? 1 : static_cast<int>(rows + rows % 2); }

using TileFunction = void (*)(const TileJob&);

template <int V>
TileFunction tile_function(int height) {
  static_assert(kTileRows <= 14 && kTileRows % 2 == 0);
  switch (height) {
    case 1: return compute_tile<1, V>;
    case 2: return compute_tile<2, V>;
    case 4: return compute_tile<4, V>;
    case 6: return compute_tile<kTileRows >= 6 ? 6 : 1, V>;
    case 8: return compute_tile<kTileRows >= 8 ? 8 : 1, V>;
    case 10: return compute_tile<kTileRows >= 10 ? 10 : 1, V>;
    case 12: return compute_tile<kTileRows >= 12 ? 12 : 1, V>;
    default: return compute_tile<kTileRows >= 14 ? 14 : 1, V>;
  }
}
ROTE_INLINE TileFunction tile_function(int height, int columns) {
  return columns > kLanes ? tile_function<kTileVecs>(height) : tile_function<1>(height);
}

}  // namespace rote::isa::ROTE_ISA_NAME
