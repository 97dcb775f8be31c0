// kernels/cpu/conv.cpp — convolutions as matrix products over columns: the values that a window reads, laid out by blocks in scratch memory.
// gemm.cpp does the arithmetic; nothing chosen here (blocks, tasks, threads) can change a bit.
#include "kernels/blocks.h"
#include "kernels/cpu/columns.h"
#include "kernels/cpu/direct.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/scratch.h"
#include "kernels/tree.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

constexpr int64_t kNarrow = 64;              // output positions of a sample below which blocks run across samples
constexpr int64_t kFewOutputs = 16;          // channels of a group of y that are not worth columns
constexpr int64_t kTaskColumns = 1 << 17;    // elements of the columns that a task keeps near
constexpr int64_t kSharedColumns = 1 << 22;  // of those that all threads work on

int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
Real* take(int64_t count) { return static_cast<Real*>(take_scratch(count * static_cast<int64_t>(sizeof(Real)))); }

// Products worth the threads of their own region run one after the other, others side by side.
template <class F>
uint32_t deal(int64_t tasks, int64_t work, const F& task) {
  if (work < gemm_blocks.shared_work) return parallel(tasks, task);
  uint32_t word = 0;
  for (int64_t i = 0; i < tasks; ++i) word = larger(word, task(i));
  return word;
}

// to[r,:] = from[r,:] + bias[r]; from may be `to`. bias: none adds nothing.
uint32_t add_bias(int64_t rows, int64_t n, const Real* from, int64_t from_row, const Real* bias, Real* to, int64_t to_row) {
  Amax amax;
  for (int64_t r = 0; r < rows; ++r) {
    const Real* in = from + r * from_row;
    Real* out = to + r * to_row;
    over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY {
      const Vec v = bias ? load(in + i, m) + Vec(bias[r]) : load(in + i, m);
      store(out + i, v, m);
      see(amax, v, m);
    });
  }
  return amax.word();
}

// A kernel of one position that reads each input once needs no columns: to[n,g] = W[g]·from[n,g], [M,K]·[K,P].
struct Mix {
  int64_t N, groups, M, K, P;
  const Real* w;
  int64_t w_row, w_col;
  const Real *from, *bias;
  Real* to;
};

uint32_t mix_channels(const Mix& m) {
  uint32_t word = 0;
  for (int64_t g = 0; g < m.groups; ++g)
    word = larger(word, gemm({.batch = m.N, .M = m.M, .N = m.P, .K = m.K, .a = m.w + g * m.M * m.K, .a_row = m.w_row, .a_col = m.w_col,
                              .b = m.from + g * m.K * m.P, .b_batch = m.groups * m.K * m.P, .b_row = m.P, .b_col = 1, .c = m.to + g * m.M * m.P,
                              .c_batch = m.groups * m.M * m.P, .c_row = m.P}));
  if (!m.bias) return word;
  const int64_t channels = m.groups * m.M;
  return over_rows(m.N * channels, m.P, [&](int64_t r, Amax& amax) {
    const Vec b(m.bias[r % channels]);
    Real* row = m.to + r * m.P;
    over_row(m.P, [&](int64_t i, auto n) ROTE_LOOP_BODY {
      const Vec v = load(row + i, n) + b;
      store(row + i, v, n);
      see(amax, v, n);
    });
  });
}

// Copies to[n·stride + p] of a block of rows (n, p) of y or dy between samples and one run of `count`.
template <class F>
void over_samples(int64_t P, int64_t first, int64_t count, const F& run) {
  for (int64_t at = 0; at < count;) {
    const int64_t n = (first + at) / P, p = (first + at) % P, length = least(P - p, count - at);
    run(n, p, at, length);
    at += length;
  }
}

uint32_t run_direct(const Conv<Real>& c) {
  const Direct direct(c);
  const auto one = [&](int64_t task) -> uint32_t {
    Real* const memory = take(direct.size());
    const uint32_t word = direct.run(task / c.groups, task % c.groups, memory);
    give_scratch(memory);
    return word;
  };
  return deal(c.N * c.groups, c.N * c.groups < 16 ? gemm_blocks.shared_work : 0, one);
}

}  // namespace

