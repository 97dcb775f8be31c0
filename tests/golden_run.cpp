// tests/golden_run.cpp — golden_run [STEPS [THREADS]]: the kernels' published hashes (kernel_hashes.h), then so many steps of the golden job (default 50) in each dtype
// against the published links, without text, YAML or commands: for other compilers and machines (scripts/test-golden). Exit 0: equal.
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "kernels/pool.h"
#include "kernels/table.h"
#include "tests/kernel_hashes.h"
#include "trainer/golden_job.h"

int main(int argc, char** argv) {
  const int64_t steps = argc > 1 ? std::atoll(argv[1]) : 50;
  rote::set_num_threads(argc > 2 ? std::atoi(argv[2]) : 0);
  const std::string isa = rote::kernels<float>().isa;
  bool equal = true;
  for (const rote::testing::Kernels& kernels : rote::testing::all_kernels()) {
    if (kernels.table.isa != isa) continue;
    const std::vector<std::string> faults = rote::testing::kernel_faults(kernels);
    for (const std::string& fault : faults) std::printf("%s: %s\n", isa.c_str(), fault.c_str());
    if (faults.empty()) std::printf("%s: %zu kernels as published\n", isa.c_str(), std::size(rote::testing::kKernelGoldens));
    equal = equal && faults.empty();
  }
  for (const rote::DType dtype : {rote::DType::f32, rote::DType::bf16, rote::DType::f16}) {
    const std::vector<std::string> links = rote::run_golden_job({.steps = steps, .dtype = dtype});
    const auto parted = rote::first_difference(links, rote::golden_links(dtype));
    if (parted) std::printf("%s %s: differs from step %lld on: %s\n", isa.c_str(), name(dtype), static_cast<long long>(*parted), links[static_cast<size_t>(*parted) - 1].c_str());
    else std::printf("%s %s: %zu steps as published\n", isa.c_str(), name(dtype), links.size());
    equal = equal && !parted && !links.empty();
  }
  return equal ? 0 : 1;
}
