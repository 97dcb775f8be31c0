// tests/reference/ac1.cpp — a second opinion on contract AC-1: the golden job in plain scalar C++, written from docs/arithmetic.md and docs/reproducibility.md, without
// a line of Rote. `ac1 [STEPS]` prints the links, a line each (default 50). No vectors, no threads, no batches: each sample is computed alone and unpadded, and the
// gradients of the twelve fold by the tree law. Numbers in comments are sections of docs/arithmetic.md. g++ -std=c++20 -O2 -ffp-contract=off
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using std::fma;
constexpr int kVocab = 128, kPositions = 32, kWidth = 64, kHeads = 4, kLayers = 2, kInner = 4 * kWidth, kRowsOfUpdate = 12;
constexpr uint64_t kSeed = 42;
constexpr double kDropout = 0.1, kEpsilon = 1e-5;

// ---- SHA-256 (FIPS 180-4)

constexpr std::array<uint32_t, 8> kShaStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::array<uint32_t, 64> kShaRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::string sha256(std::string bytes) {
  const uint64_t bits = bytes.size() * 8;
  bytes += '\x80';
  while (bytes.size() % 64 != 56) bytes += '\0';
  for (int i = 56; i >= 0; i -= 8) bytes += static_cast<char>(bits >> i);
  std::array<uint32_t, 8> h = kShaStart;
  for (size_t at = 0; at < bytes.size(); at += 64) {
    uint32_t w[64];
    for (size_t i = 0; i < 16; ++i) {
      w[i] = 0;
      for (size_t b = 0; b < 4; ++b) w[i] = w[i] << 8 | static_cast<unsigned char>(bytes[at + 4 * i + b]);
    }
    for (int i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] + (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    std::array<uint32_t, 8> s = h;
    for (int i = 0; i < 64; ++i) {
      const uint32_t a = s[0], e = s[4];
      const uint32_t t = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + kShaRound[static_cast<size_t>(i)] + w[i];
      const uint32_t u = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
      s = {t + u, a, s[1], s[2], s[3] + t, e, s[5], s[6]};
    }
    for (size_t i = 0; i < 8; ++i) h[i] += s[i];
  }
  std::string text;
  for (const uint32_t word : h)
    for (int i = 28; i >= 0; i -= 4) text += "0123456789abcdef"[word >> i & 15];
  return text;
}

// ---- 3: sums

// The tree law: a split at the largest power of two below n.
template <class Value, class Add>
Value tree(const Value* leaves, size_t n, const Add& add) {
  if (n == 1) return leaves[0];
  const size_t left = std::bit_floor(n - 1);
  return add(tree(leaves, left, add), tree(leaves + left, n - left, add));
}

// One leaf of up to 4096 terms: 64 lanes, folded by halves.
template <class Real, class Term>
Real lanes(int n, const Term& term) {
  Real lane[64] = {};
  for (int i = 0; i < n; ++i) lane[i % 64] += term(i);
  for (int h = 32; h > 0; h /= 2)
    for (int i = 0; i < h; ++i) lane[i] += lane[i + h];
  return lane[0];
}

// Σ along a row; no row of this job is longer than a leaf.
template <class Term>
float row_sum(int n, const Term& term) { return lanes<float>(n, term) + 0.0f; }

// ---- 4: elementary functions in f32

template <class Real, size_t N>
Real horner(Real x, const std::array<Real, N>& c, bool fused) {
  Real y = c[N - 1];
  for (size_t i = N - 1; i-- > 0;) y = fused ? fma(x, y, c[i]) : c[i] + x * y;
  return y;
}

// e^x = (1 + y)·2^k.
std::pair<float, int> exp_parts(float x) {
  const float k = std::nearbyint(x * 0x1.715476p+0f);
  const float r = fma(k, 0x1.05c61p-29f, fma(k, -0x1.62e43p-1f, x));
  constexpr std::array c = {0x1p-1f, 0x1.555552p-3f, 0x1.5554e4p-5f, 0x1.1115bcp-7f, 0x1.6d517ep-10f, 0x1.9a8894p-13f};
  return {fma(r * r, horner(r, c, true), r), static_cast<int>(k)};
}

float exp_f32(float x) {
  const auto [y, k] = exp_parts(std::clamp(x, -104.0f, 89.0f));
  return std::ldexp(1 + y, k);
}

float log_f32(float x) {  // of a positive normal number
  const int32_t bits = std::bit_cast<int32_t>(x), n = (bits - 0x3F3504F3) >> 23;
  const float k = static_cast<float>(n), f = std::bit_cast<float>(bits - (n << 23)) - 1, s = f * f;
  constexpr std::array c = {0x1.555546p-2f, -0x1.00000ap-2f, 0x1.99a546p-3f, -0x1.555ae4p-3f, 0x1.232cfap-3f, -0x1.fc4da0p-4f, 0x1.e7a54ep-4f, -0x1.dd6510p-4f, 0x1.11c874p-4f};
  const float low = fma(k, 0x1.7f7d1cp-20f, fma(f * s, horner(f, c, true), -0.5f * s));
  const float lead = k * 0x1.62e4p-1f, high = lead + f, rest = f - (high - lead);
  return high + (rest + low);
}

float tanh_f32(float x) {
  const float a = std::fabs(x), s = x * x;
  constexpr std::array c = {-0x1.555554p-2f, 0x1.11107cp-3f, -0x1.b9f21ap-5f, 0x1.63ac98p-6f, -0x1.0c85f2p-7f, 0x1.1abf18p-9f};
  if (a < 0.625f) return std::copysign(fma(a * s, horner(s, c, true), a), x);
  const auto [y, k] = exp_parts(2 * std::min(a, 10.0f));
  const float power = std::ldexp(1.0f, k);
  return std::copysign(1 - 2 / (fma(y, power, power) + 1), x);
}

// ---- 6: elementary functions in fp64

double log_f64(double x) {
  int exponent;
  double m = std::frexp(x, &exponent);  // in [1/2, 1)
  if (m < std::sqrt(0.5)) m *= 2, --exponent;
  const double k = exponent, f = m - 1, s = f / (2 + f), z = s * s, h = f * f / 2;
  std::array<double, 11> c;
  for (int i = 0; i < 11; ++i) c[static_cast<size_t>(i)] = 2.0 / (2 * i + 3);
  return k * 0x1.62e42fefa3800p-1 - ((h - (s * (h + z * horner(z, c, false)) + k * 0x1.ef35793c76730p-45)) - f);
}

// Wichura's AS 241.
double normal_quantile(double p) {
  constexpr std::array A = {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
                            4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr std::array B = {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
                            2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3};
  constexpr std::array C = {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
                            1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr std::array D = {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                            1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9};
  constexpr std::array E = {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
                            2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr std::array F = {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                            7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * horner(r, A, false) / horner(r, B, false);
  }
  const double r = std::sqrt(-log_f64(std::min(p, 1 - p)));
  const double x = r <= 5 ? horner(r - 1.6, C, false) / horner(r - 1.6, D, false) : horner(r - 5, E, false) / horner(r - 5, F, false);
  return std::copysign(x, q);
}

// ---- 7: random numbers

using Words = std::array<uint32_t, 4>;

// Philox4x32-10 under the job's seed: word i mod 4 of block i/4 is word i of a sample's draw.
Words philox(uint64_t block, uint64_t sample, uint32_t op) {
  uint32_t k0 = static_cast<uint32_t>(kSeed), k1 = static_cast<uint32_t>(kSeed >> 32);
  Words c = {static_cast<uint32_t>(block), static_cast<uint32_t>(sample), op, static_cast<uint32_t>(sample >> 32)};
  for (int i = 0; i < 10; ++i, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const uint64_t a = uint64_t{0xD2511F53u} * c[0], b = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b), static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
  }
  return c;
}

// The op id of the first draw of a purpose under a path.
uint32_t op_id(const std::string& purpose, const std::string& path) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char byte : purpose + '\0' + path + '\0' + "0" + '\0') hash = (hash ^ byte) * 0x100000001b3u;
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

// What element `e` of a sample is multiplied by: 0 where it is dropped.
struct Dropout {
  uint32_t op;
  uint64_t sample;
  float operator()(uint64_t e, float x) const {
    const uint32_t below = static_cast<uint32_t>(std::nearbyint(kDropout * 65536));
    const uint32_t word = philox(e / 8, sample, op)[e % 8 / 2];
    if ((e % 2 == 0 ? word & 0xFFFF : word >> 16) < below) return 0;
    return x * static_cast<float>(1 / (1 - below / 65536.0));
  }
};

// ---- Tensors of one sample, and the parameters

struct Matrix {
  int rows = 0, cols = 0;
  std::vector<float> data;
  Matrix() = default;
  Matrix(int r, int c) : rows(r), cols(c), data(static_cast<size_t>(r) * static_cast<size_t>(c), 0.0f) {}
  float* operator[](int r) { return &data[static_cast<size_t>(r) * static_cast<size_t>(cols)]; }
  const float* operator[](int r) const { return &data[static_cast<size_t>(r) * static_cast<size_t>(cols)]; }
};

Matrix operator+(Matrix a, const Matrix& b) {
  for (size_t i = 0; i < a.data.size(); ++i) a.data[i] += b.data[i];
  return a;
}

// A matrix, or with `vector` one row that counts as a vector. Gradients of one sample are matrices by name.
struct Parameter {
  std::string name;
  bool vector;
  Matrix value, m, v;
};
using Gradients = std::map<std::string, Matrix>;

struct Model {
  std::vector<Parameter> all;  // in the order of registration
  const Matrix& operator[](const std::string& name) const {
    return std::find_if(all.begin(), all.end(), [&](const Parameter& p) { return p.name == name; })->value;
  }
};

const std::string kTokens = "transformer.wte.weight", kPlaces = "transformer.wpe.weight", kHeadUse = "lm_head";
std::string block_name(int layer) { return "transformer.h." + std::to_string(layer) + "."; }

// Normal with this deviation: sample 0, op id of (init, name).
void add_normal(Model& model, const std::string& name, int rows, int cols, double deviation) {
  Matrix x(rows, cols);
  const uint32_t op = op_id("init", name);
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] = static_cast<float>(normal_quantile((philox(i / 4, 0, op)[i % 4] + 0.5) * 0x1p-32)) * static_cast<float>(deviation);
  model.all.push_back({name, false, x, Matrix(rows, cols), Matrix(rows, cols)});
}

void add_vector(Model& model, const std::string& name, int n, float start) {
  Matrix x(1, n);
  std::fill(x.data.begin(), x.data.end(), start);
  model.all.push_back({name, true, x, Matrix(1, n), Matrix(1, n)});
}

Model make_model() {
  Model model;
  const auto norm = [&](const std::string& name) { add_vector(model, name + ".weight", kWidth, 1), add_vector(model, name + ".bias", kWidth, 0); };
  const auto linear = [&](const std::string& name, int I, int O, double deviation) {
    add_normal(model, name + ".weight", I, O, deviation), add_vector(model, name + ".bias", O, 0);
  };
  add_normal(model, kTokens, kVocab, kWidth, 0.02);
  add_normal(model, kPlaces, kPositions, kWidth, 0.02);
  for (int i = 0; i < kLayers; ++i) {
    const std::string h = block_name(i);
    const double into_residual = 0.02 / std::sqrt(2.0 * kLayers);
    norm(h + "ln_1");
    linear(h + "attn.c_attn", kWidth, 3 * kWidth, 0.02), linear(h + "attn.c_proj", kWidth, kWidth, into_residual);
    norm(h + "ln_2");
    linear(h + "mlp.c_fc", kWidth, kInner, 0.02), linear(h + "mlp.c_proj", kInner, kWidth, into_residual);
  }
  norm("transformer.ln_f");
  return model;
}

// The hash of the weights (docs/reproducibility.md).
std::string hash_of(const Model& model) {
  std::map<std::string, std::string> sorted;
  for (const Parameter& p : model.all) {
    std::string bytes = p.name + '\0' + "F32" + '\0' + (p.vector ? "" : std::to_string(p.value.rows) + ",") + std::to_string(p.value.cols) + '\0';
    for (const float x : p.value.data)
      for (int i = 0; i < 32; i += 8) bytes += static_cast<char>(std::bit_cast<uint32_t>(x) >> i);
    sorted[p.name] = bytes;
  }
  std::string text;
  for (const auto& [name, bytes] : sorted) text += bytes;
  return sha256(text);
}

// ---- 2: products. C = A·B, one chain of fma an output; no K of this job is longer than a piece.

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.cols; ++k)
      for (int j = 0; j < b.cols; ++j) c[i][j] = fma(a[i][k], b[k][j], c[i][j]);
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix t(a.cols, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.cols; ++j) t[j][i] = a[i][j];
  return t;
}

