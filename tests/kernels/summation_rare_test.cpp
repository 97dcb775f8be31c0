// tests/kernels/summation_rare_test.cpp — the order of the sums of attention, convolutions, windows and taps, as masking inputs reveal it (summation.h).
#include "tests/kernels/summation.h"

using namespace rote::testing;

namespace {

// One head of one sample: contiguous rows.
struct Head {
  Head(int64_t T, int64_t S, int64_t D, int64_t E)
      : q(numbers(T * D)), k(numbers(S * D)), v(numbers(S * E)), bias(numbers(T * S)), o(numbers(T * E)), max(numbers(T)), sum(numbers(T)), dout(numbers(T * E)),
        dq(numbers(T * D)), dk(numbers(S * D)), dv(numbers(S * E)), dscores(numbers(T * S)) {
    a.B = a.H = 1, a.T = T, a.S = S, a.D = D, a.E = E, a.scale = 1;
    a.q = q.data(), a.k = k.data(), a.v = v.data(), a.o = o.data(), a.max = max.data(), a.sum = sum.data(), a.bias = bias.data(), a.bias_t = S, a.bias_s = 1;
    a.q_at.t = a.k_at.t = D, a.v_at.t = a.o_at.t = E;
  }
  // With max 0 and sum 1 for every query: where q is 0 too, all probabilities are 1.
  void backward(const RareKernels<float>& kernels) {
    std::fill(sum.begin(), sum.end(), 1.0f);
    const rote::Strides3 wide{.t = a.D}, value_wide{.t = a.E};
    rote::AttentionGrad<float> grad{a, dout.data(), value_wide, dq.data(), dk.data(), dv.data(), wide, wide, value_wide, dscores.data()};
    kernels.attention_backward(grad);
  }

  std::vector<float> q, k, v, bias, o, max, sum, dout, dq, dk, dv, dscores;
  rote::Attention<float> a;
};

// Element 0 of each row, the rows alike.
double first_of_rows(const std::vector<float>& x, int64_t row) {
  for (size_t i = 0; i < x.size(); i += static_cast<size_t>(row))
    if (x[i] != x[0]) return -1;
  return x[0];
}

rote::Conv<float> whole(rote::Conv<float> c) {
  for (int a = 0; a < 3; ++a) c.out[a] = (c.in[a] + 2 * c.pad[a] - (c.kernel[a] - 1) * c.dilation[a] - 1) / c.stride[a] + 1;
  return c;
}

int64_t volume(const int64_t (&e)[3]) { return e[0] * e[1] * e[2]; }

}  // namespace

TEST_CASE("attention: the order of its sums") {
  for (const RareKernels<float>* kernels : all_rare_kernels()) {
    CAPTURE(std::string(kernels->isa));
    for (int64_t width : {3, 64, 100}) {
      // One key: the largest score is its own, q·k.
      Head head(5, 1, width, 1);
      std::fill(head.q.begin(), head.q.end(), 1.0f);
      const std::vector<int64_t> probes = probes_of(width, 0, 100);
      check_order("attention: scores", probes, [&](const std::vector<float>& values) {
        place(probes, values, head.k);
        kernels->attention(head.a);
        return all_equal(head.max) ? head.max[0] : -1;
      }, as_chain(width));
    }
    for (int64_t S : {20, 64, 150}) {
      CAPTURE(S);
      const auto by_tiles = [S](const auto& term) {
        Terms sum;
        for (int64_t tile = 0; tile < S; tile += 64) sum += spec_lane_sum(std::min<int64_t>(S - tile, 64), [&](int64_t s) { return term(tile + s); });
        return sum;
      };
      Head head(1, S, 1, 5);
      const std::vector<int64_t> some = probes_of(S, 0, 30), probes = probes_of(S, 0, 150);
      std::fill(head.bias.begin(), head.bias.end(), kNone);
      check_order_of_exponentials("attention: probabilities", some, [&](const std::vector<float>& values) {
        place(some, values, head.bias);
        kernels->attention(head.a);
        return head.sum[0];
      }, by_tiles);
      std::fill(head.bias.begin(), head.bias.end(), 0.0f);
      check_order("attention: values", probes, [&](const std::vector<float>& values) {
        for (size_t i = 0; i < probes.size(); ++i) std::fill_n(head.v.begin() + probes[i] * 5, 5, values[i]);
        kernels->attention(head.a);
        return all_equal(head.o) ? std::round(head.o[0] * static_cast<float>(S)) : -1;
      }, as_chain(S));
    }
  }
}

