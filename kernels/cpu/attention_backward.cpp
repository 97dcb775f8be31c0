// kernels/cpu/attention_backward.cpp — gradients of q, k and v from the saved maximum and sum (arithmetic.md 3). No softmax is redone.
//
// With p = exp(s - max)/sum, p' = p after dropout, g = the dropped dO·vᵀ and delta = Σ_e dO·o:
//   ds = p·(g - delta), dq = scale·ds·k, dk = scale·dsᵀ·q, dv = p'ᵀ·dO
// Key tiles ascend outside, query blocks ascend inside: so dk and dv of a tile take queries in order, dq of a query takes keys in order.
#include "kernels/cpu/attention.h"
#include "kernels/scratch.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

// Elements of scratch memory that one head takes, cut into its parts.
struct Memory {
  Real *p, *g;                        // tiles: probabilities, then p'; dO·vᵀ, then ds
  Real* work;                         // two tiles
  Real *turned_q, *turned_dout;       // [block][d][query]
  Real* dq;                           // [T][wide], sums so far
  Real *dk, *dv;                      // [kTileKeys][wide], [kTileKeys][value_wide]
  Real *q, *dout, *k, *v;             // copies in whole vectors, where D or E is none or they are stored otherwise
  Real *shift, *sum, *delta;          // [blocks·kBlockQueries]: of each query

  static int64_t size(const Attention<Real>& a) {
    const int64_t wide = round_up(a.D), value_wide = round_up(a.E), padded = ceil_div(a.T, kBlockQueries) * kBlockQueries;
    return 4 * kTileSize + padded * (3 * wide + 2 * value_wide) + kTileKeys * 2 * (wide + value_wide) + 3 * padded;
  }
  Memory(const Attention<Real>& a, Real* at) {
    const int64_t wide = round_up(a.D), value_wide = round_up(a.E), padded = ceil_div(a.T, kBlockQueries) * kBlockQueries;
    const auto take = [&](int64_t n) {
      Real* part = at;
      at += n;
      return part;
    };
    p = take(kTileSize), g = take(kTileSize), work = take(2 * kTileSize);
    turned_q = take(padded * wide), turned_dout = take(padded * value_wide), dq = take(padded * wide);
    q = take(padded * wide), dout = take(padded * value_wide);
    dk = take(kTileKeys * wide), dv = take(kTileKeys * value_wide), k = take(kTileKeys * wide), v = take(kTileKeys * value_wide);
    shift = take(padded), sum = take(padded), delta = take(padded);
  }
};

void clear(Real* p, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) store(p + i, Vec(Real(0)));
}

// p becomes p', g becomes ds, for one block of queries.
void derive_tile(const Attention<Real>& a, const Tile& tile, const Memory& m) {
  const int64_t width = tile.width();
  const Vec one(Real(1)), zero(Real(0));
  for (int64_t t = 0; t < width; t += kLanes) {
    const Vec shift = load(m.shift + tile.query + t), sum = load(m.sum + tile.query + t), delta = load(m.delta + tile.query + t);
    if (a.dropout.threshold == 0) {
      for (int64_t i = t; i < tile.keys * width; i += width) {
        const Vec p = exp(load(m.p + i) - shift) / sum;
        store(m.p + i, p);
        store(m.g + i, p * (load(m.g + i) - delta));
      }
      continue;
    }
    const Vec scale(static_cast<Real>(a.dropout.scale));
    for (int64_t group = 0; group * 8 < tile.keys; ++group) {
      const DropoutWords words = dropout_words(a, tile, t, group);
      for (int64_t key = group * 8; key < least(group * 8 + 8, tile.keys); ++key) {
        const int64_t i = key * width + t;
        const Mask dropped = words.dropped(static_cast<int>(key % 8), a.dropout.threshold);
        const Vec p = exp(load(m.p + i) - shift) / sum;
        const Vec g = select(dropped, zero, load(m.g + i) * scale);
        store(m.p + i, select(dropped, zero, p * scale));
        store(m.g + i, p * (g - delta));
      }
    }
  }
}

