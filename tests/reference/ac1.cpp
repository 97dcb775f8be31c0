// tests/reference/ac1.cpp — a second opinion on contract AC-1: the golden job in plain scalar C++, written from docs/arithmetic.md and
// docs/reproducibility.md, without a line of Rote. `ac1 [f32|bf16|f16 [STEPS]]` prints the links, a line each (default f32 and 50). No vectors, no threads,
// no batches: each sample is computed alone and unpadded, and the gradients of the twelve fold by the tree law. Numbers in comments are sections of
// docs/arithmetic.md. g++ -std=c++20 -O2 -ffp-contract=off
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <set>
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
    uint32_t w[64] = {};
    for (size_t i = 0; i < 64; ++i) w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(bytes[at + i]);
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
  std::string text(64, ' ');
  for (size_t i = 0; i < 64; ++i) text[i] = "0123456789abcdef"[h[i / 8] >> (28 - i % 8 * 4) & 15];
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
float row_sum(int n, const auto& term) { return lanes<float>(n, term) + 0.0f; }

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
  constexpr std::array c = {0x1.555546p-2f,  -0x1.00000ap-2f, 0x1.99a546p-3f,  -0x1.555ae4p-3f, 0x1.232cfap-3f,
                            -0x1.fc4da0p-4f, 0x1.e7a54ep-4f,  -0x1.dd6510p-4f, 0x1.11c874p-4f};
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

// Philox4x32-10 under the job's seed: word i mod 4 of block i/4 is word i of a sample's draw.
std::array<uint32_t, 4> philox(uint64_t block, uint64_t sample, uint32_t op) {
  uint32_t k0 = static_cast<uint32_t>(kSeed), k1 = static_cast<uint32_t>(kSeed >> 32);
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(block), static_cast<uint32_t>(sample), op, static_cast<uint32_t>(sample >> 32)};
  for (int i = 0; i < 10; ++i, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const uint64_t a = uint64_t{0xD2511F53u} * c[0], b = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b), static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
  }
  return c;
}

// The op id of the first draw of a purpose under a path.
uint32_t op_id(const std::string& purpose, const std::string& path) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : purpose + '\0' + path + '\0' + "0" + '\0') hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

// x, or 0 where a dropout of this op drops element `e` of the sample.
float dropped(uint32_t op, uint64_t sample, uint64_t e, float x) {
  const uint32_t below = static_cast<uint32_t>(std::nearbyint(kDropout * 65536));
  const uint32_t word = philox(e / 8, sample, op)[e % 8 / 2];
  if ((e % 2 == 0 ? word & 0xFFFF : word >> 16) < below) return 0;
  return x * static_cast<float>(1 / (1 - below / 65536.0));
}

// ---- 9: sixteen bits

enum class Dtype { f32, bf16, f16 };

// To the nearest number of bf16 or f16, even in the middle; subnormal ones stay.
float narrow(float x, Dtype dtype) {
  if (dtype == Dtype::f32 || !std::isfinite(x) || x == 0) return x;
  const bool brain = dtype == Dtype::bf16;
  if (std::fabs(x) >= (brain ? std::bit_cast<float>(0x7F7F8000u) : 65520.0f)) return std::copysign(INFINITY, x);
  const int last_bit = std::max(std::ilogb(x), brain ? -126 : -14) - (brain ? 7 : 10);
  return std::ldexp(std::nearbyint(std::ldexp(x, -last_bit)), last_bit);
}

// ---- Matrices, and the parameters

struct Matrix {
  int rows, cols;
  std::vector<float> data;
  explicit Matrix(int r = 0, int c = 0, float value = 0) : rows(r), cols(c), data(static_cast<size_t>(r) * static_cast<size_t>(c), value) {}
  float* operator[](int r) { return &data[static_cast<size_t>(r) * static_cast<size_t>(cols)]; }
  const float* operator[](int r) const { return &data[static_cast<size_t>(r) * static_cast<size_t>(cols)]; }
};

// f of each element and its number.
Matrix each(Matrix x, const auto& f) {
  for (size_t i = 0; i < x.data.size(); ++i) x.data[i] = f(x.data[i], i);
  return x;
}

Matrix operator+(const Matrix& a, const Matrix& b) { return each(a, [&](float x, size_t i) { return x + b.data[i]; }); }

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

