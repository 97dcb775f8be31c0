// kernels/cpu/attention.cpp — attention forward by online softmax over key tiles (arithmetic.md 3), and the scores both directions use.
#include "kernels/cpu/attention.h"

#include "kernels/scratch.h"

namespace rote::isa::ROTE_ISA_NAME {

KeyRange key_range(const Attention<Real>& a, int64_t b) {
  if (a.mask == nullptr) return {0, a.S};
  KeyRange range{a.S, 0};
  const int64_t heads = a.mask_h == 0 ? least(a.H, 1) : a.H, queries = a.mask_t == 0 ? least(a.T, 1) : a.T;
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t t = 0; t < queries; ++t) {
      const uint8_t* keep = a.mask + b * a.mask_b + h * a.mask_h + t * a.mask_t;
      int64_t s = 0;
      while (s < range.first && !keep[s * a.mask_s]) ++s;
      range.first = s;
      s = a.S;
      while (s > range.end && !keep[(s - 1) * a.mask_s]) --s;
      range.end = s;
    }
  }
  if (range.first > range.end) range = {0, 0};  // no key is kept
  return range;
}

KeyRange* key_ranges(const Attention<Real>& a) {
  KeyRange* ranges = static_cast<KeyRange*>(take_scratch(a.B * static_cast<int64_t>(sizeof(KeyRange))));
  parallel(a.mask ? a.B : 1, [&](int64_t task) {
    if (a.mask)
      ranges[task] = key_range(a, task);
    else
      for (int64_t b = 0; b < a.B; ++b) ranges[b] = {0, a.S};
    return 0u;
  });
  return ranges;
}

namespace {

// out[key][query]: 0 where the key is kept, -inf where not.
void turn_mask(const Attention<Real>& a, const Tile& tile, Real* out, Real* work) {
  const uint8_t* keep = a.mask + tile.b * a.mask_b + tile.h * a.mask_h + tile.query * a.mask_t + tile.key * a.mask_s;
  const Real masked = -static_cast<Real>(__builtin_inff());
  for (int64_t t = 0; t < tile.queries; ++t, keep += a.mask_t) {
    Real* row = work + t * kTileKeys;
    if (a.mask_s == 1)
      for (int64_t s = 0; s < tile.keys; ++s) row[s] = keep[s] ? Real(0) : masked;
    else
      for (int64_t s = 0; s < tile.keys; ++s) row[s] = keep[s * a.mask_s] ? Real(0) : masked;
  }
  turn(out, {work, kTileKeys}, tile.queries, tile.keys);
}

void turn_bias(const Attention<Real>& a, const Tile& tile, Real* out) {
  const Real* p = a.bias + tile.b * a.bias_b + tile.h * a.bias_h + tile.query * a.bias_t + tile.key * a.bias_s;
  const int width = static_cast<int>(tile.width());
  pack_reals({out, 0, 1, width, width}, {p, a.bias_t, a.bias_s, tile.queries}, tile.keys);
}

}  // namespace

void scores(const Attention<Real>& a, const Tile& tile, const Rows& k, const Real* turned_q, Real* s, Real* work) {
  const int64_t width = tile.width();
  product({.c = s, .c_row = width, .a = k.p, .a_row = k.stride, .a_k = 1, .b = turned_q, .b_k = width, .rows = tile.keys, .columns = width,
           .k = a.D});
  const bool mask_by_query = a.mask && a.mask_t != 0;
  const uint8_t* keep = a.mask && !mask_by_query ? a.mask + tile.b * a.mask_b + tile.h * a.mask_h + tile.key * a.mask_s : nullptr;
  Real* const second = work + kTileSize;
  const Vec scale(a.scale);
  if (a.bias) turn_bias(a, tile, work);
  for (int64_t key = 0; key < tile.keys; ++key) {
    Real* row = s + key * width;
    const Real* bias = a.bias ? work + key * width : nullptr;
    const bool masked = keep && !keep[key * a.mask_s];
    for (int64_t t = 0; t < width; t += kLanes) {
      Vec x = load(row + t) * scale;
      if (bias) x += load(bias + t);
      store(row + t, masked ? minus_infinity() : x);
    }
  }
  if (mask_by_query) {
    turn_mask(a, tile, second, work);
    for (int64_t i = 0; i < tile.keys * width; i += kLanes) {
      const Vec penalty = load(second + i);
      store(s + i, select(penalty == Vec(Real(0)), load(s + i), penalty));
    }
  }
  if (a.causal && tile.key + tile.keys > tile.query + 1) {  // the diagonal or what lies above it crosses this tile
    for (int64_t key = 0; key < tile.keys; ++key) {
      const Int number(static_cast<Bits>(tile.key + key - tile.query));
      for (int64_t t = 0; t < width; t += kLanes) {
        Real* at = s + key * width + t;
        store(at, select(iota() + Int(static_cast<Bits>(t)) < number, minus_infinity(), load(at)));
      }
    }
  }
}

