// tests/kernel_hashes.h — what the golden job is too small to reach: products of more than 1024 terms, sums of more than 4096, a second key tile, left
// padding, kernels that no GPT-2 calls. Small fixed inputs, one SHA-256 of the results each, the same on each instruction set, compiler and machine.
#pragma once

#include <string>
#include <vector>

#include "tensor/hash.h"
#include "tests/function_hashes.h"

namespace rote::testing {

// The kernels of one instruction set.
struct Kernels {
  const KernelTable<float>& table;
  const RareKernels<float>& rare;
};

class Digest {
 public:
  void add(std::vector<float> results) {
    for (float& x : results)
      if (std::isnan(x)) x = std::bit_cast<float>(0x7FC00000u);
    sha_.add(results.data(), results.size() * sizeof(float));
  }
  std::string hex() { return sha_.hex(); }

 private:
  Sha256 sha_;
};

using Floats = std::vector<float>;

struct Product {
  int64_t M, N, K, leaf;
};
inline void hash_product(const Kernels& kernels, const Product& p, Digest& digest) {
  const Floats a = random_values(p.M * p.K, 1, 2), b = random_values(p.K * p.N, 2), bias = random_values(p.N, 3, 4);
  Floats c(static_cast<size_t>(p.M * p.N));
  kernels.table.gemm({.M = p.M, .N = p.N, .K = p.K, .a = a.data(), .a_row = p.K, .a_col = 1, .b = b.data(), .b_row = p.N, .b_col = 1, .c = c.data(), .c_row = p.N,
                      .bias = bias.data(), .leaf = p.leaf});
  digest.add(c);
}

// Queries t and keys s of 2 samples with 2 heads; the first `padded` keys of sample 1 are masked.
struct Attending {
  int64_t T, S, D, padded;
  bool causal;
  uint32_t threshold;
};
inline void hash_attention(const Kernels& kernels, const Attending& p, Digest& digest) {
  const int64_t B = 2, H = 2, rows = B * H * p.T, keys = B * H * p.S;
  const Floats q = random_values(rows * p.D, 4, 2), k = random_values(keys * p.D, 5, 2), v = random_values(keys * p.D, 6), bias = random_values(H * p.T * p.S, 7), dout = random_values(rows * p.D, 8);
  Floats o(q.size()), max(static_cast<size_t>(rows)), sum(max.size()), dq(q.size()), dk(k.size()), dv(v.size());
  std::vector<uint8_t> mask(static_cast<size_t>(B * p.S), 1);
  std::fill_n(mask.begin() + p.S, p.padded, 0);
  const Strides3 query{H * p.T * p.D, p.T * p.D, p.D}, key{H * p.S * p.D, p.S * p.D, p.D};
  Attention<float> a;
  a.B = B, a.H = H, a.T = p.T, a.S = p.S, a.D = a.E = p.D, a.causal = p.causal, a.scale = 0.25f;
  a.q = q.data(), a.k = k.data(), a.v = v.data(), a.o = o.data(), a.max = max.data(), a.sum = sum.data();
  a.q_at = a.o_at = query, a.k_at = a.v_at = key;
  a.mask = mask.data(), a.mask_b = p.S, a.mask_s = 1;
  a.bias = bias.data(), a.bias_h = p.T * p.S, a.bias_t = p.S, a.bias_s = 1;
  a.dropout = {.seed = 7, .first_sample = 5, .op = 3, .threshold = p.threshold, .scale = 65536.0f / static_cast<float>(65536 - p.threshold)};
  kernels.rare.attention(a);
  kernels.rare.attention_backward({a, dout.data(), query, dq.data(), dk.data(), dv.data(), query, key, key, nullptr});
  for (const Floats* x : {&o, &max, &sum, &dq, &dk, &dv}) digest.add(*x);
}

inline void hash_rows(const Kernels& kernels, int64_t rows, int64_t n, Digest& digest) {
  const KernelTable<float>& t = kernels.table;
  const Floats x = random_values(rows * n, 9, 3), dy = random_values(rows * n, 10), w = random_values(n, 11), b = random_values(n, 12);
  Floats y(x.size()), dx(x.size()), mean(static_cast<size_t>(rows)), rstd(mean.size()), dw(w.size()), db(w.size()), loss(mean.size()), lse(mean.size());
  std::vector<int64_t> labels;
  for (int64_t r = 0; r < rows; ++r) labels.push_back(r * 97 % n);
  t.sum_rows(rows, n, x.data(), mean.data()), digest.add(mean);
  t.max_rows(rows, n, x.data(), mean.data()), digest.add(mean);
  t.softmax(rows, n, x.data(), y.data()), digest.add(y);
  t.softmax_backward(rows, n, y.data(), dy.data(), dx.data()), digest.add(dx);
  t.log_softmax(rows, n, x.data(), y.data()), digest.add(y);
  t.log_softmax_backward(rows, n, y.data(), dy.data(), dx.data()), digest.add(dx);
  t.layer_norm(rows, n, 1e-5f, x.data(), w.data(), b.data(), y.data(), mean.data(), rstd.data()), digest.add(y), digest.add(mean), digest.add(rstd);
  t.layer_norm_backward(rows, n, 2, x.data(), w.data(), mean.data(), rstd.data(), dy.data(), dx.data(), dw.data(), db.data()), digest.add(dx), digest.add(dw), digest.add(db);
  t.cross_entropy(rows, n, x.data(), labels.data(), -100, w.data(), 0.1f, loss.data(), lse.data()), digest.add(loss), digest.add(lse);
  t.cross_entropy_backward(rows, n, x.data(), labels.data(), -100, w.data(), 0.1f, lse.data(), loss.data(), dx.data()), digest.add(dx);
}

inline void hash_columns(const Kernels& kernels, int64_t rows, int64_t leaf, Digest& digest) {
  const int64_t C = 21, V = 5;
  const Floats x = random_values(rows * C, 13, 3);
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < rows; ++i) ids.push_back(i * i % V);
  Floats y(C), table(V * C);
  kernels.table.sum_columns(rows, C, leaf, x.data(), y.data()), digest.add(y);
  kernels.table.embedding_backward(rows, C, V, leaf, 1, ids.data(), x.data(), table.data()), digest.add(table);
}

