// tests/kernels/attention_test.cpp — attention against plain loops in the specified order, bit for bit; gradients against differences; padding.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/math64.h"
#include "kernels/philox.h"
#include "kernels/pool.h"
#include "kernels/table.h"
#include "tests/kernels/isas.h"
#include "tests/support/compare.h"

namespace {

using namespace rote;
using rote::testing::first_bit_difference;
using rote::testing::spec_lane_sum;
using rote::testing::rare_kernels_of;
using rote::testing::RareKernels;

float reference_exp(float x) { return rote::testing::call("exp", x); }
double reference_exp(double x) { return math64::exp(x); }

struct Numbers {
  uint32_t state = 2024;
  double next() {
    state = state * 1664525u + 1013904223u;
    return (static_cast<double>(state >> 8) / (1 << 24) - 0.5) * 3.0;
  }
};

struct Options {
  int64_t B = 1, H = 1, T = 1, S = 1, D = 1;
  bool causal = false, bias = false;
  int mask = 0;  // 0: none, 1: [B,1,1,S], 2: [B,1,T,S], 3: [B,H,T,S]
  uint32_t threshold = 0;
};

// One problem with its buffers, all [B,H,T,D] as the models lay them out: strides of [B,T,H,D], with a gap after each row.
template <class Real>
struct Problem {
  Options n;
  std::vector<Real> q, k, v, o, dout, dq, dk, dv, bias, max, sum, dscores;
  std::vector<uint8_t> mask;
  uint64_t first_sample = 5;
  static constexpr int64_t gap = 3;

  explicit Problem(const Options& options, uint32_t seed = 2024) : n(options) {
    Numbers numbers{seed};
    const auto fill = [&](int64_t length) {
      std::vector<Real> x(static_cast<size_t>(length * row()), Real(-77));
      for (int64_t t = 0; t < length; ++t)
        for (int64_t i = 0; i < n.H * n.D; ++i) x[static_cast<size_t>(t * row() + i)] = static_cast<Real>(numbers.next());
      return x;
    };
    q = fill(n.B * n.T), dout = fill(n.B * n.T), k = fill(n.B * n.S), v = fill(n.B * n.S);
    if (n.bias)
      for (int64_t i = 0; i < n.H * n.T * n.S; ++i) bias.push_back(static_cast<Real>(numbers.next()));
    const int64_t heads = n.mask == 3 ? n.H : 1, queries = n.mask >= 2 ? n.T : 1;
    if (n.mask) {
      mask.resize(static_cast<size_t>(n.B * heads * queries * n.S));
      for (uint8_t& keep : mask) keep = numbers.next() > -0.6;
    }
  }

  int64_t row() const { return n.H * n.D + gap; }
  Real& at(std::vector<Real>& x, int64_t length, int64_t b, int64_t h, int64_t t, int64_t d) {
    return x[static_cast<size_t>((b * length + t) * row() + h * n.D + d)];
  }
  uint8_t& keep(int64_t b, int64_t h, int64_t t, int64_t s) {
    const Attention<Real> a = forward();
    return mask[static_cast<size_t>(b * a.mask_b + h * a.mask_h + t * a.mask_t + s)];
  }
  bool kept(int64_t b, int64_t h, int64_t t, int64_t s) { return mask.empty() || keep(b, h, t, s) != 0; }

