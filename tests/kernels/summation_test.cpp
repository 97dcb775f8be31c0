// tests/kernels/summation_test.cpp — the order of every sum of arithmetic.md, not only its result: the tree that masking inputs reveal in each kernel is
// the specified one (summation.h). What tells other orders apart is shown with sums of a wrong one.
#include "tests/kernels/summation.h"

#include <doctest/doctest.h>

using namespace rote::testing;
using rote::KernelTable;

TEST_CASE("gemm: the order of its sums is a chain, its pieces, the leaves, the bias") {
  struct Case {
    int64_t batch, M, N, K, leaf;
    size_t probes;
  };
  for (const Case& k : {Case{1, 1, 1, 40, 0, 40}, Case{1, 1, 40, 300, 20, 30}, Case{1, 15, 33, 65, 0, 30}, Case{1, 28, 64, 1025, 0, 14}, Case{1, 57, 97, 200, 64, 14},
                        Case{1, 30, 17, 5000, 0, 14}, Case{1, 6, 5, 4500, 1500, 20}, Case{5, 4, 6, 100, 7, 30}}) {
    for (bool in_b : {false, true}) {
      if (in_b && k.M * k.N * k.K > 200000) continue;  // the larger ones once
      for (const KernelTable<float>* table : all_tables()) {
        CAPTURE(std::string(table->isa));
        CAPTURE(k.K);
        std::vector<int64_t> probes = probes_of(k.K, k.leaf, k.probes);
        probes.push_back(k.K);  // the bias
        // The operand with the terms has k along its rows: the same ones for each row and batch item.
        std::vector<float> terms = numbers(k.K + 1), ones = numbers(k.batch * k.K * std::max(k.M, k.N), 1), bias = numbers(k.N), c = numbers(k.batch * k.M * k.N);
        rote::Gemm<float> g{.batch = k.batch, .M = k.M, .N = k.N, .K = k.K, .a = {}, .b = {}, .c = c.data(), .c_batch = k.M * k.N, .c_row = k.N, .bias = bias.data(), .leaf = k.leaf};
        g.a = (in_b ? ones : terms).data(), g.a_row = in_b ? k.K : 0, g.a_col = 1;
        g.b = (in_b ? terms : ones).data(), g.b_row = in_b ? 1 : k.N, g.b_col = in_b ? 0 : 1;
        const Sum sum = [&](const std::vector<float>& values) {
          place(probes, values, terms);
          std::fill(bias.begin(), bias.end(), values.back());
          table->gemm(g);
          return all_equal(c) ? c[0] : -1;
        };
        check_order("gemm", probes, sum, [&](const auto& term) { return by_rows(k.K, k.leaf)(term) + term(k.K); });
      }
    }
  }
}

TEST_CASE("sums of rows and columns: the order of their additions") {
  for (const KernelTable<float>* table : all_tables()) {
    CAPTURE(std::string(table->isa));
    for (int64_t n : {1, 63, 64, 130, 4097, 9000, 40000}) {
      CAPTURE(n);
      const std::vector<int64_t> probes = probes_of(n, 0, n <= 130 ? 130 : 30);
      std::vector<float> x = numbers(n), y(1);
      check_order("sum_rows", probes, [&](const std::vector<float>& values) {
        place(probes, values, x);
        table->sum_rows(1, n, x.data(), y.data());
        return y[0];
      }, by_lanes(n));
    }
    for (int64_t leaf : {0, 1, 7, 1500}) {
      CAPTURE(leaf);
      const int64_t rows = 5000, columns = 70;
      const std::vector<int64_t> probes = probes_of(rows, leaf, 24);
      std::vector<float> x = numbers(rows * columns), y(columns);
      check_order("sum_columns", probes, [&](const std::vector<float>& values) {
        for (int64_t c = 0; c < columns; ++c)
          for (size_t i = 0; i < probes.size(); ++i) x[static_cast<size_t>(probes[i] * columns + c)] = values[i];
        table->sum_columns(rows, columns, leaf, x.data(), y.data());
        return all_equal(y) ? y[0] : -1;
      }, by_rows(rows, leaf));
    }
  }
}

