// tests/golden_run.cpp — golden_run [STEPS [THREADS]]: so many steps of the golden job (default 50) in each dtype against the published links, without text, YAML or
// commands: for other compilers and machines (scripts/test-golden). Exit 0: equal.
#include <cstdio>
#include <cstdlib>

#include "kernels/pool.h"
#include "kernels/table.h"
#include "trainer/golden_job.h"

int main(int argc, char** argv) {
  const int64_t steps = argc > 1 ? std::atoll(argv[1]) : 50;
  rote::set_num_threads(argc > 2 ? std::atoi(argv[2]) : 0);
  bool equal = true;
  for (const rote::DType dtype : {rote::DType::f32, rote::DType::bf16, rote::DType::f16}) {
    const std::vector<std::string> links = rote::run_golden_job({.steps = steps, .dtype = dtype});
    const auto parted = rote::first_difference(links, rote::golden_links(dtype));
    if (parted) std::printf("%s %s: differs from step %lld on: %s\n", rote::kernels<float>().isa, name(dtype), static_cast<long long>(*parted), links[static_cast<size_t>(*parted) - 1].c_str());
    else std::printf("%s %s: %zu steps as published\n", rote::kernels<float>().isa, name(dtype), links.size());
    equal = equal && !parted && !links.empty();
  }
  return equal ? 0 : 1;
}