uint32_t conv(const Conv<Real>& c) {
  const Columns columns(c);
  const int64_t P = columns.positions, G = c.groups, K = columns.rows, M = c.O / most(G, 1), R = c.N * P;
  if (R == 0 || c.O == 0) return 0;
  if (columns.direct && P >= kNarrow) return mix_channels({c.N, G, M, K, P, c.w, K, 1, c.x, c.bias, c.to});
  if (M <= kFewOutputs && K > 0 && K <= kChainRows && c.out[2] >= kLanes / 2) return run_direct(c);
  const bool whole = P >= kNarrow;  // a block lies within one sample
  const int64_t span = whole ? P : R, work = M * K * span;
  const int64_t budget = work < gemm_blocks.shared_work ? kTaskColumns : kSharedColumns;
  const int64_t width = least(most(budget / most(K, 1) / kNarrow, 1) * kNarrow, span), blocks = ceil_div(span, width);
  const int64_t groups = least(most(budget / most(K * width, 1), 1), G), group_blocks = ceil_div(G, groups);
  return deal(R / span * blocks * group_blocks, M * K * width, [&](int64_t task) -> uint32_t {
    const int64_t g0 = task % group_blocks * groups, here = least(G - g0, groups), block = task / group_blocks;
    const int64_t first = block / blocks * span + block % blocks * width, count = least(width, block / blocks * span + span - first);
    Real* const cols = take(here * K * count + (whole ? 0 : here * M * count));
    columns.gather(g0 * K, here * K, first, count, cols);
    const int64_t n = first / P, p = first % P;
    Real* const y = c.to + (n * c.O + g0 * M) * P + p;
    Real* const product = whole ? y : cols + here * K * count;
    const int64_t row = whole ? P : count;
    const uint32_t word = gemm({.batch = here, .M = M, .N = count, .K = K, .a = c.w + g0 * M * K, .a_batch = M * K, .a_row = K, .a_col = 1,
                                .b = cols, .b_batch = K * count, .b_row = count, .b_col = 1, .c = product, .c_batch = M * row, .c_row = row});
    const Real* bias = c.bias ? c.bias + g0 * M : nullptr;
    uint32_t with_bias = 0;
    if (whole && bias) with_bias = add_bias(here * M, count, y, P, bias, y, P);
    if (!whole)
      over_samples(P, first, count, [&](int64_t sample, int64_t at, int64_t from, int64_t length) {
        Real* const to = c.to + (sample * c.O + g0 * M) * P + at;
        with_bias = larger(with_bias, add_bias(here * M, length, product + from, count, bias, to, P));
      });
    give_scratch(cols);
    return bias ? with_bias : word;
  });
}

uint32_t conv_input(const Conv<Real>& c) {
  const Columns columns(c);
  const int64_t P = columns.positions, G = c.groups, K = columns.rows, M = c.O / most(G, 1), Q = columns.kernel, per = c.C / most(G, 1);
  if (c.N * c.C * columns.inputs == 0) return 0;
  if (columns.direct) return mix_channels({c.N, G, K, M, P, c.w, 1, K, c.y, c.bias, c.to});
  const int64_t work = K * P * M, budget = work < gemm_blocks.shared_work ? kTaskColumns * 4 : kSharedColumns;
  // Some channels of a sample at a time: as many as fit, but enough of them that packing y for their product pays; then their lines are cut along
  // the first axis. A cut computes the outputs at its borders again, so it keeps some distance between them.
  const int64_t length = c.in[columns.axis], reach = (c.kernel[columns.axis] - 1) * c.dilation[columns.axis] + 1;
  const int64_t wanted = least(ceil_div(128, Q), per), most_cuts = most(length / (4 * reach), 1);
  int64_t channels = least(most(budget / most(Q * P, 1), wanted), per);
  int64_t cuts = least(ceil_div(channels * Q * P, budget), most_cuts);
  if (channels * Q * P > budget * cuts * 2) channels = least(most(budget * cuts / most(Q * P, 1), 1), channels);
  const int64_t channel_blocks = ceil_div(per, channels), width = ceil_div(length, most(cuts, 1));
  cuts = ceil_div(length, width);
  return deal(c.N * G * channel_blocks * cuts, work / channel_blocks / cuts, [&](int64_t task) -> uint32_t {
    const int64_t cut = task % cuts, cb = task / cuts % channel_blocks, g = task / cuts / channel_blocks % G, n = task / cuts / channel_blocks / G;
    const int64_t first_channel = cb * channels, here = least(per - first_channel, channels);
    const Section part = columns.part(cut * width, least((cut + 1) * width, length));
    Real* const cols = take(here * Q * part.count);
    gemm({.M = here * Q, .N = part.count, .K = M, .a = c.w + g * M * K + first_channel * Q, .a_row = 1, .a_col = K,
          .b = c.y + (n * c.O + g * M) * P + part.first, .b_row = P, .b_col = 1, .c = cols, .c_row = part.count});
    const int64_t channel = g * per + first_channel;
    const uint32_t word = parallel(here, [&](int64_t i) -> uint32_t {
      const Real bias = c.bias ? c.bias[channel + i] : Real(0);
      return columns.scatter(part, cols + i * Q * part.count, part.count, bias, c.to + (n * c.C + channel + i) * columns.inputs);
    });
    give_scratch(cols);
    return word;
  });
}

