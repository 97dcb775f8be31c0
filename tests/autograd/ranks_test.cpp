// tests/autograd/ranks_test.cpp — a window whose samples lie on several ranks, all of them in this process: every gradient has the bits of one rank.
#include <doctest/doctest.h>

#include <cstring>

#include "autograd/backward.h"
#include "autograd/mode.h"
#include "autograd/node.h"
#include "autograd/ops.h"
#include "tests/support/ranks.h"

namespace rote::testing {

namespace {

Tensor draw(const Shape& shape, uint32_t op) {
  Tensor x = empty(shape);
  kernels<float>().normal(1, op, 0, x.numel(), x.data<float>());
  return x;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(contiguous(a).raw(), contiguous(b).raw(), static_cast<size_t>(a.numel()) * 4) == 0;
}

Tensor sum_of_two(const Tensor& a, const Tensor& b) { return add(a, b); }

// A job whose parameters go through each op that sums over samples; one is used twice. Dropout draws by the sample's number.
struct Job {
  static constexpr int64_t B = 26, T = 5, V = 11, C = 6;
  Tensor ids = zeros({B, T}, {.dtype = DType::i64}), labels = zeros({B, T}, {.dtype = DType::i64});
  Tensor table = draw({V, C}, 1), place = draw({T, C}, 2), w = draw({C, C}, 3), b = draw({C}, 4), g = draw({C}, 5), h = draw({C}, 6);
  std::vector<Tensor> leaves;

  Job() {
    for (int64_t i = 0; i < B * T; ++i) ids.data<int64_t>()[i] = i * 5 % V, labels.data<int64_t>()[i] = i * 3 % V;
    leaves = {table, place, w, b, g, h};
    for (Tensor& p : leaves) requires_grad(p);
  }
  // Forward and backward of samples first … first+count-1; their sums lie on the parameters' stacks.
  void run(int64_t first, int64_t count, int64_t sample_leaf) const {
    const RunScopeGuard scope({.seed = 9, .first_sample = static_cast<uint64_t>(first), .samples = count, .sample_leaf = sample_leaf});
    Tensor x = embedding(slice(ids, 0, first, first + count), table) + place;
    x = dropout(gelu(linear(x, w, b)), 0.25);
    x = layer_norm(linear(x, w), g, h);
    const Tensor losses = cross_entropy_each(matmul(x, transpose(table, 0, 1)), slice(labels, 0, first, first + count));
    backward(loss_sum(losses, B * T));
  }
};

}  // namespace

TEST_CASE("ranks: each sends the aligned subtrees of its samples, and every gradient is that of one rank") {
  const Job job;
  std::mt19937 source(3);
  for (const int64_t sample_leaf : {1, 2}) {
    job.run(0, job.B, sample_leaf);
    fold_gradients(job.leaves);
    std::vector<Tensor> whole;
    for (const Tensor& p : job.leaves) whole.push_back(p.grad());
    zero_grad(job.leaves);
    for (int turn = 0; turn < 24; ++turn) {
      const std::vector<int64_t> borders = random_borders(job.B / sample_leaf, 1 + turn % 4, source);
      using Fold = Receiver<Tensor, decltype(&sum_of_two)>;
      std::vector<std::vector<Fold>> received(job.leaves.size());  // by parameter and use
      for (size_t rank = 0; rank + 1 < borders.size(); ++rank)
        for (const Subtree& part : maximal_subtrees(borders[rank], borders[rank + 1])) {
          job.run(part.begin * sample_leaf, part.leaves * sample_leaf, sample_leaf);
          for (size_t p = 0; p < job.leaves.size(); ++p) {
            const std::vector<GradientStack>& stacks = grad_meta(job.leaves[p]).stacks;
            received[p].resize(stacks.size(), Fold(&sum_of_two));
            for (size_t use = 0; use < stacks.size(); ++use) {
              REQUIRE(stacks[use].parts.size() == 1);
              CHECK(stacks[use].parts[0].leaves == part.leaves);
              received[p][use].push(part.leaves, stacks[use].parts[0].sum);
            }
          }
          zero_grad(job.leaves);
        }
      for (size_t p = 0; p < job.leaves.size(); ++p) {
        Tensor sum = received[p][0].total();
        for (size_t use = 1; use < received[p].size(); ++use) sum = add(sum, received[p][use].total());
        CAPTURE(turn);
        CAPTURE(p);
        CHECK(same_bits(sum, whole[p]));
      }
    }
  }
}

}  // namespace rote::testing