TEST_CASE("attention_backward: the order of its sums") {
  for (const RareKernels<float>* kernels : all_rare_kernels()) {
    CAPTURE(std::string(kernels->isa));
    for (int64_t n : {20, 150}) {
      CAPTURE(n);
      const std::vector<int64_t> probes = probes_of(n, 0, 60);
      Head queries(n, 3, 1, 1);  // dO·v is dO
      std::fill(queries.v.begin(), queries.v.end(), 1.0f);
      for (std::vector<float>* out : {&queries.dv, &queries.dk}) {
        // dk sums ds·q, and q must be 0 for equal probabilities: they become 1 again by the bias.
        if (out == &queries.dk) {
          std::fill(queries.q.begin(), queries.q.end(), 1.0f);
          std::fill(queries.k.begin(), queries.k.end(), 3.0f), std::fill(queries.bias.begin(), queries.bias.end(), -3.0f);
        }
        check_order(out == &queries.dv ? "attention_backward: dv" : "attention_backward: dk", probes, [&](const std::vector<float>& values) {
          place(probes, values, queries.dout);
          queries.backward(*kernels);
          return all_equal(*out) ? (*out)[0] : -1;
        }, as_chain(n));
      }
      Head keys(3, n, 1, 1);
      std::fill(keys.dout.begin(), keys.dout.end(), 1.0f), std::fill(keys.k.begin(), keys.k.end(), 1.0f);
      check_order("attention_backward: dq", probes, [&](const std::vector<float>& values) {
        place(probes, values, keys.v);
        keys.backward(*kernels);
        return all_equal(keys.dq) ? keys.dq[0] : -1;
      }, as_chain(n));
      // ds = p·(dO·v - delta), delta the sum of dO·o.
      Head values_head(2, 2, 1, n);
      const auto gradient_of_score = [&](std::vector<float>& operand, double sign) {
        std::fill(operand.begin(), operand.end(), 1.0f);
        return [&, sign](const std::vector<float>& values) {
          for (int64_t t = 0; t < 2; ++t)
            for (size_t i = 0; i < probes.size(); ++i) values_head.dout[static_cast<size_t>(t * n + probes[i])] = values[i];
          values_head.backward(*kernels);
          return sign * (all_equal(values_head.dscores) ? values_head.dscores[0] : -1);
        };
      };
      check_order("attention_backward: dO·v", probes, gradient_of_score(values_head.v, 1), as_chain(n));
      std::fill(values_head.v.begin(), values_head.v.end(), 0.0f);
      check_order("attention_backward: delta", probes, gradient_of_score(values_head.o, -1), by_lanes(n));
    }
  }
}

TEST_CASE("conv: the order of its sums is that of a product, with the bias last") {
  for (const RareKernels<float>* kernels : all_rare_kernels()) {
    CAPTURE(std::string(kernels->isa));
    // By columns within and across samples, in place (one position), and direct.
    for (const rote::Conv<float>& shape : {rote::Conv<float>{.N = 2, .C = 300, .O = 3, .in = {1, 3, 5}, .kernel = {1, 2, 2}}, rote::Conv<float>{.N = 1, .C = 8, .O = 20, .in = {1, 9, 10}, .kernel = {1, 2, 2}},
                                         rote::Conv<float>{.N = 2, .C = 40, .O = 3, .in = {1, 8, 9}}, rote::Conv<float>{.N = 1, .C = 6, .O = 3, .in = {1, 4, 40}, .kernel = {1, 3, 3}}}) {
      rote::Conv<float> c = whole(shape);
      const int64_t K = c.C * volume(c.kernel);
      CAPTURE(K);
      std::vector<int64_t> probes = probes_of(K, 0, 24);
      probes.push_back(K);
      std::vector<float> x = numbers(c.N * c.C * volume(c.in), 1), w = numbers(c.O * K), bias = numbers(c.O), y = numbers(c.N * c.O * volume(c.out));
      c.x = x.data(), c.w = w.data(), c.bias = bias.data(), c.to = y.data();
      check_order("conv", probes, [&](const std::vector<float>& values) {
        for (int64_t o = 0; o < c.O; ++o) {
          for (size_t i = 0; i + 1 < probes.size(); ++i) w[static_cast<size_t>(o * K + probes[i])] = values[i];
          bias[static_cast<size_t>(o)] = values.back();
        }
        kernels->conv(c);
        return all_equal(y) ? y[0] : -1;
      }, [&](const auto& term) { return by_rows(K, 0)(term) + term(K); });
    }
  }
}

