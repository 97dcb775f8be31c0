// tests/kernels/ctc_test.cpp — connectionist temporal classification against a sum over every alignment; bits across instruction sets.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/kernels/isas.h"
#include "tests/support/compare.h"

namespace {

using namespace rote;
using namespace rote::testing;

template <class Real>
struct Problem {
  int64_t T, N, V, L;
  std::vector<Real> x, alpha, loss, dloss, dx;
  std::vector<int64_t> labels, input_lengths, target_lengths;

  Problem(int64_t T, int64_t N, int64_t V, int64_t L) : T(T), N(N), V(V), L(L) {
    for (const float v : random_values(T * N * V, 51, 2)) x.push_back(static_cast<Real>(v));
    for (int64_t n = 0; n < N; ++n) {
      input_lengths.push_back(T - n % 2);
      target_lengths.push_back(std::min(L, (n + 1) % (L + 1)));
      dloss.push_back(static_cast<Real>(0.5 + static_cast<double>(n)));
      for (int64_t i = 0; i < L; ++i) labels.push_back(1 + (n + i / 2) % (V - 1));  // some follow themselves
    }
    alpha.resize(static_cast<size_t>(N * T * ctc_width(L)));
    loss.resize(static_cast<size_t>(N));
    dx.assign(x.size(), Real(-77));
  }
  Ctc<Real> forward() {
    return {.T = T, .N = N, .V = V, .L = L, .blank = 0, .log_probs = x.data(), .labels = labels.data(), .input_lengths = input_lengths.data(),
            .target_lengths = target_lengths.data(), .alpha = alpha.data(), .loss = loss.data()};
  }
  void run(const CtcTable<Real>& table) {
    table.ctc(forward());
    table.ctc_backward({.forward = forward(), .dloss = dloss.data(), .of_scores = false, .dlog_probs = dx.data()});
  }
};

// Σ e^(sum of x along the path) over all V^T paths of sample n that collapse to its labels; `share` receives each class's part at each step.
double all_alignments(const Problem<double>& p, int64_t n, std::vector<double>& share) {
  const int64_t T = p.input_lengths[static_cast<size_t>(n)];
  const std::vector<int64_t> wanted(p.labels.begin() + n * p.L, p.labels.begin() + n * p.L + p.target_lengths[static_cast<size_t>(n)]);
  std::vector<int64_t> path(static_cast<size_t>(T), 0);
  double total = 0;
  share.assign(static_cast<size_t>(p.T * p.V), 0);
  for (bool more = true; more;) {
    std::vector<int64_t> collapsed;
    double log_probability = 0;
    for (int64_t t = 0; t < T; ++t) {
      const int64_t c = path[static_cast<size_t>(t)];
      log_probability += p.x[static_cast<size_t>((t * p.N + n) * p.V + c)];
      if (c != 0 && (t == 0 || path[static_cast<size_t>(t - 1)] != c)) collapsed.push_back(c);
    }
    if (collapsed == wanted) {
      total += std::exp(log_probability);
      for (int64_t t = 0; t < T; ++t) share[static_cast<size_t>(t * p.V + path[static_cast<size_t>(t)])] += std::exp(log_probability);
    }
    more = false;
    for (int64_t& c : path) {
      if (++c < p.V) {
        more = true;
        break;
      }
      c = 0;
    }
  }
  return total;
}

}  // namespace

TEST_CASE("ctc: loss and gradient are those of all alignments") {
  Problem<double> p(6, 4, 4, 3);
  p.run(rare_kernels<CtcTable, double>());
  for (int64_t n = 0; n < p.N; ++n) {
    std::vector<double> share;
    const double total = all_alignments(p, n, share);
    CHECK(near(p.loss[static_cast<size_t>(n)], -std::log(total), 1e-13, 1e-13));
    for (int64_t t = 0; t < p.T; ++t)
      for (int64_t c = 0; c < p.V; ++c)
        CHECK(near(p.dx[static_cast<size_t>((t * p.N + n) * p.V + c)], -p.dloss[static_cast<size_t>(n)] * share[static_cast<size_t>(t * p.V + c)] / total, 1e-12, 1e-13));
  }
}

TEST_CASE("ctc: every instruction set and thread count gives the same bits, close to f64") {
  Problem<double> exact(300, 5, 30, 40);
  exact.run(rare_kernels<CtcTable, double>());
  Problem<float> first(300, 5, 30, 40);
  first.run(*all_rare_kernels().front());
  // Rows are kept near 0, so an error is that of a few hundred roundings of numbers below 64, half of one ulp each.
  for (size_t n = 0; n < 5; ++n) CHECK(near(first.loss[n], exact.loss[n], 1e-6, 0));
  for (size_t i = 0; i < first.dx.size(); ++i) CHECK(near(first.dx[i], exact.dx[i], 0, 2e-4));
  each_rare_kernels([&](const RareKernels<float>& table) {
    Problem<float> p(300, 5, 30, 40);
    p.run(table);
    CHECK(same_bits(p.loss, first.loss));
    CHECK(same_bits(p.dx, first.dx));
  });
}

TEST_CASE("ctc: a target that no path reaches costs infinity, and has no gradient where nothing is asked of it") {
  Problem<double> p(3, 2, 3, 3);
  p.labels = {1, 1, 1, 1, 2, 1};
  p.input_lengths = {3, 3};
  p.target_lengths = {3, 3};  // 1 1 1 needs two blanks between
  p.dloss = {1, 0};
  p.run(rare_kernels<CtcTable, double>());
  CHECK(p.loss[0] == std::numeric_limits<double>::infinity());
  CHECK(std::isfinite(p.loss[1]));
  for (int64_t t = 0; t < 3; ++t)
    for (int64_t c = 0; c < 3; ++c) {
      CHECK(std::isnan(p.dx[static_cast<size_t>((t * 2 + 0) * 3 + c)]));
      CHECK(p.dx[static_cast<size_t>((t * 2 + 1) * 3 + c)] == 0);
    }
}