TEST_CASE("softmax and cross_entropy: the order of their sums") {
  for (const KernelTable<float>* table : all_tables()) {
    CAPTURE(std::string(table->isa));
    for (int64_t n : {5, 70, 8300}) {
      CAPTURE(n);
      const std::vector<int64_t> probes = probes_of(n - 1, 0, n <= 70 ? 69 : 10);  // the last element stays free
      const size_t last = static_cast<size_t>(n - 1);
      std::vector<float> x = numbers(n, kNone), y = numbers(n);
      check_order_of_exponentials("softmax", probes, [&](const std::vector<float>& values) {
        place(probes, values, x);
        table->softmax(1, n, x.data(), y.data());
        return *std::max_element(y.begin(), y.end());  // 1/Σ
      }, by_lanes(n));
      check_order_of_exponentials("log_softmax", probes, [&](const std::vector<float>& values) {
        place(probes, values, x);
        table->log_softmax(1, n, x.data(), y.data());
        return *std::max_element(y.begin(), y.end());  // -log Σ
      }, by_lanes(n));
      const std::vector<int64_t> labels = {0};
      float loss = 0, lse = 0;
      check_order_of_exponentials("cross_entropy", probes, [&](const std::vector<float>& values) {
        place(probes, values, x);
        table->cross_entropy(1, n, x.data(), labels.data(), -100, nullptr, 0, &loss, &lse);
        return lse;
      }, by_lanes(n));

      // Sums with signs; the free element, 1 or 0 in the other operands, shows them.
      std::vector<float> dy = numbers(n), dx = numbers(n), ones = numbers(n, 1);
      check_order("softmax_backward", probes, [&](const std::vector<float>& values) {
        place(probes, values, dy);
        table->softmax_backward(1, n, ones.data(), dy.data(), dx.data());
        return -dx[last];
      }, by_lanes(n));
      const std::vector<float> zeros = numbers(n);
      check_order("log_softmax_backward", probes, [&](const std::vector<float>& values) {
        place(probes, values, dy);
        table->log_softmax_backward(1, n, zeros.data(), dy.data(), dx.data());
        return -dx[last];
      }, by_lanes(n));

      // With smoothing 1 the loss is Σ w·(log Σ - (x - max)) / V. All but the free logit lie 128 below it: each term is 128·w.
      std::vector<float> low = numbers(n, -128), weights = numbers(n);
      low[last] = 0;
      const std::vector<int64_t> own = {n - 1};
      check_order("cross_entropy with smoothing", probes, [&](const std::vector<float>& values) {
        place(probes, values, weights);
        table->cross_entropy(1, n, low.data(), own.data(), -100, weights.data(), 1, &loss, &lse);
        return std::round(loss * static_cast<float>(n) / 128);
      }, by_lanes(n));
      // Its gradient there is exp(x - lse)·Σw/V.
      const float one = 1, zero = 0;
      check_order("cross_entropy_backward", probes, [&](const std::vector<float>& values) {
        place(probes, values, weights);
        table->cross_entropy_backward(1, n, zeros.data(), own.data(), -100, weights.data(), 1, &zero, &one, dx.data());
        return std::round(dx[last] * static_cast<float>(n));
      }, by_lanes(n));
    }
  }
}