void put_columns(Matrix& a, int first, const Matrix& part) {
  for (int i = 0; i < a.rows; ++i) std::copy_n(part[i], part.cols, a[i] + first);
}

// A·B (2): one chain of fma an output; no K of this job is longer than a piece.
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.cols; ++k)
      for (int j = 0; j < b.cols; ++j) c[i][j] = fma(a[i][k], b[k][j], c[i][j]);
  return c;
}

// A matrix, or with `vector` one row that counts as a vector.
struct Parameter {
  std::string name;
  bool vector;
  Matrix value, m{value.rows, value.cols}, v{value.rows, value.cols};
};
using Gradients = std::map<std::string, Matrix>;  // by name

struct Model {
  Dtype dtype;                 // of autocast; f32: none
  std::vector<Parameter> all;  // in the order of registration
  const Matrix& operator[](const std::string& name) const { return std::ranges::find(all, name, &Parameter::name)->value; }
};

const std::string kTokens = "transformer.wte.weight", kPlaces = "transformer.wpe.weight", kHeadUse = "lm_head";
std::string block_name(int layer) { return "transformer.h." + std::to_string(layer) + "."; }

// Normal with this deviation: sample 0, op id of (init, name).
void add_normal(Model& model, const std::string& name, int rows, int cols, double deviation) {
  const auto draw = [op = op_id("init", name), deviation](float, size_t i) {
    return static_cast<float>(normal_quantile((philox(i / 4, 0, op)[i % 4] + 0.5) * 0x1p-32)) * static_cast<float>(deviation);
  };
  model.all.push_back({name, false, each(Matrix(rows, cols), draw)});
}

void add_vector(Model& model, const std::string& name, int n, float value) { model.all.push_back({name, true, Matrix(1, n, value)}); }

Model make_model(Dtype dtype) {
  Model model{dtype, {}};
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
  std::set<std::string> sorted;  // a zero ends each name, so this is the order of the names
  for (const Parameter& p : model.all) {
    std::string bytes = p.name + '\0' + "F32" + '\0' + (p.vector ? "" : std::to_string(p.value.rows) + ",") + std::to_string(p.value.cols) + '\0';
    for (const float x : p.value.data)
      for (int i = 0; i < 32; i += 8) bytes += static_cast<char>(std::bit_cast<uint32_t>(x) >> i);
    sorted.insert(bytes);
  }
  std::string text;
  for (const std::string& bytes : sorted) text += bytes;
  return sha256(text);
}

// ---- One sample, forward and back. An op gives a tensor and leaves behind what it does backwards; these run from the last to the first.

struct Tensor {
  Matrix y, dy;        // dy is empty until a user has sent a gradient
  bool lower = false;  // of 16 bits under autocast (9)
};

struct Pass {
  const Model& model;
  uint64_t sample;
  Gradients gradients;
  std::deque<Tensor> tensors;
  std::vector<std::function<void()>> backward;

  Matrix lowered(const Matrix& x) const { return each(x, [&](float v, size_t) { return narrow(v, model.dtype); }); }
  // A result is rounded once.
  Tensor& give(const Matrix& y, bool lower) { return tensors.emplace_back(Tensor{lower ? lowered(y) : y, Matrix(), lower}); }
  // A gradient is rounded to the dtype of the tensor, and so is each addition to the others of this tensor.
  void send(Tensor& x, const Matrix& d) const {
    const Matrix rounded = x.lower ? lowered(d) : d;
    x.dy = x.dy.rows == 0 ? rounded : x.lower ? lowered(x.dy + rounded) : x.dy + rounded;
  }
};

// x·W + b, a `lower` op.
Tensor& linear(Pass& pass, const std::string& name, Tensor& x) {
  const Matrix in = pass.lowered(x.y), w = pass.lowered(pass.model[name + ".weight"]), b = pass.lowered(pass.model[name + ".bias"]);
  Tensor& out = pass.give(each(product(in, w), [&](float y, size_t i) { return y + b.data[i % b.data.size()]; }), true);
  pass.backward.push_back([&pass, &x, &out, name, in, w] {  // those of weight and bias are one chain down the sample's rows (3)
    pass.gradients[name + ".weight"] = product(transposed(in), out.dy);
    pass.gradients[name + ".bias"] = product(Matrix(1, in.rows, 1), out.dy);
    pass.send(x, product(out.dy, transposed(w)));
  });
  return out;
}