Matrix columns(const Matrix& a, int first, int count) {
  Matrix part(a.rows, count);
  for (int i = 0; i < a.rows; ++i) std::copy_n(a[i] + first, count, part[i]);
  return part;
}

// y = x·W + b.
Matrix linear(const Model& model, const std::string& name, const Matrix& x) {
  const Matrix& bias = model[name + ".bias"];
  Matrix y = product(x, model[name + ".weight"]);
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y[i][j] += bias[0][j];
  return y;
}

// Its gradients: those of weight and bias are one chain down the sample's rows (3).
Matrix linear_backward(const Model& model, const std::string& name, const Matrix& x, const Matrix& dy, Gradients& out) {
  Matrix db(1, dy.cols);
  for (int i = 0; i < dy.rows; ++i)
    for (int j = 0; j < dy.cols; ++j) db[0][j] += dy[i][j];
  out[name + ".weight"] = product(transposed(x), dy);
  out[name + ".bias"] = db;
  return product(dy, transposed(model[name + ".weight"]));
}

// ---- 5: kernels of rows

struct Norm {
  Matrix h, y;
  std::vector<float> rstd;
};

Norm layer_norm(const Model& model, const std::string& name, const Matrix& x) {
  const Matrix &w = model[name + ".weight"], &b = model[name + ".bias"];
  const float n = static_cast<float>(x.cols);
  Norm out{Matrix(x.rows, x.cols), Matrix(x.rows, x.cols), {}};
  for (int r = 0; r < x.rows; ++r) {
    const float* row = x[r];
    float mean = row_sum(x.cols, [&](int i) { return row[i]; }) / n;
    const auto variance = [&] { return row_sum(x.cols, [&](int i) { return (row[i] - mean) * (row[i] - mean); }) / n; };
    float var = variance();
    if (const float close = mean * 0x1p-16f; var <= close * close) {
      mean = std::clamp(mean, *std::min_element(row, row + x.cols), *std::max_element(row, row + x.cols));
      var = variance();
    }
    out.rstd.push_back(1 / std::sqrt(var + static_cast<float>(kEpsilon)));
    for (int i = 0; i < x.cols; ++i) out.h[r][i] = (row[i] - mean) * out.rstd.back(), out.y[r][i] = fma(out.h[r][i], w[0][i], b[0][i]);
  }
  return out;
}