namespace {

// Σ over leaves of values in memory by the tree law: write the next leaf at next(), then push().
struct MemoryTree {
  Real* memory;
  int64_t size;
  int64_t top = 0, leaves = 0;

  Real* next() const { return memory + top * size; }
  void push() {
    const int merges = tree_merges(leaves++);
    ++top;
    for (int i = 0; i < merges; ++i) merge();
  }
  void finish() {
    while (top > 1) merge();
  }
  void merge() {
    Real *a = memory + (top - 2) * size, *b = a + size;
    over_row(size, [&](int64_t i, auto m) ROTE_LOOP_BODY { store(a + i, load(a + i, m) + load(b + i, m), m); });
    --top;
  }
};

constexpr int64_t kProductRows = 2048;  // of one Gemm: whole pieces

// How the rows (n, p) of a sum over samples are cut: units of `unit` rows, sample leaves or (in a single leaf) pieces.
struct Rows {
  int64_t count, unit, units;
  Rows(int64_t rows, int64_t leaf) : count(rows) {
    const bool cut = leaf > 0 && leaf < rows;
    unit = cut ? leaf : kChainRows;
    units = ceil_div(rows, unit);
  }
};

// One block of w: [M, width] from column k of group g, summed over the units first … last-1.
struct WeightBlock {
  const Conv<Real>& c;
  const Columns& columns;
  Rows rows;
  int64_t g, M, k, width;

  int64_t size() const { return M * width; }
  // Room for both trees, and one entry that merges.
  int64_t depth() const { return 4 + levels(rows.units) + levels(ceil_div(rows.unit, kProductRows)); }
  static int64_t levels(int64_t n) { return n < 2 ? 1 : 64 - __builtin_clzll(static_cast<uint64_t>(n)); }

  // to = Σ over rows first … first+count-1, cut every `leaf` rows.
  void product(int64_t first, int64_t count, int64_t leaf, Real* to) const {
    const int64_t P = columns.positions;
    const bool inside = first / P == (first + count - 1) / P;
    Real* const cols = take(width * count + (inside ? 0 : M * count));
    columns.gather(g * columns.rows + k, width, first, count, cols);
    const Real* dy = c.y + (first / P * c.O + g * M) * P + first % P;
    if (!inside) {
      Real* const copy = cols + width * count;
      over_samples(P, first, count, [&](int64_t n, int64_t p, int64_t at, int64_t length) {
        for (int64_t o = 0; o < M; ++o)
          __builtin_memcpy(copy + o * count + at, c.y + (n * c.O + g * M + o) * P + p, static_cast<size_t>(length) * sizeof(Real));
      });
      dy = copy;
    }
    gemm({.M = M, .N = width, .K = count, .a = dy, .a_row = inside ? P : count, .a_col = 1, .b = cols, .b_row = 1, .b_col = count, .c = to, .c_row = width,
          .leaf = leaf});
    give_scratch(cols);
  }