// x·Eᵀ with the embedding of the tokens, a `lower` op.
Tensor& tied_head(Pass& pass, Tensor& x) {
  const Matrix in = pass.lowered(x.y), w = pass.lowered(pass.model[kTokens]);
  Tensor& out = pass.give(product(in, transposed(w)), true);
  pass.backward.push_back([&pass, &x, &out, in, w] {
    pass.gradients[kHeadUse] = product(transposed(out.dy), in);
    pass.send(x, product(out.dy, w));
  });
  return out;
}

Tensor& embedding(Pass& pass, const std::vector<int>& tokens) {
  const int T = static_cast<int>(tokens.size());
  Matrix x(T, kWidth);
  for (int t = 0; t < T; ++t)
    for (int c = 0; c < kWidth; ++c) x[t][c] = pass.model[kTokens][tokens[static_cast<size_t>(t)]][c] + pass.model[kPlaces][t][c];
  Tensor& out = pass.give(x, false);
  pass.backward.push_back([&pass, &out, tokens, T] {
    Matrix &d_tokens = pass.gradients[kTokens] = Matrix(kVocab, kWidth), &d_places = pass.gradients[kPlaces] = Matrix(kPositions, kWidth);
    for (int t = 0; t < T; ++t)
      for (int c = 0; c < kWidth; ++c) d_tokens[tokens[static_cast<size_t>(t)]][c] += out.dy[t][c], d_places[t][c] = out.dy[t][c];
  });
  return out;
}

// Of two dtypes f32 comes.
Tensor& add(Pass& pass, Tensor& a, Tensor& b) {
  Tensor& out = pass.give(a.y + b.y, a.lower && b.lower);
  pass.backward.push_back([&pass, &a, &b, &out] { pass.send(b, out.dy), pass.send(a, out.dy); });
  return out;
}

Tensor& dropout(Pass& pass, const std::string& path, Tensor& x) {
  const auto drop = [op = op_id("dropout", path), sample = pass.sample](float v, size_t e) { return dropped(op, sample, e, v); };
  Tensor& out = pass.give(each(x.y, drop), x.lower);
  pass.backward.push_back([&pass, &x, &out, drop] { pass.send(x, each(out.dy, drop)); });
  return out;
}

// An `f32` op, as all norms.
Tensor& layer_norm(Pass& pass, const std::string& name, Tensor& x) {
  const Matrix &w = pass.model[name + ".weight"], &b = pass.model[name + ".bias"];
  const int C = x.y.cols;
  const float n = static_cast<float>(C);
  Matrix h(x.y.rows, C), rstd(x.y.rows, 1);
  for (int r = 0; r < x.y.rows; ++r) {
    const float* row = x.y[r];
    float mean = row_sum(C, [&](int i) { return row[i]; }) / n;
    const auto variance = [&] { return row_sum(C, [&](int i) { return (row[i] - mean) * (row[i] - mean); }) / n; };
    float var = variance();
    if (const float close = mean * 0x1p-16f; var <= close * close) {
      mean = std::clamp(mean, *std::min_element(row, row + C), *std::max_element(row, row + C));
      var = variance();
    }
    rstd[r][0] = 1 / std::sqrt(var + static_cast<float>(kEpsilon));
    for (int i = 0; i < C; ++i) h[r][i] = (row[i] - mean) * rstd[r][0];
  }
  Tensor& out = pass.give(each(h, [&](float v, size_t i) { return fma(v, w.data[i % w.data.size()], b.data[i % w.data.size()]); }), false);
  pass.backward.push_back([=, &pass, &x, &out, &w] {
    Matrix &dw = pass.gradients[name + ".weight"] = Matrix(1, C), &db = pass.gradients[name + ".bias"] = Matrix(1, C);
    Matrix dx(h.rows, C);
    for (int r = 0; r < h.rows; ++r) {
      const float* dy = out.dy[r];
      const auto g = [&](int i) { return dy[i] * w[0][i]; };
      const float gh = row_sum(C, [&](int i) { return g(i) * h[r][i]; }) / n, mean = row_sum(C, g) / n;
      for (int i = 0; i < C; ++i) {
        dx[r][i] = rstd[r][0] * fma(-h[r][i], gh, g(i) - mean);
        dw[0][i] = fma(dy[i], h[r][i], dw[0][i]);
        db[0][i] += dy[i];
      }
    }
    pass.send(x, dx);
  });
  return out;
}