Matrix layer_norm_backward(const Model& model, const std::string& name, const Norm& norm, const Matrix& dy, Gradients& out) {
  const Matrix& w = model[name + ".weight"];
  const int C = dy.cols;
  const float n = static_cast<float>(C);
  Matrix dx(dy.rows, C), dw(1, C), db(1, C);
  for (int r = 0; r < dy.rows; ++r) {
    const float* h = norm.h[r];
    const auto g = [&](int i) { return dy[r][i] * w[0][i]; };
    const float gh = row_sum(C, [&](int i) { return g(i) * h[i]; }) / n, mean = row_sum(C, g) / n;
    for (int i = 0; i < C; ++i) {
      dx[r][i] = norm.rstd[static_cast<size_t>(r)] * fma(-h[i], gh, g(i) - mean);
      dw[0][i] = fma(dy[r][i], h[i], dw[0][i]);
      db[0][i] += dy[r][i];
    }
  }
  out[name + ".weight"] = dw;
  out[name + ".bias"] = db;
  return dx;
}

float gelu_inner(float x) { return 0.79788456080286535588f * fma(0.044715f * x, x * x, x); }

Matrix gelu(Matrix x) {
  for (float& v : x.data) v = (v * 0.5f) * (1 + tanh_f32(gelu_inner(v)));
  return x;
}