inline void hash_squares(const Kernels& kernels, Digest& digest) {
  const Floats x = random_values(9000, 14, 1e-3f);
  std::vector<double> blocks(3);
  kernels.table.square_blocks(9000, x.data(), blocks.data());
  Floats halves;
  for (const double block : blocks) halves.push_back(static_cast<float>(block)), halves.push_back(static_cast<float>(block - halves.back()));
  digest.add(halves);
}

inline void hash_draws(const Kernels& kernels, Digest& digest) {
  const Floats x = random_values(5000, 15);
  Floats y(x.size());
  kernels.table.uniform(42, 7, 3, 5000, y.data()), digest.add(y);
  kernels.table.normal(42, 8, 3, 5000, y.data()), digest.add(y);
  kernels.table.dropout({.seed = 42, .first_sample = 5, .op = 9, .threshold = 6554, .scale = 1.25f}, 5, 1000, x.data(), y.data()), digest.add(y);
}

inline void hash_convolution(const Kernels& kernels, Conv<float> c, Digest& digest) {
  int64_t in = 1, out = 1, window = 1;
  for (int a = 0; a < 3; ++a) {
    c.out[a] = (c.in[a] + 2 * c.pad[a] - (c.kernel[a] - 1) * c.dilation[a] - 1) / c.stride[a] + 1;
    in *= c.in[a], out *= c.out[a], window *= c.kernel[a];
  }
  const Floats x = random_values(c.N * c.C * in, 16), w = random_values(c.O * c.C / c.groups * window, 17), dy = random_values(c.N * c.O * out, 18), bias = random_values(c.C + c.O, 19);
  Floats y(dy.size()), dx(x.size()), dw(w.size()), columns(static_cast<size_t>(c.N * c.C * window * out)), folded(x.size());
  const auto call = [&](Floats& to, const float* source) {
    Conv<float> call = c;
    call.x = x.data(), call.w = w.data(), call.y = source, call.to = to.data(), call.bias = bias.data(), call.leaf = out;
    return call;
  };
  kernels.rare.conv(call(y, nullptr)), kernels.rare.conv_input(call(dx, dy.data())), kernels.rare.conv_weight(call(dw, dy.data()));
  kernels.rare.unfold(call(columns, nullptr)), kernels.rare.fold(call(folded, columns.data()));
  for (const Floats* result : {&y, &dx, &dw, &columns, &folded}) digest.add(*result);
}

