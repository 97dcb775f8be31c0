// tests/memory_test.cpp — what long runs need: a chain of 100,000 ops, ten thousand training steps. Resident memory, not time.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdio>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "nn/linear.h"
#include "nn/loss.h"
#include "optim/adamw.h"
#include "optim/optimizer.h"
#include "tensor/generator.h"

using namespace rote;

namespace {

// Sanitizers keep freed memory back on purpose.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCountsMemory = false;
#else
constexpr bool kCountsMemory = true;
#endif

double resident_megabytes() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

}  // namespace

TEST_CASE("memory: 100,000 ops forward and backward need less than 1 GB") {
  const double before = resident_megabytes();
  Tensor x = zeros({1000});
  requires_grad(x);
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = add(y, 1.0);
  const double graph = resident_megabytes();
  backward(sum(y));
  CHECK(x.grad().data<float>()[7] == 1);
  if (kCountsMemory) CHECK(graph - before < 1000);
  if (kCountsMemory) CHECK(resident_megabytes() - before < 1000);
}

TEST_CASE("memory: resident memory stays flat over 10,000 training steps") {
  manual_seed(1);
  nn::Linear hidden(8, 32), head(32, 3);
  std::vector<optim::NamedParameter> named;
  std::vector<Tensor> leaves;
  for (const nn::Linear* layer : {&hidden, &head})
    for (const Tensor& x : {layer->weight, layer->bias}) {
      named.push_back({str("p", named.size()), x});
      leaves.push_back(x);
    }
  optim::AdamW adamw(named, {.lr = 1e-2});
  const Tensor x = empty({16, 8});
  kernels<float>().normal(3, 1, 0, x.numel(), x.data<float>());
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < 16; ++i) classes.push_back(i % 3);
  const Tensor labels = from_values({16}, classes);
  double settled = 0;
  for (int step = 0; step < 10000; ++step) {
    backward(cross_entropy(head(gelu(hidden(x))), labels));
    adamw.step();
    zero_grad(leaves);
    if (step == 100) settled = resident_megabytes();
  }
  if (kCountsMemory) CHECK(resident_megabytes() - settled < 1);
  CHECK(cross_entropy(head(gelu(hidden(x))), labels).item() < 0.01);
}