TEST_CASE("norms: the order of their sums") {
  for (const KernelTable<float>* table : all_tables()) {
    CAPTURE(std::string(table->isa));
    for (int64_t n : {5, 100, 8300}) {
      CAPTURE(n);
      const std::vector<int64_t> probes = probes_of(n - 1, 0, n <= 100 ? 99 : 24);
      const size_t last = static_cast<size_t>(n - 1);
      const float count = static_cast<float>(n), one = 1, zero = 0;
      std::vector<float> x = numbers(n), y = numbers(n), dy = numbers(n), dx = numbers(n), ones = numbers(n, 1), zeros = numbers(n);
      float mean = 0, rstd = 0;
      check_order("layer_norm: mean", probes, [&](const std::vector<float>& values) {
        place(probes, values, x);
        table->layer_norm(1, n, 1e-5f, x.data(), nullptr, nullptr, y.data(), &mean, &rstd);
        return std::round(mean * count);
      }, by_lanes(n));
      // h is 0: dx = dy - Σdy/n.
      check_order("layer_norm_backward: sum of dy", probes, [&](const std::vector<float>& values) {
        place(probes, values, dy);
        table->layer_norm_backward(1, n, 0, zeros.data(), nullptr, &zero, &one, dy.data(), dx.data(), nullptr, nullptr);
        return std::round(-dx[last] * count);
      }, by_lanes(n));
      // h is 1 and nothing is subtracted: dx = dy - Σ(dy·h)/n.
      check_order("layer_norm_backward: sum of dy·h", probes, [&](const std::vector<float>& values) {
        place(probes, values, dy);
        table->layer_norm_backward(1, n, 0, ones.data(), nullptr, nullptr, &one, dy.data(), dx.data(), nullptr, nullptr);
        return std::round(-dx[last] * count);
      }, by_lanes(n));
    }
    // A square of about 2n, where the root and the division keep the last place of the sum; see how `rstd` moves below.
    const int64_t n = 128;
    const std::vector<int64_t> probes = probes_of(n, 0, 40);
    std::vector<float> x = numbers(n), y = numbers(n);
    float rstd = 0;
    const Sum of_squares = [&](const std::vector<float>& values) {
      place(probes, values, x);
      table->layer_norm(1, n, 0, x.data(), nullptr, nullptr, y.data(), nullptr, &rstd);
      return rstd;
    };
    Sizes sizes{.large = 16, .small = 0, .none = 0};
    const auto shows = [&] {  // whether the sum's last place moves rstd
      const float square = sizes.large * sizes.large, next = std::nextafter(square, 1e9f);
      sizes.small = std::sqrt(0.45f * (next - square));
      return 1 / std::sqrt(square / n) != 1 / std::sqrt(next / n);
    };
    while (!shows()) sizes.large = std::nextafter(sizes.large, 20.0f);
    check("layer_norm: squares", probes, revealed_of_positive(probes.size(), of_squares, sizes), by_lanes(n));
    for (int64_t leaf : {0, 3, 1100}) {
      const int64_t rows = 2300, C = 20;
      const std::vector<int64_t> down = probes_of(rows, leaf, 20);
      std::vector<float> ones = numbers(rows * C, 1), dy = numbers(rows * C), dw = numbers(C), db = numbers(C), mean = numbers(rows), scale = numbers(rows, 1);
      for (std::vector<float>* out : {&dw, &db}) {
        check_order("layer_norm_backward: weights", down, [&](const std::vector<float>& values) {
          for (int64_t c = 0; c < C; ++c)
            for (size_t i = 0; i < down.size(); ++i) dy[static_cast<size_t>(down[i] * C + c)] = values[i];
          table->layer_norm_backward(rows, C, leaf, ones.data(), nullptr, mean.data(), scale.data(), dy.data(), nullptr, dw.data(), db.data());
          return all_equal(*out) ? (*out)[0] : -1;
        }, by_rows(rows, leaf));
      }
    }
  }
}