inline void hash_channels(const Kernels& kernels, int64_t N, int64_t S, Digest& digest) {
  const int64_t C = 6;
  const Floats x = random_values(N * C * S, 20, 2), dy = random_values(N * C * S, 21), w = random_values(C, 22), b = random_values(C, 23);
  Floats y(x.size()), dx(x.size()), mean(static_cast<size_t>(std::max(C, N * 2))), scale(mean.size()), dw(C), db(C);
  const BatchNorm<float> batch{.N = N, .C = C, .S = S, .leaf = 2, .eps = 1e-5f, .training = true, .x = x.data(), .w = w.data(), .b = b.data(), .mean = mean.data(), .var = scale.data(), .y = y.data()};
  kernels.rare.batch_norm(batch), digest.add(y), digest.add(mean), digest.add(scale);
  kernels.rare.batch_norm_backward({batch, dy.data(), dx.data(), dw.data(), db.data()}), digest.add(dx), digest.add(dw), digest.add(db);
  const GroupNorm<float> group{.N = N, .C = C, .S = S, .groups = 2, .eps = 1e-5f, .x = x.data(), .w = w.data(), .b = b.data(), .y = y.data(), .mean = mean.data(), .rstd = scale.data()};
  kernels.rare.group_norm(group), digest.add(y), digest.add(mean), digest.add(scale);
  kernels.rare.group_norm_backward({group, 2, dy.data(), dx.data(), dw.data(), db.data()}), digest.add(dx), digest.add(dw), digest.add(db);
}

inline void hash_ctc(const Kernels& kernels, Digest& digest) {
  const int64_t T = 30, N = 3, V = 9, L = 7;
  const Floats x = random_values(T * N * V, 24, 2), dloss = random_values(N, 25);
  const std::vector<int64_t> labels = {1, 2, 2, 3, 4, 5, 5, 8, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1}, inputs = {30, 25, 28}, targets = {7, 5, 6};
  Floats alpha(static_cast<size_t>(N * T * ctc_width(L))), loss(N), dx(x.size());
  const Ctc<float> forward{.T = T, .N = N, .V = V, .L = L, .blank = 0, .log_probs = x.data(), .labels = labels.data(), .input_lengths = inputs.data(), .target_lengths = targets.data(), .alpha = alpha.data(), .loss = loss.data()};
  kernels.rare.ctc(forward), digest.add(loss);
  kernels.rare.ctc_backward({.forward = forward, .dloss = dloss.data(), .of_scores = false, .dlog_probs = dx.data()}), digest.add(dx);
}

// Every 65521st number through each elementary function; the others of them: function_hashes.h.
inline void hash_functions(const Kernels& kernels, Digest& digest) {
  constexpr uint64_t kStride = 65521, kCount = (uint64_t{1} << 32) / kStride;
  Floats x(kCount), second(kCount), y(kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    const uint32_t bits = static_cast<uint32_t>(i * kStride);
    x[i] = std::bit_cast<float>(bits), second[i] = second_input(bits);
  }
  for (const ElementaryFunction& function : kElementaryFunctions) {
    vector_function(kernels.table.isa, function.name)->apply(kCount, x.data(), second.data(), nullptr, y.data());
    digest.add(y);
  }
}

struct KernelGolden {
  const char* name;
  const char* hash;
  void (*run)(const Kernels&, Digest&);
};