  // The sum ends at tree.memory[0].
  void sum(int64_t first, int64_t last, MemoryTree& tree) const {
    if (rows.unit > kProductRows) {
      for (int64_t u = first; u < last; ++u) {
        MemoryTree pieces{tree.next(), tree.size};
        const int64_t end = least((u + 1) * rows.unit, rows.count);
        for (int64_t at = u * rows.unit; at < end; at += kProductRows) {
          product(at, least(kProductRows, end - at), 0, pieces.next());
          pieces.push();
        }
        pieces.finish();
        tree.push();
      }
    } else {
      int64_t step = 1;
      while (step * 2 * rows.unit <= kProductRows) step *= 2;
      for (int64_t u = first; u < last; u += step) {
        const int64_t at = u * rows.unit, end = least(least(u + step, last) * rows.unit, rows.count);
        product(at, end - at, rows.unit, tree.next());
        tree.push();
      }
    }
    tree.finish();
  }
};

}  // namespace

uint32_t conv_weight(const Conv<Real>& c) {
  const Columns columns(c);
  const int64_t G = c.groups, K = columns.rows, M = c.O / most(G, 1), size = c.O * K;
  const Rows rows(c.N * columns.positions, c.leaf);
  if (size == 0) return 0;
  if (rows.count == 0) {
    __builtin_memset(c.to, 0, static_cast<size_t>(size) * sizeof(Real));
    return 0;
  }
  const int64_t width = least(K, 128), blocks = ceil_div(K, width), tasks = G * blocks;
  // Few tasks over many rows: parts of the rows, aligned as the tree is, each with a sum of its own.
  int64_t step = 1;
  const int64_t wanted = tasks >= 16 || size * rows.count < gemm_blocks.task_work ? 1 : least(ceil_div(32, tasks), most((1 << 22) / size, 1));
  while (ceil_div(rows.units, step) > wanted) step *= 2;
  const int64_t parts = ceil_div(rows.units, step);
  Real* const sums = parts > 1 ? take(parts * size) : c.to;
  const uint32_t word = parallel(tasks * parts, [&](int64_t task) -> uint32_t {
    const int64_t part = task / tasks, g = task % tasks / blocks, k = task % blocks * width;
    const WeightBlock block{c, columns, rows, g, M, k, least(width, K - k)};
    MemoryTree tree{take(block.size() * block.depth()), block.size()};
    block.sum(part * step, least((part + 1) * step, rows.units), tree);
    const uint32_t seen = add_bias(M, block.width, tree.memory, block.width, nullptr, sums + part * size + g * M * K + k, K);
    give_scratch(tree.memory);
    return seen;
  });
  if (parts == 1) return word;
  const uint32_t total = over_rows(ceil_div(size, kLanes), parts * kLanes, [&](int64_t r, Amax& amax) {
    const int64_t at = r * kLanes;
    const int m = static_cast<int>(least(size - at, kLanes));
    TreeSum<Vec> tree;
    for (int64_t part = 0; part < parts; ++part) tree.push(load(sums + part * size + at, m));
    store(c.to + at, tree.total(), m);
    amax.see(tree.total(), m);
  });
  give_scratch(sums);
  return total;
}

uint32_t unfold(const Conv<Real>& c) {
  const Columns columns(c);
  for (int64_t n = 0; n < c.N; ++n)
    columns.gather(0, c.C * columns.kernel, n * columns.positions, columns.positions, c.to + n * c.C * columns.kernel * columns.positions);
  return 0;
}

uint32_t fold(const Conv<Real>& c) {
  const Columns columns(c);
  const Section all = columns.part(0, c.in[columns.axis]);
  return parallel(c.N * c.C, [&](int64_t plane) -> uint32_t {
    return columns.scatter(all, c.y + plane * columns.kernel * columns.positions + all.first, columns.positions, Real(0), c.to + plane * columns.inputs);
  });
}

}  // namespace rote::isa::ROTE_ISA_NAME
