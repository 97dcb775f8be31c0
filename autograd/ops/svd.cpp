#include "autograd/ops/svd.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/ops/linear.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/view.h"

namespace rote {

namespace {

// Columns of length m, each of which becomes orthogonal to the others by rotations of pairs; v collects the rotations.
struct Columns {
  int64_t m, n;
  std::vector<double> a, v;  // column j of a from j·m on, of v from j·n on

  static double dot(const double* x, const double* y, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += x[i] * y[i];
    return sum;
  }
  static void turn(double* x, double* y, int64_t count, double c, double s) {
    for (int64_t i = 0; i < count; ++i) {
      const double before = x[i];
      x[i] = c * before - s * y[i];
      y[i] = s * before + c * y[i];
    }
  }

  // False where the pair is orthogonal already, to the rounding of its dot product.
  bool rotate(int64_t p, int64_t q) {
    double *x = &a[static_cast<size_t>(p * m)], *y = &a[static_cast<size_t>(q * m)];
    const double xx = dot(x, x, m), yy = dot(y, y, m), xy = dot(x, y, m);
    if (!(std::abs(xy) > 0x1p-52 * std::sqrt(xx * yy))) return false;
    const double zeta = (yy - xx) / (2 * xy);
    const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
    const double c = 1 / std::sqrt(1 + t * t);
    turn(x, y, m, c, c * t);
    turn(&v[static_cast<size_t>(p * n)], &v[static_cast<size_t>(q * n)], n, c, c * t);
    return true;
  }

  void make_orthogonal() {
    constexpr int kSweeps = 60;  // ten are usual
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      bool turned = false;
      for (int64_t p = 0; p < n; ++p)
        for (int64_t q = p + 1; q < n; ++q) turned = rotate(p, q) || turned;
      if (!turned) return;
    }
  }
};

// x [M,N] as s [K], u [M,K], vt [K,N] with K = min(M,N).
void decompose(const double* x, int64_t M, int64_t N, double* s, double* u, double* vt) {
  const bool tall = M >= N;  // of a wide matrix the transpose is taken apart
  Columns c{std::max(M, N), std::min(M, N), {}, {}};
  for (int64_t j = 0; j < c.n; ++j)
    for (int64_t i = 0; i < c.m; ++i) c.a.push_back(tall ? x[i * N + j] : x[j * N + i]);
  for (int64_t i = 0; i < c.n * c.n; ++i) c.v.push_back(i % (c.n + 1) == 0 ? 1 : 0);
  c.make_orthogonal();
  std::vector<double> length;
  for (int64_t j = 0; j < c.n; ++j) length.push_back(std::sqrt(Columns::dot(&c.a[static_cast<size_t>(j * c.m)], &c.a[static_cast<size_t>(j * c.m)], c.m)));
  std::vector<int64_t> order(static_cast<size_t>(c.n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) { return length[static_cast<size_t>(p)] > length[static_cast<size_t>(q)]; });
  for (int64_t k = 0; k < c.n; ++k) {
    const int64_t j = order[static_cast<size_t>(k)];
    s[k] = length[static_cast<size_t>(j)];
    for (int64_t i = 0; i < c.m; ++i) {
      const double unit = s[k] == 0 ? 0 : c.a[static_cast<size_t>(j * c.m + i)] / s[k];
      (tall ? u[i * c.n + k] : vt[k * N + i]) = unit;
    }
    for (int64_t i = 0; i < c.n; ++i) (tall ? vt[k * N + i] : u[i * c.n + k]) = c.v[static_cast<size_t>(j * c.n + i)];
  }
}

Shape with_sizes(const Shape& x, std::initializer_list<int64_t> last) {
  Shape shape = x.slice(0, x.axes() - 2);
  for (const int64_t n : last) shape.append(n);
  return shape;
}

}  // namespace

void SingularValues::infer(Call& call) {
  const Shape& x = call.in[0].shape();
  const int64_t M = x[x.axes() - 2], N = x[x.axes() - 1], K = std::min(M, N);
  const TensorOptions same{.dtype = call.in[0].dtype()};
  call.out = {empty(with_sizes(x, {K}), same), empty(with_sizes(x, {M, K}), same), empty(with_sizes(x, {K, N}), same)};
}

void SingularValues::forward(Call& call) {
  const Tensor x = contiguous(converted(call.in[0], DType::f64));
  const int64_t M = x.size(-2), N = x.size(-1), K = std::min(M, N), matrices = M * N == 0 ? 0 : x.numel() / (M * N);
  std::vector<Tensor> wide;
  for (const Tensor& y : call.out) wide.push_back(zeros(y.shape(), {.dtype = DType::f64}));
  for (int64_t i = 0; i < matrices; ++i)
    decompose(x.data<double>() + i * M * N, M, N, wide[0].data<double>() + i * K, wide[1].data<double>() + i * M * K, wide[2].data<double>() + i * K * N);
  for (size_t i = 0; i < wide.size(); ++i) copy_elements(call.out[i], wide[i]);
}

void SingularValues::backward(Call& call) {  // dx = u·diag(ds)·vt
  ROTE_CHECK(!call.dout[1].defined() && !call.dout[2].defined(), StateError, "singular_values: its vectors have no derivative; only s has.");
  call.din[0] = matmul(mul(call.out[1], unsqueeze(call.dout[0], -2)), call.out[2]);
}

}  // namespace rote