// What of a query does not depend on keys: its shift (max, 0 where all keys are masked), its sum (1 there) and delta.
void prepare_queries(const AttentionGrad<Real>& grad, int64_t b, int64_t h, const Rows& dout, const Memory& m) {
  const Attention<Real>& a = grad.forward;
  const Rows o = as_reals(rows_of(a.o.read(), a.o_at, b, h), a.T, a.E, m.turned_dout);  // which is not in use yet
  const int64_t statistics = (b * a.H + h) * a.T, padded = ceil_div(a.T, kBlockQueries) * kBlockQueries;
  for (int64_t t = 0; t < padded; ++t) {
    const bool empty = t >= a.T || a.sum[statistics + t] == 0;
    m.shift[t] = empty ? Real(0) : a.max[statistics + t];
    m.sum[t] = empty ? Real(1) : a.sum[statistics + t];
    m.delta[t] = Real(0);
    if (t >= a.T) continue;
    const Real *y = o.p + t * o.stride, *dy = dout.p + t * dout.stride;
    m.delta[t] = lane_sum(a.E, [&](int64_t d, auto n) ROTE_LOOP_BODY { return load(y + d, n) * load(dy + d, n); });
  }
}

// out[t] = scale·rows[t] + 0.
void finish(const Results<Real>& out, int64_t out_stride, const Real* rows, int64_t wide, int64_t n, int64_t D, Real scale, Amax& amax) {
  Amax seen;  // a register; `amax` is memory
  for (int64_t t = 0; t < n; ++t)
    write_row(out.from(t * out_stride), D, seen, [&](int64_t d) ROTE_LOOP_BODY { return load(rows + t * wide + d) * Vec(scale) + Vec(Real(0)); });
  amax.largest = max(amax.largest, seen.largest);
}

void clear_rows(const Results<Real>& out, int64_t stride, int64_t first, int64_t end, int64_t D) {
  Amax none;
  for (int64_t t = first; t < end; ++t) write_row(out.from(t * stride), D, none, [&](int64_t) ROTE_LOOP_BODY { return Vec(Real(0)); });
}

// dscores[query][key] = ds of the tile.
void write_scores(const AttentionGrad<Real>& grad, const Tile& tile, const Real* ds, Amax& amax) {
  const Attention<Real>& a = grad.forward;
  const int64_t width = tile.width();
  Real* const out = grad.dscores + ((tile.b * a.H + tile.h) * a.T + tile.query) * a.S + tile.key;
  for (int64_t t = 0; t < tile.queries; ++t)
    for (int64_t s = 0; s < tile.keys; ++s) out[t * a.S + s] = ds[s * width + t];
  for (int64_t i = 0; i < tile.keys * width; i += kLanes) amax.see(load(ds + i));  // lanes past the queries are 0
}