Matrix gelu_backward(const Matrix& x, Matrix dy) {
  for (size_t i = 0; i < dy.data.size(); ++i) {
    const float v = x.data[i], t = tanh_f32(gelu_inner(v)), slope = 0.79788456080286535588f * fma(0.134145f * v, v, 1.0f);
    dy.data[i] = dy.data[i] * (0.5f * (1 + t) + (v * 0.5f) * (1 - t * t) * slope);
  }
  return dy;
}

Matrix dropout(const Dropout& drop, Matrix x) {
  for (size_t e = 0; e < x.data.size(); ++e) x.data[e] = drop(e, x.data[e]);
  return x;
}

// d(loss)/d(logits) of Σ losses / N: row t is scored against token t + 1, the last row not at all.
Matrix cross_entropy_backward(const Matrix& logits, const std::vector<int>& tokens, float dloss) {
  Matrix d(logits.rows, logits.cols);
  for (int t = 0; t + 1 < logits.rows; ++t) {
    const float* x = logits[t];
    const float m = *std::max_element(x, x + logits.cols), lse = m + log_f32(row_sum(logits.cols, [&](int c) { return exp_f32(x[c] - m); }));
    for (int c = 0; c < logits.cols; ++c) d[t][c] = dloss * fma(exp_f32(x[c] - lse), 1.0f, c == tokens[static_cast<size_t>(t) + 1] ? -1.0f : -0.0f);
  }
  return d;
}