TEST_CASE("conv_input: the order of its sums is products, one after the other by position, with the bias last") {
  for (const RareKernels<float>* kernels : all_rare_kernels()) {
    CAPTURE(std::string(kernels->isa));
    for (const rote::Conv<float>& shape : {rote::Conv<float>{.N = 1, .C = 3, .O = 1100, .in = {1, 1, 7}, .kernel = {1, 1, 3}}, rote::Conv<float>{.N = 2, .C = 5, .O = 20, .in = {1, 5, 9}, .kernel = {1, 3, 3}}}) {
      rote::Conv<float> c = whole(shape);
      const int64_t Q = volume(c.kernel), middle = (c.in[1] - 1) / 2 * c.in[2] + c.in[2] / 2;  // which every position reaches
      CAPTURE(c.O);
      // Term o·Q + q.
      std::vector<int64_t> probes = probes_of(c.O * Q, Q, 30);
      probes.push_back(c.O * Q);
      std::vector<float> x = numbers(c.N * c.C * volume(c.in)), w = numbers(c.O * c.C * Q), bias = numbers(c.C), y = numbers(c.N * c.O * volume(c.out), 1);
      c.y = y.data(), c.w = w.data(), c.bias = bias.data(), c.to = x.data();
      check_order("conv_input", probes, [&](const std::vector<float>& values) {
        for (int64_t channel = 0; channel < c.C; ++channel)
          for (size_t i = 0; i + 1 < probes.size(); ++i) w[static_cast<size_t>((probes[i] / Q * c.C + channel) * Q + probes[i] % Q)] = values[i];
        std::fill(bias.begin(), bias.end(), values.back());
        kernels->conv_input(c);
        return first_of_rows({x.begin() + middle, x.end()}, volume(c.in));
      }, [&](const auto& term) {
        Terms sum;
        for (int64_t q = 0; q < Q; ++q) sum += by_rows(c.O, 0)([&](int64_t o) { return term(o * Q + q); });
        return sum + term(c.O * Q);
      });
    }
  }
}

TEST_CASE("conv_weight: the order of its sums goes down samples and positions by leaves") {
  for (const RareKernels<float>* kernels : all_rare_kernels()) {
    CAPTURE(std::string(kernels->isa));
    struct Case {
      int64_t N, width, leaf_samples;
    };
    for (const Case& k : {Case{9, 12, 1}, Case{3, 2600, 1}, Case{3, 1700, 0}, Case{40, 40, 4}}) {
      rote::Conv<float> c = whole({.N = k.N, .C = 2, .O = 3, .in = {1, 1, k.width}, .kernel = {1, 1, 3}});
      const int64_t P = volume(c.out), rows = k.N * P;
      CAPTURE(rows);
      c.leaf = k.leaf_samples * P;
      const std::vector<int64_t> probes = probes_of(rows, c.leaf, 24);
      std::vector<float> x = numbers(c.N * c.C * volume(c.in), 1), y = numbers(rows * c.O), w = numbers(c.O * c.C * 3);
      c.x = x.data(), c.y = y.data(), c.to = w.data();
      check_order("conv_weight", probes, [&](const std::vector<float>& values) {
        for (int64_t o = 0; o < c.O; ++o)
          for (size_t i = 0; i < probes.size(); ++i) y[static_cast<size_t>((probes[i] / P * c.O + o) * P + probes[i] % P)] = values[i];
        kernels->conv_weight(c);
        return all_equal(w) ? w[0] : -1;
      }, by_rows(rows, c.leaf));
    }
  }
}

TEST_CASE("fold and taps: the order of their sums is ascending") {
  for (const RareKernels<float>* kernels : all_rare_kernels()) {
    CAPTURE(std::string(kernels->isa));
    rote::Conv<float> c = whole({.N = 1, .C = 2, .in = {1, 5, 9}, .kernel = {1, 3, 3}});
    const int64_t Q = volume(c.kernel), P = volume(c.out), middle = 2 * 9 + 4;
    const std::vector<int64_t> positions = probes_of(Q);
    std::vector<float> columns = numbers(c.C * Q * P), x = numbers(c.C * volume(c.in));
    c.y = columns.data(), c.to = x.data();
    check_order("fold", positions, [&](const std::vector<float>& values) {
      for (int64_t i = 0; i < c.C * Q; ++i) std::fill_n(columns.begin() + i * P, P, values[static_cast<size_t>(i % Q)]);
      kernels->fold(c);
      return first_of_rows({x.begin() + middle, x.end()}, volume(c.in));
    }, as_chain(Q));

    for (int64_t inner : {1, 20}) {
      const int64_t in = 50, out = 18;
      const std::vector<int64_t> taps = probes_of(in, 0, 50);
      std::vector<int64_t> begin, index;
      for (int64_t j = 0; j <= out; ++j) begin.push_back(j * in);
      for (int64_t j = 0; j < out * in; ++j) index.push_back(j % in);
      const std::vector<float> weights = numbers(out * in, 1);
      std::vector<float> from = numbers(in * inner), to = numbers(out * inner);
      check_order("taps", taps, [&](const std::vector<float>& values) {
        for (size_t i = 0; i < values.size(); ++i) std::fill_n(from.begin() + taps[i] * inner, inner, values[i]);
        kernels->taps({.outer = 1, .in = in, .out = out, .inner = inner, .begin = begin.data(), .index = index.data(), .weight = weights.data(), .divisor = nullptr, .x = from.data(), .y = to.data()});
        return all_equal(to) ? to[0] : -1;
      }, as_chain(in));
    }
  }
}
