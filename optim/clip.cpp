#include "optim/clip.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/pool.h"
#include "kernels/table.h"
#include "optim/blocks.h"

namespace rote::optim {

namespace {

constexpr int64_t kBlock = 4096;

// The tree law over values: a split at the largest power of two below n.
double tree_sum(const double* values, size_t n) {
  if (n == 1) return values[0];
  const size_t left = std::bit_floor(n - 1);
  return tree_sum(values, left) + tree_sum(values + left, n - left);
}

void square_narrow_blocks(const Tensor& x, double* blocks) {
  const int64_t n = x.numel();
  parallel((n + kBlock - 1) / kBlock, [&](int64_t block) -> uint32_t {
    float room[kBlock];
    const int64_t begin = block * kBlock, count = std::min(kBlock, n - begin);
    kernels<float>().square_blocks(count, widened(x, begin, count, room), &blocks[block]);
    return 0;
  });
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
    else if (plain.dtype() == DType::f32) kernels<float>().square_blocks(n, plain.data<float>(), &blocks[first]);
    else square_narrow_blocks(plain, &blocks[first]);
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
