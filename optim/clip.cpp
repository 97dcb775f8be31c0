#include "optim/clip.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/pool.h"
#include "kernels/table.h"

namespace rote::optim {

namespace {

constexpr int64_t kBlock = 4096;

// The tree law over values: a split at the largest power of two below n.
double tree_sum(const double* values, size_t n) {
  if (n == 1) return values[0];
  const size_t left = std::bit_floor(n - 1);
  return tree_sum(values, left) + tree_sum(values + left, n - left);
}

}  // namespace

namespace {

double norm_of(const std::vector<Tensor>& params) {
  std::vector<double> blocks;
  for (const Tensor& param : params) {
    const Tensor grad = param.grad();
    if (!grad.defined() || grad.numel() == 0) continue;
    const Tensor plain = contiguous(grad);
    const int64_t n = plain.numel();
    const size_t first = blocks.size();
    blocks.resize(first + static_cast<size_t>((n + kBlock - 1) / kBlock));
    if (plain.dtype() == DType::f64) kernels<double>().square_blocks(n, plain.data<double>(), &blocks[first]);
    else kernels<float>().square_blocks(n, plain.data<float>(), &blocks[first]);
  }
  return blocks.empty() ? 0.0 : std::sqrt(tree_sum(blocks.data(), blocks.size()));
}

}  // namespace

double global_norm(const std::vector<Tensor>& params) {
  double norm = 0;
  with_default_control([&] { norm = norm_of(params); });
  return norm;
}

double clip_factor(double norm, double max_norm) { return max_norm > 0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0; }

}  // namespace rote::optim