// ---- 5: attention of one head. Rows are shorter than a key tile, so there is one tile, whose origin is key 0.

struct Head {
  Matrix q, k, v, s, o;  // s: the scaled scores
  std::vector<float> m, l;
  Dropout drop;
  float dropped(int t, int key, float x) const { return drop(static_cast<uint64_t>(t) * 65536 + static_cast<uint64_t>(key), x); }
};

constexpr float kScale = 0.25f;  // 1/sqrt(16)

Head attend(const Matrix& q, const Matrix& k, const Matrix& v, const Dropout& drop) {
  const int T = q.rows;
  Head head{q, k, v, product(q, transposed(k)), Matrix(T, v.cols), {}, {}, drop};
  for (int t = 0; t < T; ++t) {
    for (int s = 0; s < T; ++s) head.s[t][s] = s <= t ? kScale * head.s[t][s] : -std::numeric_limits<float>::infinity();
    const float* score = head.s[t];
    const float m = *std::max_element(score, score + T), l = row_sum(T, [&](int s) { return exp_f32(score[s] - m); });
    for (int s = 0; s < T; ++s) {
      const float p = head.dropped(t, s, exp_f32(score[s] - m));
      for (int e = 0; e < v.cols; ++e) head.o[t][e] = fma(p, v[s][e], head.o[t][e]);
    }
    for (int e = 0; e < v.cols; ++e) head.o[t][e] = head.o[t][e] / l + 0.0f;
    head.m.push_back(m), head.l.push_back(l);
  }
  return head;
}

struct HeadGradients {
  Matrix dq, dk, dv;
};

HeadGradients attend_backward(const Head& head, const Matrix& d_o) {
  const int T = head.q.rows, E = head.v.cols;
  const Matrix dp = product(d_o, transposed(head.v));
  Matrix ds(T, T), p(T, T);
  for (int t = 0; t < T; ++t) {
    const float delta = row_sum(E, [&](int e) { return d_o[t][e] * head.o[t][e]; });
    for (int s = 0; s < T; ++s) {
      const float soft = exp_f32(head.s[t][s] - head.m[static_cast<size_t>(t)]) / head.l[static_cast<size_t>(t)];
      p[t][s] = head.dropped(t, s, soft);
      ds[t][s] = soft * (head.dropped(t, s, dp[t][s]) - delta);
    }
  }
  HeadGradients out{product(ds, head.k), product(transposed(ds), head.q), product(transposed(p), d_o)};
  for (float& x : out.dq.data) x = kScale * x + 0.0f;
  for (float& x : out.dk.data) x = kScale * x + 0.0f;
  return out;
}

// ---- GPT-2 over one sample: forward, and back to the gradients of its weights

struct Block {
  Norm before_attention, before_inner;
  std::vector<Head> heads;
  Matrix context, inner, active;
};

Dropout dropout_at(const std::string& path, uint64_t sample) { return {op_id("dropout", path), sample}; }