TEST_CASE("batch_norm and group_norm: the order of their sums") {
  for (const RareKernels<float>* kernels : all_rare_kernels()) {
    CAPTURE(std::string(kernels->isa));
    struct Case {
      int64_t N, S, leaf;
    };
    for (const Case& k : {Case{40, 1, 4}, Case{6, 70, 2}, Case{5, 5000, 0}, Case{1030, 3, 0}}) {
      CAPTURE(k.N);
      const int64_t C = 2, size = k.N * C * k.S;
      // Term n·S + s of a channel.
      const std::vector<int64_t> probes = probes_of(k.N * k.S, k.S * std::max<int64_t>(k.leaf, 1), 30);
      const auto order = [&](const auto& term) {
        return spec_column_sum<Terms>(k.N, k.leaf, [&](const Terms& sum, int64_t n) { return sum + spec_lane_sum(k.S, [&](int64_t s) { return term(n * k.S + s); }); });
      };
      const auto fill = [&](const std::vector<float>& values, std::vector<float>& data) {
        for (size_t i = 0; i < probes.size(); ++i)
          for (int64_t c = 0; c < C; ++c) data[static_cast<size_t>((probes[i] / k.S * C + c) * k.S + probes[i] % k.S)] = values[i];
      };
      const float count = static_cast<float>(k.N * k.S);
      std::vector<float> x = numbers(size), y = numbers(size), mean = numbers(C), var = numbers(C), dy = numbers(size), dw = numbers(C), db = numbers(C);
      rote::BatchNorm<float> norm{.N = k.N, .C = C, .S = k.S, .leaf = k.leaf, .eps = 0, .training = true, .x = x.data(), .mean = mean.data(), .var = var.data(), .y = y.data()};
      check_order("batch_norm: mean", probes, [&](const std::vector<float>& values) {
        fill(values, x);
        kernels->batch_norm(norm);
        return all_equal(mean) ? std::round(mean[0] * count) : -1;
      }, order);
      // From here on h is 1.
      std::fill(x.begin(), x.end(), 1.0f), std::fill(mean.begin(), mean.end(), 0.0f), std::fill(var.begin(), var.end(), 1.0f);
      std::vector<float> group_mean = numbers(k.N), ones = numbers(k.N, 1);
      const rote::GroupNorm<float> group{.N = k.N, .C = C, .S = k.S, .groups = 1, .eps = 0, .x = x.data(), .y = y.data(), .mean = group_mean.data(), .rstd = ones.data()};
      for (bool by_group : {false, true}) {
        for (std::vector<float>* out : {&dw, &db}) {
          check_order(by_group ? "group_norm_backward" : "batch_norm_backward", probes, [&](const std::vector<float>& values) {
            fill(values, dy);
            if (by_group) kernels->group_norm_backward({.forward = group, .leaf = k.leaf, .dy = dy.data(), .dw = dw.data(), .db = db.data()});
            else kernels->batch_norm_backward({.forward = norm, .dy = dy.data(), .dw = dw.data(), .db = db.data()});
            return all_equal(*out) ? (*out)[0] : -1;
          }, order);
        }
      }
    }

    // A group's channels: its mean is one sum along them, its gradient a sum over the channels of the sums of each.
    const int64_t C = 70, S = 80, n = C * S;
    const std::vector<int64_t> probes = probes_of(n - 1, S, 30);
    std::vector<float> x = numbers(n), y = numbers(n), dy = numbers(n), dx = numbers(n);
    float mean = 0, rstd = 1;
    const rote::GroupNorm<float> group{.N = 1, .C = C, .S = S, .groups = 1, .eps = 1e-5f, .x = x.data(), .y = y.data(), .mean = &mean, .rstd = &rstd};
    check_order("group_norm: mean", probes, [&](const std::vector<float>& values) {
      place(probes, values, x);
      kernels->group_norm(group);
      return std::round(mean * static_cast<float>(n));
    }, by_lanes(n));
    mean = 0, rstd = 1;
    std::fill(x.begin(), x.end(), 0.0f);
    check_order("group_norm_backward: input", probes, [&](const std::vector<float>& values) {
      place(probes, values, dy);
      kernels->group_norm_backward({.forward = group, .leaf = 0, .dy = dy.data(), .dx = dx.data()});
      return std::round(-dx[static_cast<size_t>(n - 1)] * static_cast<float>(n));
    }, [&](const auto& term) { return spec_lane_sum(C, [&](int64_t c) { return spec_lane_sum(S, [&](int64_t s) { return term(c * S + s); }); }); });
  }
}

TEST_CASE("embedding_backward: the order of its sums is a chain in each leaf, then the tree over all of them") {
  for (const KernelTable<float>* table : all_tables()) {
    CAPTURE(std::string(table->isa));
    for (int64_t leaf : {0, 1, 5, 64}) {
      CAPTURE(leaf);
      // Of 3000 rows every seventh and a run of 40 have the id 2; C is no whole number of vectors.
      const int64_t n = 3000, C = 70;
      std::vector<int64_t> ids(n), probes;
      for (int64_t i = 0; i < n; ++i) {
        ids[static_cast<size_t>(i)] = i % 7 == 0 || (i > 1000 && i < 1040) ? 2 : i % 2;
        if (ids[static_cast<size_t>(i)] == 2 && (i < 100 || (i > 1000 && i < 1020) || i > 2950)) probes.push_back(i);
      }
      std::vector<float> dy = numbers(n * C), table_grad = numbers(3 * C);
      check_order("embedding_backward", probes, [&](const std::vector<float>& values) {
        for (size_t i = 0; i < probes.size(); ++i) std::fill_n(dy.begin() + probes[i] * C, C, values[i]);
        table->embedding_backward(n, C, 3, leaf, -1, ids.data(), dy.data(), table_grad.data());
        return all_equal({table_grad.begin() + 2 * C, table_grad.end()}) ? table_grad[static_cast<size_t>(2 * C)] : -1;
      }, [&](const auto& term) {
        std::vector<Terms> leaves;
        const int64_t length = leaf == 0 ? n : leaf;
        for (int64_t first = 0; first < n; first += length) {
          Terms sum;
          for (int64_t i = first; i < std::min(first + length, n); ++i)
            if (ids[static_cast<size_t>(i)] == 2) sum += term(i);
          leaves.push_back(sum);
        }
        return spec_tree(leaves, 0, leaves.size());
      });
    }
  }
}