  Attention<Real> forward() {
    o.resize(q.size(), Real(-77));
    max.resize(static_cast<size_t>(n.B * n.H * n.T));
    sum.resize(max.size());
    Attention<Real> a;
    a.B = n.B, a.H = n.H, a.T = n.T, a.S = n.S, a.D = a.E = n.D;
    a.q = q.data(), a.k = k.data(), a.v = v.data(), a.o = o.data(), a.max = max.data(), a.sum = sum.data();
    a.q_at = a.o_at = {n.T * row(), n.D, row()};
    a.k_at = a.v_at = {n.S * row(), n.D, row()};
    if (n.mask) {
      a.mask = mask.data();
      a.mask_s = 1;
      a.mask_t = n.mask >= 2 ? n.S : 0;
      a.mask_h = n.mask == 3 ? n.T * n.S : 0;
      a.mask_b = (n.mask == 3 ? n.H : 1) * (n.mask >= 2 ? n.T : 1) * n.S;
    }
    if (n.bias) a.bias = bias.data(), a.bias_s = 1, a.bias_t = n.S, a.bias_h = n.T * n.S;
    a.causal = n.causal;
    a.scale = static_cast<Real>(1 / std::sqrt(static_cast<double>(n.D)));
    a.dropout = {.seed = 99, .first_sample = first_sample, .op = 0x1234567u, .threshold = n.threshold,
                 .scale = static_cast<float>(1.0 / (1.0 - n.threshold / 65536.0))};
    return a;
  }
  AttentionGrad<Real> backward() {
    AttentionGrad<Real> g;
    g.forward = forward();
    dscores.assign(static_cast<size_t>(n.B * n.H * n.T * n.S), Real(0));
    g.dscores = dscores.data();
    dq.assign(q.size(), Real(-77)), dk.assign(k.size(), Real(-77)), dv.assign(v.size(), Real(-77));
    g.dout = dout.data(), g.dq = dq.data(), g.dk = dk.data(), g.dv = dv.data();
    g.do_at = g.dq_at = g.forward.q_at;
    g.dk_at = g.dv_at = g.forward.k_at;
    return g;
  }
  void run(const RareKernels<Real>& table) {
    table.attention(forward());
    table.attention_backward(backward());
  }
};

// The problem computed element by element; results stand in its buffers.
template <class Real>
struct Reference {
  Problem<Real> p;

  explicit Reference(const Problem<Real>& problem) : p(problem) {
    p.backward();  // sizes the outputs
    for (int64_t b = 0; b < p.n.B; ++b) {
      int64_t origin = p.n.S, end = 0;
      for (int64_t h = 0; h < p.n.H; ++h)
        for (int64_t t = 0; t < p.n.T; ++t)
          for (int64_t s = 0; s < p.n.S; ++s)
            if (p.kept(b, h, t, s)) origin = std::min(origin, s), end = std::max(end, s + 1);
      if (end == 0) origin = 0;
      for (int64_t h = 0; h < p.n.H; ++h) head(b, h, origin);
    }
  }

  Real score(int64_t b, int64_t h, int64_t t, int64_t s) {
    if (!p.kept(b, h, t, s) || (p.n.causal && s > t)) return -std::numeric_limits<Real>::infinity();
    Real x = 0;
    for (int64_t d = 0; d < p.n.D; ++d) x = std::fma(p.at(p.k, p.n.S, b, h, s, d), p.at(p.q, p.n.T, b, h, t, d), x);
    x = x * p.forward().scale;
    return p.n.bias ? x + p.bias[static_cast<size_t>((h * p.n.T + t) * p.n.S + s)] : x;
  }

  Real drop(Real x, int64_t b, int64_t h, int64_t t, int64_t s, int64_t origin) {
    const Dropout dropout = p.forward().dropout;
    if (dropout.threshold == 0) return x;
    const int64_t element = (t - (p.n.T == p.n.S ? origin : 0)) * 65536 + (s - origin);
    const PhiloxBlock words = philox(dropout.seed, philox_counter(static_cast<uint64_t>(element >> 3), dropout.first_sample + static_cast<uint64_t>(b),
                                                                  dropout.op + 0x9E3779B9u * static_cast<uint32_t>(h)));
    const uint32_t word = words.word[(element & 7) / 2];
    const uint32_t half = element % 2 == 0 ? word & 0xFFFF : word >> 16;
    return half < dropout.threshold ? Real(0) : x * static_cast<Real>(dropout.scale);
  }