Matrix block_forward(const Model& model, const std::string& h, uint64_t sample, const Matrix& x, Block& block) {
  block.before_attention = layer_norm(model, h + "ln_1", x);
  const Matrix all = linear(model, h + "attn.c_attn", block.before_attention.y);
  constexpr int D = kWidth / kHeads;
  block.context = Matrix(x.rows, kWidth);
  for (int i = 0; i < kHeads; ++i) {
    Dropout drop = dropout_at(h + "attn", sample);
    drop.op += 0x9E3779B9u * static_cast<uint32_t>(i);
    block.heads.push_back(attend(columns(all, i * D, D), columns(all, kWidth + i * D, D), columns(all, 2 * kWidth + i * D, D), drop));
    for (int t = 0; t < x.rows; ++t) std::copy_n(block.heads.back().o[t], D, block.context[t] + i * D);
  }
  const Matrix hidden = dropout(dropout_at(h + "attn.resid_dropout", sample), linear(model, h + "attn.c_proj", block.context)) + x;
  block.before_inner = layer_norm(model, h + "ln_2", hidden);
  block.inner = linear(model, h + "mlp.c_fc", block.before_inner.y);
  block.active = gelu(block.inner);
  return hidden + dropout(dropout_at(h + "mlp.dropout", sample), linear(model, h + "mlp.c_proj", block.active));
}

Matrix block_backward(const Model& model, const std::string& h, uint64_t sample, const Block& block, const Matrix& dy, Gradients& out) {
  const Matrix d_active = linear_backward(model, h + "mlp.c_proj", block.active, dropout(dropout_at(h + "mlp.dropout", sample), dy), out);
  const Matrix d_inner = linear_backward(model, h + "mlp.c_fc", block.before_inner.y, gelu_backward(block.inner, d_active), out);
  const Matrix d_hidden = dy + layer_norm_backward(model, h + "ln_2", block.before_inner, d_inner, out);
  const Matrix d_context = linear_backward(model, h + "attn.c_proj", block.context, dropout(dropout_at(h + "attn.resid_dropout", sample), d_hidden), out);
  constexpr int D = kWidth / kHeads;
  Matrix d_all(dy.rows, 3 * kWidth);
  for (int i = 0; i < kHeads; ++i) {
    const HeadGradients d = attend_backward(block.heads[static_cast<size_t>(i)], columns(d_context, i * D, D));
    for (int t = 0; t < dy.rows; ++t) {
      std::copy_n(d.dq[t], D, d_all[t] + i * D);
      std::copy_n(d.dk[t], D, d_all[t] + kWidth + i * D);
      std::copy_n(d.dv[t], D, d_all[t] + 2 * kWidth + i * D);
    }
  }
  return d_hidden + layer_norm_backward(model, h + "ln_1", block.before_attention, linear_backward(model, h + "attn.c_attn", block.before_attention.y, d_all, out), out);
}

// The gradients of one sample: one leaf of each sum over samples. kTokens and kHeadUse are the two uses of the tied weight.
Gradients sample_gradients(const Model& model, uint64_t sample, const std::vector<int>& tokens, int targets) {
  const int T = static_cast<int>(tokens.size());
  const Dropout drop = dropout_at("transformer.drop", sample);
  Matrix x(T, kWidth);
  for (int t = 0; t < T; ++t)
    for (int c = 0; c < kWidth; ++c) x[t][c] = model[kTokens][tokens[static_cast<size_t>(t)]][c] + model[kPlaces][t][c];
  x = dropout(drop, x);
  std::vector<Block> blocks(kLayers);
  for (int i = 0; i < kLayers; ++i) x = block_forward(model, block_name(i), sample, x, blocks[static_cast<size_t>(i)]);
  const Norm last = layer_norm(model, "transformer.ln_f", x);
  const Matrix logits = product(last.y, transposed(model[kTokens]));

  Gradients out;
  const Matrix d_logits = cross_entropy_backward(logits, tokens, 1 / static_cast<float>(targets));
  out[kHeadUse] = product(transposed(d_logits), last.y);
  Matrix dx = layer_norm_backward(model, "transformer.ln_f", last, product(d_logits, model[kTokens]), out);
  for (int i = kLayers; i-- > 0;) dx = block_backward(model, block_name(i), sample, blocks[static_cast<size_t>(i)], dx, out);
  dx = dropout(drop, dx);
  out[kTokens] = Matrix(kVocab, kWidth), out[kPlaces] = Matrix(kPositions, kWidth);
  for (int t = 0; t < T; ++t)
    for (int c = 0; c < kWidth; ++c) out[kTokens][tokens[static_cast<size_t>(t)]][c] += dx[t][c], out[kPlaces][t][c] = dx[t][c];
  return out;
}