namespace {

// Running maximum and sum of a block's queries, and the factor that the last tile put on what was summed before it.
struct Softmax {
  alignas(64) Real max[kBlockQueries], sum[kBlockQueries], factor[kBlockQueries];
};

// The 64-lane sum (arithmetic.md 3) over the tile's keys for 16 queries: key l goes to lane l, lanes fold by halves.
ROTE_INLINE Vec sum_keys(const Real* p, int64_t width, int64_t keys) {
  const auto value = [&](int64_t key) ROTE_LOOP_BODY { return key < keys ? load(p + key * width) : Vec(Real(0)); };
  Vec lanes[16];
  for (int64_t l = 0; l < 16; ++l) lanes[l] = (value(l) + value(l + 32)) + (value(l + 16) + value(l + 48));
  for (int half = 8; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0];
}

// Scores become probabilities times e^-max, in place.
void softmax_tile(const Attention<Real>& a, const Tile& tile, Real* s, Softmax& state) {
  const int64_t width = tile.width();
  for (int64_t t = 0; t < width; t += kLanes) {
    Real* p = s + t;
    // A NaN is left to exp: it cannot hide there.
    Vec top = load(state.max + t);
    for (int64_t key = 0; key < tile.keys; ++key) {
      const Vec x = load(p + key * width);
      top = select(top < x, x, top);
    }
    const Vec shift = select(top == minus_infinity(), Vec(Real(0)), top);  // nothing kept so far: every exp below is 0, not NaN
    const Vec factor = exp(load(state.max + t) - shift);
    for (int64_t key = 0; key < tile.keys; ++key) store(p + key * width, exp(load(p + key * width) - shift));
    store(state.sum + t, fma(load(state.sum + t), factor, sum_keys(p, width, tile.keys)));
    store(state.max + t, top);
    store(state.factor + t, factor);
    if (a.dropout.threshold == 0) continue;
    for (int64_t group = 0; group * 8 < tile.keys; ++group) {
      const DropoutWords words = dropout_words(a, tile, t, group);
      for (int i = 0; i < 8 && group * 8 + i < tile.keys; ++i) {
        Real* at = p + (group * 8 + i) * width;
        const Vec kept = load(at) * Vec(static_cast<Real>(a.dropout.scale));
        store(at, select(words.dropped(i, a.dropout.threshold), Vec(Real(0)), kept));
      }
    }
  }
}

// One block of queries of one head.
void attend(const Attention<Real>& a, int64_t b, int64_t h, int64_t query, const KeyRange& range, Real* memory, Amax& amax) {
  const int64_t D = a.D, E = a.E, wide = round_up(E), queries = least(a.T - query, kBlockQueries);
  Real* const s = memory;                                // a tile
  Real* const work = s + kTileSize;                      // two
  Real* const turned_q = work + 2 * kTileSize;           // round_up(D) x kBlockQueries
  Real* const o = turned_q + round_up(D) * kBlockQueries;  // kBlockQueries x wide
  Real* const v_copy = o + wide * kBlockQueries;         // kTileKeys x wide
  Real* const k_copy = v_copy + wide * kTileKeys;        // kTileKeys x round_up(D); the block of q before
  const StoredRows q = rows_of(a.q, a.q_at, b, h), k = rows_of(a.k, a.k_at, b, h), v = rows_of(a.v, a.v_at, b, h);
  Tile tile{b, h, query, queries, range.first, 0, range.first};
  Softmax state;
  for (int64_t t = 0; t < tile.width(); t += kLanes) {
    store(state.max + t, minus_infinity());
    store(state.sum + t, Vec(Real(0)));
  }
  turn(turned_q, as_reals(from(q, query), queries, D, k_copy), queries, D);
  const int64_t end = keys_end(a, range, query, queries);
  for (; tile.key < end; tile.key += kTileKeys) {
    tile.keys = least(end - tile.key, kTileKeys);
    scores(a, tile, as_reals(from(k, tile.key), tile.keys, D, k_copy), turned_q, s, work);
    softmax_tile(a, tile, s, state);
    const bool add = tile.key > range.first;
    if (add) {
      for (int64_t t = 0; t < queries; ++t)
        for (int64_t d = 0; d < wide; d += kLanes) store(o + t * wide + d, load(o + t * wide + d) * Vec(state.factor[t]));
    }
    const Rows rows = whole_vectors(from(v, tile.key), tile.keys, E, v_copy);
    product({.c = o, .c_row = wide, .a = s, .a_row = 1, .a_k = tile.width(), .b = rows.p, .b_k = rows.stride, .rows = queries, .columns = wide,
             .k = tile.keys, .add = add});
  }
  Amax seen;  // a register; `amax` is memory
  for (int64_t t = 0; t < queries; ++t) {
    const int64_t at = (b * a.H + h) * a.T + query + t;
    if (a.max) a.max[at] = state.max[t];
    if (a.sum) a.sum[at] = state.sum[t];
    const bool empty = state.sum[t] == 0;  // every key is masked
    write_row(a.o.from(b * a.o_at.b + h * a.o_at.h + (query + t) * a.o_at.t), E, seen, [&](int64_t d) ROTE_LOOP_BODY {
      return empty ? Vec(Real(0)) : load(o + t * wide + d) / Vec(state.sum[t]) + Vec(Real(0));
    });
  }
  amax.largest = max(amax.largest, seen.largest);
}

// Asks for rows that the next head needs while this one computes: a head's rows are far apart, hardware does not see them coming.
void prefetch(const StoredRows& rows, int64_t n, int64_t D) {
  const int64_t line = 64 / static_cast<int64_t>(is_narrow(rows.x.stored) ? sizeof(uint16_t) : sizeof(Real));
  for (int64_t t = 0; t < n; ++t)
    for (int64_t d = 0; d < D; d += line) __builtin_prefetch(rows.x.from(t * rows.stride + d).p);
}

// The next head's first tile.
void prefetch_head(const Attention<Real>& a, int64_t b, int64_t h) {
  prefetch(rows_of(a.q, a.q_at, b, h), least(a.T, kBlockQueries), a.D);
  prefetch(rows_of(a.k, a.k_at, b, h), least(a.S, kTileKeys), a.D);
  prefetch(rows_of(a.v, a.v_at, b, h), least(a.S, kTileKeys), a.E);
}

}  // namespace

