// tests/kernel_hashes_test.cpp — the published hashes of kernels on each instruction set. scripts/test-golden asks other compilers and machines.
#include "tests/kernel_hashes.h"

#include <doctest/doctest.h>

using namespace rote::testing;

TEST_CASE("kernels: results are the published ones on each instruction set, on any thread count") {
  for (const Kernels& kernels : all_kernels()) {
    for (const int threads : {1, 2, 5}) {
      rote::set_num_threads(threads);
      const std::vector<std::string> faults = kernel_faults(kernels);
      CHECK_MESSAGE(faults.empty(), kernels.table.isa << ", " << threads << " threads: " << (faults.empty() ? "" : faults[0]));
    }
  }
  rote::set_num_threads(0);
}

TEST_CASE("kernels: one result that is one unit off has another hash") {
  const auto hash = [](std::vector<float> x) {
    Digest digest;
    digest.add(std::move(x));
    return digest.hex();
  };
  std::vector<float> x = random_values(1000, 1);
  const std::string before = hash(x);
  CHECK(hash(x) == before);
  x[777] = std::nextafter(x[777], 2.0f);
  CHECK(hash(x) != before);
}