TEST_CASE("square_blocks: the order of a block's sum") {
  for (const KernelTable<float>* table : all_tables()) {
    CAPTURE(std::string(table->isa));
    for (int64_t n : {70, 4096}) {
      const std::vector<int64_t> probes = probes_of(n, 0, n <= 70 ? 70 : 16);
      std::vector<float> x = numbers(n);
      double block = 0;
      // (1.375·2^-27)² is 0.95 of half a unit in the last place of 1 in f64.
      check("square_blocks", probes, revealed_of_positive(probes.size(), [&](const std::vector<float>& values) {
        place(probes, values, x);
        table->square_blocks(n, x.data(), &block);
        return block;
      }, {.large = 1, .small = 1.375f * 0x1p-27f, .none = 0}), by_lanes(n));
    }
  }
}

// As a kernel would be that another compiler, library or cut of its work had reordered.
TEST_CASE("summation: a sum in another order is told from the specified one") {
  const int64_t n = 130;
  const std::vector<int64_t> probes = probes_of(n, 0, 130);
  const auto told = [&](const auto& wrong, const auto& order) {
    const Sum sum = [&](const std::vector<float>& values) { return wrong(values); };
    return difference(probes, revealed(probes.size(), sum), specified(probes, order)).has_value();
  };
  using Values = std::vector<float>;
  const auto lanes = [](size_t count, bool neighbours) {
    return [=](const Values& x) {
      Values lane(count, 0.0f);
      for (size_t i = 0; i < x.size(); ++i) lane[i % count] += x[i];
      for (size_t half = count / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; ++l) lane[l] = neighbours ? lane[2 * l] + lane[2 * l + 1] : lane[l] + lane[l + half];
      return lane[0];
    };
  };
  CHECK_FALSE(told(lanes(64, false), by_lanes(n)));
  CHECK(told(lanes(64, true), by_lanes(n)));  // lanes fold with their neighbours
  CHECK(told(lanes(32, false), by_lanes(n)));
  const auto chain = [](const Values& x) {
    float sum = 0;
    for (float v : x) sum += v;
    return sum;
  };
  CHECK_FALSE(told(chain, as_chain(n)));
  CHECK(told(chain, by_lanes(n)));
  CHECK_FALSE(told(chain, by_rows(n, 0)));
  CHECK(told(chain, by_rows(n, 32)));
  CHECK(told([&](const Values& x) { return chain({x.rbegin(), x.rend()}); }, by_rows(n, 0)));
  // A block of K is added to what was there, where its chain should have gone on from it.
  CHECK(told([&](const Values& x) { return chain({x.begin(), x.begin() + 64}) + chain({x.begin() + 64, x.end()}); }, by_rows(n, 0)));
  // Five leaves of 32, one after the other instead of by the tree.
  CHECK(told([&](const Values& x) {
    float sum = 0;
    for (size_t i = 0; i < x.size(); i += 32) sum += chain({x.begin() + static_cast<int64_t>(i), x.begin() + static_cast<int64_t>(std::min(i + 32, x.size()))});
    return sum;
  }, by_rows(n, 32)));
  // The same trees told apart without signs.
  const auto told_of_positive = [&](const auto& wrong) {
    const std::vector<int64_t> few = probes_of(n, 0, 20);
    const Sum sum = [&](const Values& values) {
      Values x = numbers(n);
      place(few, values, x);
      return wrong(x);
    };
    return difference(few, revealed_of_positive(few.size(), sum, {.large = 1, .small = 0x1.cp-25f, .none = 0}), specified(few, by_lanes(n))).has_value();
  };
  CHECK_FALSE(told_of_positive(lanes(64, false)));
  CHECK(told_of_positive(lanes(64, true)));
  CHECK(told_of_positive(lanes(32, false)));
  CHECK(told_of_positive(chain));
}