  void head(int64_t b, int64_t h, int64_t origin) {
    const int64_t T = p.n.T, S = p.n.S, D = p.n.D;
    const Real infinity = std::numeric_limits<Real>::infinity();
    std::vector<std::vector<Real>> dropped(static_cast<size_t>(T)), ds(static_cast<size_t>(T));
    for (int64_t t = 0; t < T; ++t) {
      Real max = -infinity, sum = 0;
      std::vector<Real> o(static_cast<size_t>(D), Real(0));
      for (int64_t key = origin; key < S; key += 64) {
        const int64_t keys = std::min<int64_t>(64, S - key);
        Real next = max;
        std::vector<Real> x, e;
        for (int64_t i = 0; i < keys; ++i) {
          x.push_back(score(b, h, t, key + i));
          next = std::max(next, x.back());
        }
        if (next == -infinity) continue;  // nothing is kept so far
        const Real factor = reference_exp(max - next);
        for (int64_t i = 0; i < keys; ++i) e.push_back(reference_exp(x[static_cast<size_t>(i)] - next));
        sum = std::fma(sum, factor, spec_lane_sum(keys, [&](int64_t i) { return e[static_cast<size_t>(i)]; }));
        max = next;
        for (int64_t d = 0; d < D; ++d) {
          Real y = o[static_cast<size_t>(d)] * factor;
          for (int64_t i = 0; i < keys; ++i)
            y = std::fma(drop(e[static_cast<size_t>(i)], b, h, t, key + i, origin), p.at(p.v, S, b, h, key + i, d), y);
          o[static_cast<size_t>(d)] = y;
        }
      }
      for (int64_t d = 0; d < D; ++d) p.at(p.o, T, b, h, t, d) = sum == 0 ? Real(0) : o[static_cast<size_t>(d)] / sum + Real(0);
      p.max[static_cast<size_t>((b * p.n.H + h) * T + t)] = max;
      p.sum[static_cast<size_t>((b * p.n.H + h) * T + t)] = sum;

      const Real delta = spec_lane_sum(D, [&](int64_t d) { return p.at(p.o, T, b, h, t, d) * p.at(p.dout, T, b, h, t, d); });
      for (int64_t s = 0; s < S; ++s) {
        const Real weight = sum == 0 ? Real(0) : reference_exp(score(b, h, t, s) - max) / sum;
        Real g = 0;
        for (int64_t d = 0; d < D; ++d) g = std::fma(p.at(p.v, S, b, h, s, d), p.at(p.dout, T, b, h, t, d), g);
        dropped[static_cast<size_t>(t)].push_back(drop(weight, b, h, t, s, origin));
        ds[static_cast<size_t>(t)].push_back(weight * (drop(g, b, h, t, s, origin) - delta));
        p.dscores[static_cast<size_t>(((b * p.n.H + h) * T + t) * S + s)] = ds[static_cast<size_t>(t)].back();
      }
      for (int64_t d = 0; d < D; ++d) {
        Real y = 0;
        for (int64_t s = origin; s < S; ++s) y = std::fma(ds[static_cast<size_t>(t)][static_cast<size_t>(s)], p.at(p.k, S, b, h, s, d), y);
        p.at(p.dq, T, b, h, t, d) = y * p.forward().scale + Real(0);
      }
    }
    for (int64_t s = 0; s < S; ++s) {
      for (int64_t d = 0; d < D; ++d) {
        Real dk = 0, dv = 0;
        for (int64_t t = 0; t < T; ++t) {
          dk = std::fma(ds[static_cast<size_t>(t)][static_cast<size_t>(s)], p.at(p.q, T, b, h, t, d), dk);
          dv = std::fma(dropped[static_cast<size_t>(t)][static_cast<size_t>(s)], p.at(p.dout, T, b, h, t, d), dv);
        }
        p.at(p.dk, S, b, h, s, d) = dk * p.forward().scale + Real(0);
        p.at(p.dv, S, b, h, s, d) = dv + Real(0);
      }
    }
  }
};

template <class Real>
int64_t difference(const std::vector<Real>& a, const std::vector<Real>& b) {
  REQUIRE(a.size() == b.size());
  return first_bit_difference(static_cast<int64_t>(a.size()), a.data(), b.data());
}

template <class Real>
void check_equal(const Problem<Real>& got, const Problem<Real>& want) {
  CHECK(difference(got.o, want.o) == -1);
  CHECK(difference(got.max, want.max) == -1);
  CHECK(difference(got.sum, want.sum) == -1);
  CHECK(difference(got.dq, want.dq) == -1);
  CHECK(difference(got.dk, want.dk) == -1);
  CHECK(difference(got.dv, want.dv) == -1);
  CHECK(got.dscores == want.dscores);  // 0 may have either sign
}

const Options kOptions[] = {
    {.B = 1, .H = 1, .T = 1, .S = 1, .D = 1},
    {.B = 2, .H = 3, .T = 20, .S = 20, .D = 32},
    {.B = 1, .H = 2, .T = 64, .S = 64, .D = 32, .mask = 1, .threshold = 6554},
    {.B = 2, .H = 2, .T = 17, .S = 70, .D = 24, .mask = 2},
    {.B = 2, .H = 2, .T = 33, .S = 33, .D = 16, .causal = true},
    {.B = 1, .H = 2, .T = 100, .S = 100, .D = 5, .causal = true, .bias = true, .mask = 1, .threshold = 20000},
    {.B = 2, .H = 2, .T = 70, .S = 150, .D = 48, .bias = true, .mask = 3, .threshold = 100},
    {.B = 1, .H = 1, .T = 3, .S = 200, .D = 64, .mask = 1},
    {.B = 1, .H = 1, .T = 130, .S = 9, .D = 80, .causal = true, .threshold = 32768},
};

// A mask that keeps keys [first, end) of sample b.
template <class Real>
void keep_only(Problem<Real>& p, int64_t b, int64_t first, int64_t end) {
  for (int64_t s = 0; s < p.n.S; ++s) p.keep(b, 0, 0, s) = s >= first && s < end;
}

// Sample `b` of `to`, from position `at` on, becomes sample 0 of `from`: T = S = from.n.T tokens.
void place(Problem<float>& to, int64_t b, int64_t at, Problem<float>& from) {
  for (int64_t h = 0; h < from.n.H; ++h)
    for (int64_t t = 0; t < from.n.T; ++t)
      for (int64_t d = 0; d < from.n.D; ++d) {
        to.at(to.q, to.n.T, b, h, at + t, d) = from.at(from.q, from.n.T, 0, h, t, d);
        to.at(to.k, to.n.T, b, h, at + t, d) = from.at(from.k, from.n.T, 0, h, t, d);
        to.at(to.v, to.n.T, b, h, at + t, d) = from.at(from.v, from.n.T, 0, h, t, d);
        to.at(to.dout, to.n.T, b, h, at + t, d) = from.at(from.dout, from.n.T, 0, h, t, d);
      }
}

// The number of elements of the placed sample's results that differ from the sample computed alone.
int differing(Problem<float>& padded, int64_t b, int64_t at, Problem<float>& alone) {
  int count = 0;
  for (int64_t h = 0; h < alone.n.H; ++h)
    for (int64_t t = 0; t < alone.n.T; ++t)
      for (int64_t d = 0; d < alone.n.D; ++d)
        for (std::vector<float> Problem<float>::*result : {&Problem<float>::o, &Problem<float>::dq, &Problem<float>::dk, &Problem<float>::dv}) {
          const float x = padded.at(padded.*result, padded.n.T, b, h, at + t, d), y = alone.at(alone.*result, alone.n.T, 0, h, t, d);
          count += rote::testing::bits(x) != rote::testing::bits(y);
        }
  return count;
}

}  // namespace