// ---- The job (docs/reproducibility.md)

std::vector<int> tokens_of(uint64_t row) {
  uint64_t x = row + 1;
  const auto draw = [&x] { return x = x * 6364136223846793005u + 1442695040888963407u, x >> 33; };
  std::vector<int> tokens(4 + draw() % 29);
  tokens[0] = static_cast<int>(draw() % 128);
  for (size_t i = 1; i < tokens.size(); ++i) tokens[i] = (3 * tokens[i - 1] + 1 + static_cast<int>(draw() % 2)) % 128;
  return tokens;
}

// The 2-norm of all gradients (3): exact squares in fp64, the tree over the blocks of all parameters in their order.
double norm_of(const Model& model, const Gradients& gradients) {
  std::vector<double> blocks;
  for (const Parameter& p : model.all) {
    const std::vector<float>& g = gradients.at(p.name).data;
    for (size_t first = 0; first < g.size(); first += 4096)
      blocks.push_back(lanes<double>(static_cast<int>(std::min<size_t>(4096, g.size() - first)), [&](int i) {
        const double x = g[first + static_cast<size_t>(i)];
        return x * x;
      }));
  }
  return std::sqrt(tree(blocks.data(), blocks.size(), [](double a, double b) { return a + b; }));
}

double power(double base, int exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? 0.0f : x; }

// AdamW (8): the scalars in fp64, each rounded once.
void update(Parameter& p, const Matrix& gradient, double clip, double lr, int step) {
  constexpr double b1 = 0.9, b2 = 0.999, decay = 0.01;
  const float factor = static_cast<float>(clip), kept = static_cast<float>(1 - lr * decay), eps = 1e-8f;
  const float f1 = static_cast<float>(b1), f2 = static_cast<float>(b2), new1 = static_cast<float>(1 - b1), new2 = static_cast<float>(1 - b2);
  const float root = static_cast<float>(1 / std::sqrt(1 - power(b2, step))), rate = static_cast<float>(lr / (1 - power(b1, step)));
  for (size_t i = 0; i < gradient.data.size(); ++i) {
    const float g = gradient.data[i] * factor, m = fma(f1, p.m.data[i], new1 * g), v = fma(f2, p.v.data[i], new2 * g * g);
    p.value.data[i] = fma(-rate, m / fma(std::sqrt(v), root, eps), p.value.data[i] * kept);
    p.m.data[i] = flushed(m), p.v.data[i] = flushed(v);
  }
}

double rate_of(int step) { return 3e-3 * (step < 5 ? step / 5.0 : (50 - step) / 45.0); }

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 50;
  Model model = make_model();
  std::string link;
  for (int step = 0; step < steps; ++step) {
    const uint64_t first = static_cast<uint64_t>(step) * kRowsOfUpdate;
    int targets = 0;
    for (uint64_t row = first; row < first + kRowsOfUpdate; ++row) targets += static_cast<int>(tokens_of(row).size()) - 1;
    std::vector<Gradients> leaves;
    for (uint64_t row = first; row < first + kRowsOfUpdate; ++row) leaves.push_back(sample_gradients(model, row, tokens_of(row), targets));
    Gradients sum = tree(leaves.data(), leaves.size(), [](Gradients a, const Gradients& b) {
      for (auto& [name, x] : a) x = x + b.at(name);
      return a;
    });
    sum[kTokens] = sum[kTokens] + sum[kHeadUse];
    const double clip = std::min(1.0, 1.0 / (norm_of(model, sum) + 1e-6));
    for (Parameter& p : model.all) update(p, sum[p.name], clip, rate_of(step), step + 1);
    link = sha256(link + hash_of(model));
    std::printf("%s\n", link.c_str());
    std::fflush(stdout);
  }
}