uint32_t attention(const Attention<Real>& a) {
  if (a.B <= 0 || a.H <= 0 || a.T <= 0) return 0;
  KeyRange* const ranges = key_ranges(a);
  const int64_t blocks = ceil_div(a.T, kBlockQueries), units = a.B * a.H * blocks;
  constexpr int64_t kTaskWork = 1 << 18;  // multiply-adds
  const int64_t per_task = kTaskWork / (least(a.T, kBlockQueries) * (a.S + 1) * (a.D + a.E + 1)) + 1;
  const uint32_t word = parallel(ceil_div(units, per_task), [&](int64_t task) {
    const int64_t rows = 2 * round_up(a.D) + 2 * round_up(a.E);
    Real* memory = static_cast<Real*>(take_scratch((3 * kTileSize + rows * kBlockQueries) * static_cast<int64_t>(sizeof(Real))));
    Amax amax;
    for (int64_t unit = task * per_task; unit < least((task + 1) * per_task, units); ++unit) {
      const int64_t head = unit / blocks, next = (unit + 1) / blocks;
      if (next > head && next < a.B * a.H) prefetch_head(a, next / a.H, next % a.H);
      attend(a, head / a.H, head % a.H, unit % blocks * kBlockQueries, ranges[head / a.H], memory, amax);
    }
    give_scratch(memory);
    return amax.word();
  });
  give_scratch(ranges);
  return word;
}

}  // namespace rote::isa::ROTE_ISA_NAME