TEST_CASE_TEMPLATE("attention: outputs and gradients are the specified chains, sums and tiles", Real, float, double) {
  for (const Options& options : kOptions) {
    Problem<Real> problem(options);
    const Reference<Real> reference(problem);
    for (const RareKernels<Real>* table : rare_kernels_of<Real>()) {
      const std::string isa = table->isa;
      CAPTURE(isa);
      CAPTURE(options.T);
      CAPTURE(options.S);
      CAPTURE(options.D);
      problem.run(*table);
      check_equal(problem, reference.p);
    }
  }
}

TEST_CASE("attention: the number of threads changes no bit") {
  const RareKernels<float>& table = *rare_kernels_of<float>().back();
  Problem<float> problem({.B = 3, .H = 5, .T = 70, .S = 70, .D = 32, .mask = 1, .threshold = 6554});
  set_num_threads(1);
  problem.run(table);
  const Problem<float> alone = problem;
  for (int threads : {2, 3, 5, 8}) {
    set_num_threads(threads);
    problem.run(table);
    check_equal(problem, alone);
  }
  set_num_threads(0);
}

TEST_CASE("attention: values of another width than keys give the leading columns of wider values") {
  // The columns left out have no gradient, and adding their zeros changes no sum.
  for (const RareKernels<float>* table : rare_kernels_of<float>()) {
    Problem<float> wide({.B = 2, .H = 2, .T = 70, .S = 90, .D = 40, .mask = 2, .threshold = 100});
    const int64_t E = 19, row = wide.row();
    for (size_t i = 0; i < wide.dout.size(); ++i)
      if (const int64_t at = static_cast<int64_t>(i) % row; at < wide.n.H * wide.n.D && at % wide.n.D >= E) wide.dout[i] = 0;
    Problem<float> narrow = wide;
    wide.run(*table);
    Attention<float> forward = narrow.forward();
    forward.E = E;
    table->attention(forward);
    AttentionGrad<float> backward = narrow.backward();
    backward.forward.E = E;
    table->attention_backward(backward);
    const auto leading = [&](std::vector<float>& x, const std::vector<float>& all) {
      for (size_t i = 0; i < x.size(); ++i)
        if (const int64_t at = static_cast<int64_t>(i) % row; at < wide.n.H * wide.n.D && at % wide.n.D >= E) {
          CHECK(x[i] == -77);
          x[i] = all[i];
        }
    };
    leading(narrow.o, wide.o);
    leading(narrow.dv, wide.dv);
    check_equal(narrow, wide);
  }
}