// One head of one sample.
void attend_backward(const AttentionGrad<Real>& grad, int64_t b, int64_t h, const KeyRange& range, const Memory& m, Amax& amax) {
  const Attention<Real>& a = grad.forward;
  const int64_t D = a.D, E = a.E, wide = round_up(D), value_wide = round_up(E), block_size = wide * kBlockQueries;
  const StoredRows k = rows_of(a.k, a.k_at, b, h), v = rows_of(a.v, a.v_at, b, h);
  const Rows q = whole_vectors(rows_of(a.q, a.q_at, b, h), a.T, D, m.q), dout = whole_vectors(rows_of(grad.dout, grad.do_at, b, h), a.T, E, m.dout);
  const Results<Real> dk_out = grad.dk.from(b * grad.dk_at.b + h * grad.dk_at.h);
  const Results<Real> dv_out = grad.dv.from(b * grad.dv_at.b + h * grad.dv_at.h);
  prepare_queries(grad, b, h, dout, m);
  for (int64_t t = 0; t < a.T; t += kBlockQueries) {
    const int64_t queries = least(a.T - t, kBlockQueries);
    turn(m.turned_q + t * wide, from(q, t), queries, D);
    turn(m.turned_dout + t * value_wide, from(dout, t), queries, E);
  }
  clear(m.dq, ceil_div(a.T, kBlockQueries) * block_size);
  Tile tile{b, h, 0, 0, range.first, 0, range.first};
  for (; tile.key < range.end; tile.key += kTileKeys) {
    tile.keys = least(range.end - tile.key, kTileKeys);
    clear(m.dk, tile.keys * wide);
    clear(m.dv, tile.keys * value_wide);
    const Rows k_rows = whole_vectors(from(k, tile.key), tile.keys, D, m.k);
    const Rows v_rows = as_reals(from(v, tile.key), tile.keys, E, m.v);
    // Queries before the tile's first key see none of it.
    const int64_t first = a.causal ? least(tile.key, a.T) / kBlockQueries * kBlockQueries : 0;
    for (tile.query = first; tile.query < a.T; tile.query += kBlockQueries) {
      tile.queries = least(a.T - tile.query, kBlockQueries);
      const int64_t t = tile.query, width = tile.width();
      scores(a, tile, k_rows, m.turned_q + t * wide, m.p, m.work);
      product({.c = m.g, .c_row = width, .a = v_rows.p, .a_row = v_rows.stride, .a_k = 1, .b = m.turned_dout + t * value_wide, .b_k = width,
               .rows = tile.keys, .columns = width, .k = E});
      derive_tile(a, tile, m);
      if (grad.dscores) write_scores(grad, tile, m.g, amax);
      product({.c = m.dv, .c_row = value_wide, .a = m.p, .a_row = width, .a_k = 1, .b = dout.p + t * dout.stride, .b_k = dout.stride,
               .rows = tile.keys, .columns = value_wide, .k = tile.queries, .add = true});
      product({.c = m.dk, .c_row = wide, .a = m.g, .a_row = width, .a_k = 1, .b = q.p + t * q.stride, .b_k = q.stride, .rows = tile.keys,
               .columns = wide, .k = tile.queries, .add = true});
      product({.c = m.dq + t * wide, .c_row = wide, .a = m.g, .a_row = 1, .a_k = width, .b = k_rows.p, .b_k = k_rows.stride,
               .rows = tile.queries, .columns = wide, .k = tile.keys, .add = true});
    }
    finish(dk_out.from(tile.key * grad.dk_at.t), grad.dk_at.t, m.dk, wide, tile.keys, D, a.scale, amax);
    finish(dv_out.from(tile.key * grad.dv_at.t), grad.dv_at.t, m.dv, value_wide, tile.keys, E, Real(1), amax);
  }
  clear_rows(dk_out, grad.dk_at.t, 0, least(range.first, a.S), D);
  clear_rows(dk_out, grad.dk_at.t, range.end, a.S, D);
  clear_rows(dv_out, grad.dv_at.t, 0, least(range.first, a.S), E);
  clear_rows(dv_out, grad.dv_at.t, range.end, a.S, E);
  finish(grad.dq.from(b * grad.dq_at.b + h * grad.dq_at.h), grad.dq_at.t, m.dq, wide, a.T, D, a.scale, amax);
}

}  // namespace

uint32_t attention_backward(const AttentionGrad<Real>& grad) {
  const Attention<Real>& a = grad.forward;
  if (a.B <= 0 || a.H <= 0) return 0;
  KeyRange* const ranges = key_ranges(a);
  const int64_t heads = a.B * a.H;
  constexpr int64_t kTaskWork = 1 << 18;  // multiply-adds
  const int64_t per_task = kTaskWork / ((a.T + 1) * (a.S + 1) * (3 * a.D + 2 * a.E + 1)) + 1;
  const uint32_t word = parallel(ceil_div(heads, per_task), [&](int64_t task) {
    Real* const memory = static_cast<Real*>(take_scratch(Memory::size(a) * static_cast<int64_t>(sizeof(Real))));
    const Memory parts(a, memory);
    Amax amax;
    for (int64_t head = task * per_task; head < least((task + 1) * per_task, heads); ++head)
      attend_backward(grad, head / a.H, head % a.H, ranges[head / a.H], parts, amax);
    give_scratch(memory);
    return amax.word();
  });
  give_scratch(ranges);
  return word;
}

}  // namespace rote::isa::ROTE_ISA_NAME