// gelu_tanh, a `lower` op.
Tensor& gelu(Pass& pass, Tensor& x) {
  constexpr float c = 0x1.988454p-1f;
  const auto inner_tanh = [](float v) { return tanh_f32(c * fma(0.044715f * v, v * v, v)); };
  const Matrix in = pass.lowered(x.y);
  Tensor& out = pass.give(each(in, [&](float v, size_t) { return (v * 0.5f) * (1 + inner_tanh(v)); }), true);
  pass.backward.push_back([&pass, &x, &out, inner_tanh, in] {
    pass.send(x, each(out.dy, [&](float dy, size_t i) {
      const float v = in.data[i], t = inner_tanh(v);
      return dy * (0.5f * (1 + t) + (v * 0.5f) * (1 - t * t) * (c * fma(0.134145f * v, v, 1.0f)));
    }));
  });
  return out;
}

// One head of attention (5): fills its columns of out.y and, backwards, of x.dy. Rows are shorter than a key tile, so there is one, whose origin is key 0.
void attend(Pass& pass, uint32_t op, int head, Tensor& x, Tensor& out) {
  constexpr int D = kWidth / kHeads;
  constexpr float scale = 0.25f;  // 1/sqrt(D)
  const Matrix in = pass.lowered(x.y), q = columns(in, head * D, D), k = columns(in, kWidth + head * D, D), v = columns(in, 2 * kWidth + head * D, D);
  const int T = in.rows;
  const auto drop = [op, sample = pass.sample](int t, int s, float p) { return dropped(op, sample, static_cast<uint64_t>(t * 65536 + s), p); };
  Matrix scores = product(q, transposed(k)), o(T, D), m(T, 1), l(T, 1);
  for (int t = 0; t < T; ++t) {
    float* score = scores[t];
    for (int s = 0; s < T; ++s) score[s] = s <= t ? scale * score[s] : -INFINITY;
    m[t][0] = *std::max_element(score, score + T);
    l[t][0] = row_sum(T, [&](int s) { return exp_f32(score[s] - m[t][0]); });
    for (int s = 0; s < T; ++s) {
      const float p = drop(t, s, exp_f32(score[s] - m[t][0]));
      for (int e = 0; e < D; ++e) o[t][e] = fma(p, v[s][e], o[t][e]);
    }
    for (int e = 0; e < D; ++e) o[t][e] = o[t][e] / l[t][0] + 0.0f;
  }
  o = pass.lowered(o);
  put_columns(out.y, head * D, o);
  pass.backward.push_back([=, &pass, &x, &out] {
    const Matrix d_o = columns(out.dy, head * D, D), g = product(d_o, transposed(v));
    Matrix ds(T, T), p(T, T);
    for (int t = 0; t < T; ++t) {
      const float delta = row_sum(D, [&](int e) { return d_o[t][e] * o[t][e]; });
      for (int s = 0; s < T; ++s) {
        const float soft = exp_f32(scores[t][s] - m[t][0]) / l[t][0];
        p[t][s] = drop(t, s, soft);
        ds[t][s] = soft * (drop(t, s, g[t][s]) - delta);
      }
    }
    const auto scaled = [](const Matrix& d) { return each(d, [](float v, size_t) { return scale * v + 0.0f; }); };
    put_columns(x.dy, head * D, pass.lowered(scaled(product(ds, k))));
    put_columns(x.dy, kWidth + head * D, pass.lowered(scaled(product(transposed(ds), q))));
    put_columns(x.dy, 2 * kWidth + head * D, pass.lowered(product(transposed(p), d_o)));
  });
}

// Of all heads, whose q, k and v lie side by side in x, which has no other user; a `lower` op.
Tensor& attention(Pass& pass, const std::string& path, Tensor& x) {
  Tensor& out = pass.give(Matrix(x.y.rows, kWidth), true);
  x.dy = Matrix(x.y.rows, x.y.cols);
  for (int i = 0; i < kHeads; ++i) attend(pass, op_id("dropout", path) + 0x9E3779B9u * static_cast<uint32_t>(i), i, x, out);
  return out;
}