bool is_bf16(Stored stored) { return stored == Stored::bf16 || stored == Stored::rounded_to_bf16; }
std::vector<uint16_t> narrowed(const std::vector<float>& x, Stored stored) {
  std::vector<uint16_t> words;
  for (const float v : x) words.push_back(is_bf16(stored) ? to_bfloat16(v).bits : to_half(v).bits);
  return words;
}
std::vector<float> widened(const std::vector<uint16_t>& words, Stored stored) {
  std::vector<float> x;
  for (const uint16_t word : words) x.push_back(is_bf16(stored) ? to_float(BFloat16{word}) : to_float(Half{word}));
  return x;
}

TEST_CASE("attention: 16-bit operands and results are what converting before and after gives") {
  for (const RareKernels<float>* table : rare_kernels_of<float>()) {
    CAPTURE(table->isa);
    for (const Options& options : kOptions)
      for (const Stored stored : {Stored::bf16, Stored::f16, Stored::rounded_to_bf16, Stored::rounded_to_f16}) {
        CAPTURE(options.T);
        CAPTURE(static_cast<int>(stored));
        const Stored narrow = is_bf16(stored) ? Stored::bf16 : Stored::f16;
        const Problem<float> given(options);
        const auto rounded = [&](const std::vector<float>& x) { return widened(narrowed(x, stored), stored); };
        Problem<float> wide = given;
        for (std::vector<float>* x : {&wide.q, &wide.k, &wide.v, &wide.dout}) *x = rounded(*x);
        table->attention(wide.forward());
        wide.o = rounded(wide.o);
        AttentionGrad<float> want = wide.backward();
        table->attention_backward(want);

        Problem<float> p = given;
        AttentionGrad<float> grad = p.backward();
        Attention<float>& forward = grad.forward;
        const std::vector<uint16_t> q = narrowed(p.q, stored), k = narrowed(p.k, stored), v = narrowed(p.v, stored), dout = narrowed(p.dout, stored);
        std::vector<uint16_t> o = narrowed(p.o, stored), dq = narrowed(p.dq, stored), dk = narrowed(p.dk, stored), dv = narrowed(p.dv, stored);
        const auto elements = [&](const std::vector<float>& reals, const std::vector<uint16_t>& words) {
          return is_narrow(stored) ? Elements<float>(words.data(), stored) : Elements<float>(reals.data(), stored);
        };
        forward.q = elements(p.q, q), forward.k = elements(p.k, k), forward.v = elements(p.v, v);
        forward.o = {o.data(), narrow};
        grad.dout = {dout.data(), narrow};
        grad.dq = {dq.data(), narrow}, grad.dk = {dk.data(), narrow}, grad.dv = {dv.data(), narrow};
        table->attention(forward);
        table->attention_backward(grad);
        CHECK(difference(p.max, wide.max) == -1);
        CHECK(difference(p.sum, wide.sum) == -1);
        CHECK(p.dscores == wide.dscores);
        CHECK(o == narrowed(wide.o, stored));
        CHECK(dq == narrowed(wide.dq, stored));
        CHECK(dk == narrowed(wide.dk, stored));
        CHECK(dv == narrowed(wide.dv, stored));
      }
  }
}

