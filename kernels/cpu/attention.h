// kernels/cpu/attention.h — what attention's two directions share: small products, scores of a tile, dropout. Included by these two only.
//
// A tile is 64 keys x a block of up to 64 queries and is kept transposed, tile[key][query]: lanes are queries, so that the maximum, the sum
// and every factor of a query are plain vectors. One operand of each product is then read where it lies, element by element (broadcast),
// and the other by vectors, either from a turned copy of Q (or dO) or from rows of V, K, Q, dO themselves.
#pragma once

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/pack.h"
#include "kernels/simd/math.h"
#include "kernels/simd/philox.h"

namespace rote::isa::ROTE_ISA_NAME {

constexpr int64_t kTileKeys = 64;
constexpr int64_t kBlockQueries = 64;
constexpr int64_t kTileSize = kTileKeys * kBlockQueries;

ROTE_INLINE int64_t round_up(int64_t n) { return ceil_div(n, kLanes) * kLanes; }
ROTE_INLINE Vec minus_infinity() { return Vec(-static_cast<Real>(__builtin_inff())); }

// ---- products -------------------------------------------------------------------------------------------------------------------

// c[r][j] = (or +=) Σ_k a[r*a_row + k*a_k]·b[k*b_k + j], k ascending, one fma chain per element, going on from c where `add` is set.
struct SmallProduct {
  Real* c = nullptr;
  int64_t c_row = 0;
  const Real* a = nullptr;
  int64_t a_row = 0, a_k = 0;
  const Real* b = nullptr;
  int64_t b_k = 0;
  int64_t rows = 0, columns = 0, k = 0;  // whole vectors of columns are computed and written
  bool add = false;
};

#if defined(__AVX512F__)
constexpr int kProductRows = 8, kProductVecs = 2;  // 16 chains hide the latency of fma, and few rows need few pointers
#else
constexpr int kProductRows = 4, kProductVecs = 1;
#endif

template <int R, int V>
ROTE_INLINE void product_tile(const SmallProduct& p, int64_t row, int64_t column) {
  Real* const c = p.c + row * p.c_row + column;
  Vec acc[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) acc[r][v] = p.add ? load(c + r * p.c_row + v * kLanes) : Vec(Real(0));
  const Real* a = p.a + row * p.a_row;
  const Real* b = p.b + column;
  const int64_t a_row = p.a_row, a_k = p.a_k, b_k = p.b_k;
  for (int64_t k = p.k; k > 0; --k, a += a_k, b += b_k) {
    Vec line[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) line[v] = load(b + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Vec x(a[r * a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) acc[r][v] = fma(x, line[v], acc[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) store(c + r * p.c_row + v * kLanes, acc[r][v]);
}

template <int V>
void product_columns(const SmallProduct& p, int64_t column) {
  int64_t row = 0;
  for (; row + kProductRows <= p.rows; row += kProductRows) product_tile<kProductRows, V>(p, row, column);
  if constexpr (kProductRows > 4)
    for (; row + 4 <= p.rows; row += 4) product_tile<4, V>(p, row, column);
  for (; row + 2 <= p.rows; row += 2) product_tile<2, V>(p, row, column);
  if (row < p.rows) product_tile<1, V>(p, row, column);
}

inline void product(const SmallProduct& p) {
  int64_t column = 0;
  for (; column + kProductVecs * kLanes <= p.columns; column += kProductVecs * kLanes) product_columns<kProductVecs>(p, column);
  for (; column < p.columns; column += kLanes) product_columns<1>(p, column);
}

// ---- operands -------------------------------------------------------------------------------------------------------------------

// Rows of D elements, and the same as they are stored.
struct Rows {
  const Real* p = nullptr;
  int64_t stride = 0;
};
struct StoredRows {
  Elements<Real> x;
  int64_t stride = 0;
};

ROTE_INLINE StoredRows rows_of(const Elements<Real>& x, const Strides3& at, int64_t b, int64_t h) { return {x.from(b * at.b + h * at.h), at.t}; }
ROTE_INLINE StoredRows from(const StoredRows& rows, int64_t t) { return {rows.x.from(t * rows.stride), rows.stride}; }
ROTE_INLINE Rows from(const Rows& rows, int64_t t) { return {rows.p + t * rows.stride, rows.stride}; }

// Reals: the rows themselves where they are stored so, else a copy in whole vectors with zeros behind.
__attribute__((noinline)) inline Rows as_reals(const StoredRows& rows, int64_t n, int64_t D, Real* copy, bool always = false) {
  if (!always && rows.x.stored == Stored::real) return {static_cast<const Real*>(rows.x.p), rows.stride};
  const int64_t width = round_up(D);
  with_source(rows.x.stored, [&](auto source) ROTE_LOOP_BODY {
    using Source = decltype(source);
    const auto* p = static_cast<const typename Source::Element*>(rows.x.p);
    for (int64_t t = 0; t < n; ++t)
      for (int64_t d = 0; d < D; d += kLanes) store(copy + t * width + d, Source::load(p + t * rows.stride + d, static_cast<int>(least(D - d, kLanes))));
  });
  return {copy, width};
}

// Reals that may be read by whole vectors.
inline Rows whole_vectors(const StoredRows& rows, int64_t n, int64_t D, Real* copy) { return as_reals(rows, n, D, copy, round_up(D) != D); }

// turned[d*round_up(n) + t] = rows[t][d], zeros in the lanes past n.
inline void turn(Real* turned, const Rows& rows, int64_t n, int64_t D) {
  const int width = static_cast<int>(round_up(n));
  pack_reals({turned, 0, 1, width, width}, {rows.p, rows.stride, 1, n}, D);
}

// out[d] = row(d) for whole vectors of d.
template <class F>
ROTE_INLINE void write_row(const Results<Real>& out, int64_t D, Amax& amax, const F& row) {
  with_format(out.stored, [&](auto format) ROTE_LOOP_BODY {
    using Format = decltype(format);
    auto* const p = static_cast<typename Format::Element*>(out.p);
    for (int64_t d = 0; d < D; d += kLanes) {
      const int n = static_cast<int>(least(D - d, kLanes));
      const Vec y = row(d);
      Format::store(p + d, y, n);
      amax.see(y, n);
    }
  });
}

// ---- which keys -----------------------------------------------------------------------------------------------------------------

// Keys of a sample from the first to one past the last that any query of any head keeps; tiles are counted from `first`.
struct KeyRange {
  int64_t first = 0, end = 0;
};

KeyRange key_range(const Attention<Real>& a, int64_t b);

// The ranges of all samples, in scratch memory.
KeyRange* key_ranges(const Attention<Real>& a);

// A block of queries of one head of one sample against one tile of keys.
struct Tile {
  int64_t b = 0, h = 0;
  int64_t query = 0, queries = 0;
  int64_t key = 0, keys = 0;
  int64_t origin = 0;

  ROTE_INLINE int64_t width() const { return round_up(queries); }  // of a tile's row: [key][query]
};

// One past the last key that the block's queries may see.
ROTE_INLINE int64_t keys_end(const Attention<Real>& a, const KeyRange& range, int64_t query, int64_t queries) {
  return a.causal ? least(range.end, query + queries) : range.end;
}

// s[key][query] = scale·q·k + bias, -inf where masked. `turned_q` is the block of queries, turned; `work` two tiles of memory.
void scores(const Attention<Real>& a, const Tile& tile, const Rows& k, const Real* turned_q, Real* s, Real* work);

// ---- dropout --------------------------------------------------------------------------------------------------------------------

// The half words of 8 keys for 16 queries: words[w] holds keys 2w (low half) and 2w+1 (high half), lanes are queries.
struct DropoutWords {
  Int words[4];
  ROTE_INLINE Mask dropped(int key, uint32_t threshold) const {
    const Int word = words[key / 2];
    const Int half = key % 2 == 0 ? word & Int(Bits(0xFFFF)) : shr(word, 16);
    return half < Int(static_cast<Bits>(threshold));
  }
};

// For keys tile.key + 8·group … and queries tile.query + query … of the tile. Counters as Attention::dropout describes; its rows count from
// the origin in self-attention, so that left padding moves no word.
ROTE_INLINE DropoutWords dropout_words(const Attention<Real>& a, const Tile& tile, int64_t query, int64_t group) {
  const int64_t t0 = a.T == a.S ? tile.origin : 0;
  const int64_t first_query = tile.query + query - t0, first_block = (tile.key - tile.origin) / 8 + group;
  const Int block = ((iota() + Int(static_cast<Bits>(first_query))) << 13) + Int(static_cast<Bits>(first_block));
  DropoutWords out;
  philox_lanes(a.dropout.seed, block & Int(static_cast<Bits>(0xFFFFFFFFu)), a.dropout.first_sample + static_cast<uint64_t>(tile.b),
               a.dropout.op + 0x9E3779B9u * static_cast<uint32_t>(tile.h), out.words);
  return out;
}

}  // namespace rote::isa::ROTE_ISA_NAME