// d(loss)/d(logits) of the losses times dloss: row t is scored against token t + 1, the last row not at all.
Matrix cross_entropy_backward(const Matrix& logits, const std::vector<int>& tokens, float dloss) {
  Matrix d(logits.rows, logits.cols);
  for (int t = 0; t + 1 < logits.rows; ++t) {
    const float* x = logits[t];
    const float m = *std::max_element(x, x + logits.cols), lse = m + log_f32(row_sum(logits.cols, [&](int c) { return exp_f32(x[c] - m); }));
    for (int c = 0; c < logits.cols; ++c) d[t][c] = dloss * fma(exp_f32(x[c] - lse), 1.0f, c == tokens[static_cast<size_t>(t) + 1] ? -1.0f : -0.0f);
  }
  return d;
}

// GPT-2: the gradients of one sample, a leaf of each sum over samples. kTokens and kHeadUse are the two uses of the tied weight.
Gradients sample_gradients(const Model& model, uint64_t sample, const std::vector<int>& tokens, float dloss) {
  Pass pass{model, sample, {}, {}, {}};
  Tensor* x = &dropout(pass, "transformer.drop", embedding(pass, tokens));
  for (int i = 0; i < kLayers; ++i) {
    const std::string h = block_name(i);
    Tensor& context = attention(pass, h + "attn", linear(pass, h + "attn.c_attn", layer_norm(pass, h + "ln_1", *x)));
    x = &add(pass, dropout(pass, h + "attn.resid_dropout", linear(pass, h + "attn.c_proj", context)), *x);
    Tensor& inner = gelu(pass, linear(pass, h + "mlp.c_fc", layer_norm(pass, h + "ln_2", *x)));
    x = &add(pass, *x, dropout(pass, h + "mlp.dropout", linear(pass, h + "mlp.c_proj", inner)));
  }
  Tensor& logits = tied_head(pass, layer_norm(pass, "transformer.ln_f", *x));
  pass.send(logits, cross_entropy_backward(logits.y, tokens, dloss));
  for (size_t i = pass.backward.size(); i-- > 0;) pass.backward[i]();
  return pass.gradients;
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

// The gradients of an update, those of the tied weight added up.
Gradients update_gradients(const Model& model, int step, float scale) {
  const uint64_t first = static_cast<uint64_t>(step) * kRowsOfUpdate;
  int targets = 0;
  for (uint64_t row = first; row < first + kRowsOfUpdate; ++row) targets += static_cast<int>(tokens_of(row).size()) - 1;
  const float dloss = scale * (1 / static_cast<float>(targets));
  std::vector<Gradients> leaves;
  for (uint64_t row = first; row < first + kRowsOfUpdate; ++row) leaves.push_back(sample_gradients(model, row, tokens_of(row), dloss));
  Gradients sum = tree(leaves.data(), leaves.size(), [](Gradients a, const Gradients& b) {
    for (auto& [name, x] : a) x = x + b.at(name);
    return a;
  });
  sum[kTokens] = sum[kTokens] + sum[kHeadUse];
  return sum;
}

// The 2-norm of all gradients (3): exact squares in fp64, the tree over the blocks of all parameters in their order. Finite where all of them are.
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

// AdamW (8), of the step-th applied update from 1: the scalars in fp64, each rounded once.
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

double rate_of(int applied) { return 3e-3 * (applied < 5 ? applied / 5.0 : (50 - applied) / 45.0); }

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Dtype> dtypes = {{"f32", Dtype::f32}, {"bf16", Dtype::bf16}, {"f16", Dtype::f16}};
  const auto dtype = dtypes.find(argc > 1 ? argv[1] : "f32");
  const int steps = argc > 2 ? std::atoi(argv[2]) : 50;
  if (dtype == dtypes.end() || steps < 1 || argc > 3) return std::puts("usage: ac1 [f32|bf16|f16 [STEPS]]"), 2;
  Model model = make_model(dtype->second);
  std::string link;
  for (int step = 0, applied = 0; step < steps; ++step) {
    const float scale = model.dtype != Dtype::f16 ? 1 : step == 7 ? 0x1p24f : 0x1p16f;
    Gradients gradients = update_gradients(model, step, scale);
    for (auto& [name, d] : gradients) d = each(d, [&](float x, size_t) { return x / scale; });
    if (const double norm = norm_of(model, gradients); std::isfinite(norm)) {
      const double clip = std::min(1.0, 1.0 / (norm + 1e-6));
      for (Parameter& p : model.all) update(p, gradients.at(p.name), clip, rate_of(applied), applied + 1);
      ++applied;
    }
    link = sha256(link + hash_of(model));
    std::printf("%s\n", link.c_str());
    std::fflush(stdout);
  }
}