TEST_CASE("attention: gradients equal differences of the output") {
  const RareKernels<double>& table = *rare_kernels_of<double>().front();
  for (const Options& options : {Options{.B = 1, .H = 2, .T = 5, .S = 7, .D = 3, .bias = true, .mask = 2},
                                 Options{.B = 2, .H = 1, .T = 6, .S = 6, .D = 4, .causal = true, .threshold = 16384}}) {
    Problem<double> p(options);
    p.run(table);
    const Problem<double> done = p;
    const auto loss = [&] {
      table.attention(p.forward());
      double sum = 0;
      for (int64_t b = 0; b < p.n.B; ++b)
        for (int64_t h = 0; h < p.n.H; ++h)
          for (int64_t t = 0; t < p.n.T; ++t)
            for (int64_t d = 0; d < p.n.D; ++d) sum += p.at(p.o, p.n.T, b, h, t, d) * p.at(p.dout, p.n.T, b, h, t, d);
      return sum;
    };
    const auto compare = [&](std::vector<double>& x, const std::vector<double>& dx, int64_t length) {
      for (int64_t row = 0; row < p.n.B * length; ++row)
        for (int64_t i = 0; i < p.n.H * p.n.D; ++i) {
          double& element = x[static_cast<size_t>(row * p.row() + i)];
          const double before = element, step = 1e-3;
          const auto moved = [&](double by) {
            element = before + by;
            const double y = loss();
            element = before;
            return y;
          };
          // Four points: the error is of order step^4.
          const double slope = (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
          CHECK(rote::testing::near(dx[static_cast<size_t>(row * p.row() + i)], slope, 1e-6, 1e-9));
        }
    };
    compare(p.q, done.dq, p.n.T);
    compare(p.k, done.dk, p.n.S);
    compare(p.v, done.dv, p.n.S);
  }
}

// Real tokens of a sample: alone, with padding on either side, beside a neighbour that holds no number at all.
TEST_CASE("attention: padding and neighbours change no bit of a real token") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (uint32_t threshold : {0u, 6554u}) {
    for (bool causal : {false, true}) {
      for (int64_t length : {7, 64, 90}) {
        Options options{.B = 1, .H = 2, .T = length, .S = length, .D = 32, .causal = causal, .mask = 1, .threshold = threshold};
        Problem<float> alone(options);
        keep_only(alone, 0, 0, length);
        for (const RareKernels<float>* table : rare_kernels_of<float>()) {
          if (table == rare_kernels_of<float>().front() && length > 64) continue;  // the scalar one is slow
          alone.run(*table);
          for (int64_t left : {0, 1, 13, 64, 70}) {
            const int64_t right = left == 1 ? 0 : 21;
            options.B = 2;
            options.T = options.S = left + length + right;
            Problem<float> padded(options, 77);  // padding holds other numbers
            padded.first_sample = alone.first_sample - 1;
            for (size_t i = 0; i < static_cast<size_t>(padded.n.T * padded.row()); ++i) {
              padded.q[i] = nan;  // sample 0
              padded.k[i] = infinity;
              padded.v[i] = -infinity;
            }
            keep_only(padded, 0, 0, padded.n.S);
            keep_only(padded, 1, left, left + length);
            place(padded, 1, left, alone);
            // The loss does not see padded queries.
            for (int64_t h = 0; h < 2; ++h)
              for (int64_t t = 0; t < padded.n.T; ++t)
                for (int64_t d = 0; d < 32; ++d)
                  if (t < left || t >= left + length) padded.at(padded.dout, padded.n.T, 1, h, t, d) = 0;
            padded.run(*table);
            CAPTURE(left);
            CAPTURE(length);
            CAPTURE(causal);
            CHECK(differing(padded, 1, left, alone) == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("attention: a query without keys gives zero and has no gradient; a sample without keys neither") {
  for (const RareKernels<float>* table : rare_kernels_of<float>()) {
    Problem<float> p({.B = 2, .H = 1, .T = 4, .S = 70, .D = 16, .mask = 2});
    for (int64_t s = 0; s < 70; ++s) {
      p.keep(0, 0, 2, s) = 0;
      for (int64_t t = 0; t < 4; ++t) p.keep(1, 0, t, s) = 0;
    }
    const uint32_t word = table->attention(p.forward());
    CHECK(word < 0x7F800000u);
    CHECK(table->attention_backward(p.backward()) < 0x7F800000u);
    for (int64_t d = 0; d < 16; ++d) {
      CHECK(rote::testing::bits(p.at(p.o, 4, 0, 0, 2, d)) == 0u);
      CHECK(rote::testing::bits(p.at(p.dq, 4, 0, 0, 2, d)) == 0u);
      for (int64_t t = 0; t < 4; ++t) CHECK(rote::testing::bits(p.at(p.o, 4, 1, 0, t, d)) == 0u);
      for (int64_t s = 0; s < 70; ++s) {
        CHECK(rote::testing::bits(p.at(p.dk, 70, 1, 0, s, d)) == 0u);
        CHECK(rote::testing::bits(p.at(p.dv, 70, 1, 0, s, d)) == 0u);
      }
    }
    CHECK(p.at(p.o, 4, 0, 0, 1, 0) != 0.0f);
    CHECK(std::isinf(p.max[2]));
    CHECK(p.sum[2] == 0.0f);
  }
}

TEST_CASE("attention: a NaN in a kept key or value shows in the output and in the status word") {
  for (const RareKernels<float>* table : rare_kernels_of<float>()) {
    for (std::vector<float> Problem<float>::*operand : {&Problem<float>::q, &Problem<float>::k, &Problem<float>::v}) {
      Problem<float> p({.B = 1, .H = 1, .T = 5, .S = 5, .D = 16});
      CHECK(table->attention(p.forward()) < 0x7F800000u);
      p.at(p.*operand, 5, 0, 0, 3, 2) = std::numeric_limits<float>::quiet_NaN();
      CHECK(table->attention(p.forward()) > 0x7F800000u);
      CHECK(std::isnan(p.at(p.o, 5, 0, 0, 3, 2)));
      CHECK(table->attention_backward(p.backward()) > 0x7F800000u);
    }
  }
}

TEST_CASE("attention: equal scores weigh equally, whatever the strides of the mask") {
  // All queries are zero: each kept key weighs 1/kept, and o is the mean of the kept values.
  for (const RareKernels<float>* table : rare_kernels_of<float>()) {
    Problem<float> p({.B = 1, .H = 1, .T = 2, .S = 80, .D = 1, .mask = 2});
    std::fill(p.q.begin(), p.q.end(), 0.0f);
    std::vector<uint8_t> columns(160);  // mask[t][s] at s*2 + t
    double mean[2] = {};
    int kept[2] = {};
    for (int64_t t = 0; t < 2; ++t)
      for (int64_t s = 0; s < 80; ++s) {
        const bool keep = s % 4 != 3 * t;
        columns[static_cast<size_t>(s * 2 + t)] = keep;
        if (keep) mean[t] += p.at(p.v, 80, 0, 0, s, 0), ++kept[t];
      }
    Attention<float> a = p.forward();
    a.mask = columns.data(), a.mask_s = 2, a.mask_t = 1;
    table->attention(a);
    // 80 values of at most 1.5: a sum of 80 terms is off by less than 80·2^-24·1.5 of their mean size.
    for (int64_t t = 0; t < 2; ++t) CHECK(rote::testing::near(p.at(p.o, 2, 0, 0, t, 0), mean[t] / kept[t], 1e-5, 1e-6));
  }
}
