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

double norm_of(const std::vector<Tensor>& tensors) {
  std::vector<double> blocks;
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined() || tensor.numel() == 0) continue;
    const Tensor plain = contiguous(tensor);
    const int64_t n = plain.numel();
    const size_t first = blocks.size();
    blocks.resize(first + static_cast<size_t>((n + kBlock - 1) / kBlock));
    if (plain.dtype() == DType::f64) kernels<double>().square_blocks(n, plain.data<double>(), &blocks[first]);
    else kernels<float>().square_blocks(n, plain.data<float>(), &blocks[first]);
  }
  return blocks.empty() ? 0.0 : std::sqrt(tree_sum(blocks.data(), blocks.size()));
}

}  // namespace

double two_norm(const std::vector<Tensor>& tensors) {
  double norm = 0;
  with_default_control([&] { norm = norm_of(tensors); });
  return norm;
}

double global_norm(const std::vector<Tensor>& params) {
  std::vector<Tensor> grads;
  for (const Tensor& param : params) grads.push_back(param.grad());
  return two_norm(grads);
}

double clip_factor(double norm, double max_norm) { return max_norm > 0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0; }

}  // namespace rote::optim