inline const KernelGolden kKernelGoldens[] = {
    {"gemm, K 2100", "93e7892ec18d90d5e918028028b5e84753924822dec8e992c769c04bd2ffff24",
     [](const Kernels& k, Digest& d) { hash_product(k, {5, 37, 2100, 0}, d); }},
    {"gemm, one row", "30e9c42c19b8a56c3cc5e7e7f1752feb975532814c512f6843349492a2932b96",
     [](const Kernels& k, Digest& d) { hash_product(k, {1, 50, 1500, 0}, d); }},
    {"gemm, leaves of 1500", "03a9f0e36718b2fe50f5af050e7332c439987adb52806042dbf0d8ee626556c2",
     [](const Kernels& k, Digest& d) { hash_product(k, {7, 33, 4600, 1500}, d); }},
    {"gemm, many rows", "fc83dd5127c471a7bf76095c3deaa439b4eede4481af1b24a1c4f6d36f584d36",
     [](const Kernels& k, Digest& d) { hash_product(k, {61, 35, 1100, 64}, d); }},
    {"rows of 9000", "a16a85023f2ba9c21825a1ddbd15b89a39368c3aa8f3a821e2b5738fedf45ba4",
     [](const Kernels& k, Digest& d) { hash_rows(k, 3, 9000, d); }},
    {"a row of 40000", "e27ae95e172e6e828323ad2011118e51e773991aee7d1b649fcbec34d46269d4",
     [](const Kernels& k, Digest& d) { hash_rows(k, 1, 40000, d); }},
    {"columns, one leaf", "f77fdb067e4c388d2a4d63bca63dd523ea4fea9ea8206a3b7524500d8f29c8b3",
     [](const Kernels& k, Digest& d) { hash_columns(k, 5000, 0, d); }},
    {"columns, leaves of 7", "feda910d02e6c40142215794701ac00d804237cafc166ae30305764f704bb075",
     [](const Kernels& k, Digest& d) { hash_columns(k, 5000, 7, d); }},
    {"squares", "a5731a885748d2f4a13c9dbe38a83a476e7faaeef7eaf6b3f1f7f88f10cdc793",
     [](const Kernels& k, Digest& d) { hash_squares(k, d); }},
    {"random numbers", "7db4c8244e82438586574f023b5c0b196382bab633c5cb4b9e1d6774fb1c95c3",
     [](const Kernels& k, Digest& d) { hash_draws(k, d); }},
    {"attention, three key tiles", "e25c43e0bee2adf58a0d46bdc4cc0f88723560e90f4601e03c94cdf565a03dd0",
     [](const Kernels& k, Digest& d) { hash_attention(k, {70, 150, 20, 0, false, 0}, d); }},
    {"attention, left padding", "45a19f314c8441f264844e0725e3fcea153b387047d41dab30d33814b41f59d8",
     [](const Kernels& k, Digest& d) { hash_attention(k, {100, 100, 16, 37, true, 6554}, d); }},
    {"conv, K 1200", "aa64ea9bcbc3f6de9803900c58452bdc843a192e8928a9501067f62b4ca1caf1",
     [](const Kernels& k, Digest& d) { hash_convolution(k, {.N = 2, .C = 300, .O = 3, .in = {1, 3, 5}, .kernel = {1, 2, 2}}, d); }},
    {"conv, strided", "8108120dc3d9ac870733a185a435d525fd1d7d4d41d4d9473433f4b9baf3d7ab",
     [](const Kernels& k, Digest& d) { hash_convolution(k, {.N = 2, .C = 4, .O = 20, .groups = 2, .in = {1, 9, 11}, .kernel = {1, 3, 3}, .stride = {1, 2, 1}, .pad = {0, 1, 2}, .dilation = {1, 1, 2}}, d); }},
    {"conv, long", "5d8cc13e020979473743788eb0f03d7cb5aa6b95c664d783035f50f6aebc9e13",
     [](const Kernels& k, Digest& d) { hash_convolution(k, {.N = 2, .C = 3, .O = 3, .groups = 3, .in = {1, 1, 2600}, .kernel = {1, 1, 3}}, d); }},
    {"norms of channels", "59d61b6fb7454d0ddea3eb80c95160d735da231b6298dad930a6b7f89b3491fd",
     [](const Kernels& k, Digest& d) { hash_channels(k, 5, 4200, d); }},
    {"norms of channels, many samples", "b15c32a774542d02d8063fa0a4bdeceffd65fe2c6fb08cf954f1757f21b2f2af",
     [](const Kernels& k, Digest& d) { hash_channels(k, 1100, 1, d); }},
    {"elementary functions", "41dc0d6878ca2a9278057249b85a6b7f85cac7eea035f0ec6031f8c10cb0c15e",
     [](const Kernels& k, Digest& d) { hash_functions(k, d); }},
    {"ctc", "84f0d27240d59d80bbe13d6d860e54facc506f1fab8765f3998bf0ec490273fd",
     [](const Kernels& k, Digest& d) { hash_ctc(k, d); }},
};

// The goldens that an instruction set's kernels do not give, with what they give; none where all are as published.
inline std::vector<std::string> kernel_faults(const Kernels& kernels) {
  std::vector<std::string> faults;
  for (const KernelGolden& golden : kKernelGoldens) {
    Digest digest;
    golden.run(kernels, digest);
    const std::string found = digest.hex();
    if (found != golden.hash) faults.push_back(std::string(golden.name) + " gives " + found);
  }
  return faults;
}

inline std::vector<Kernels> all_kernels() {
  std::vector<Kernels> found;
  const std::vector<const KernelTable<float>*> tables = all_tables();
  const std::vector<const RareKernels<float>*> rare = all_rare_kernels();
  for (size_t i = 0; i < tables.size(); ++i) found.push_back({*tables[i], *rare[i]});
  return found;
}

}  // namespace rote::testing
