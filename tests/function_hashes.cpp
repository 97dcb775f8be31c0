// tests/function_hashes.cpp — function-hashes [STRIDE [NAME…]]: each elementary function over every STRIDE-th input (default 1: all of them), a line each.
// Exit 0 where the results are the published ones on each instruction set and every error is within its bound.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/function_hashes.h"

using namespace rote::testing;

int main(int argc, char** argv) {
  const uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  if (stride == 0) return std::puts("usage: function-hashes [STRIDE [NAME…]]; STRIDE is at least 1."), 2;
  std::string isas;
  for (const rote::KernelTable<float>* table : all_tables()) isas += (isas.empty() ? "" : ", ") + std::string(table->isa);
  int passed = 0, failed = 0;
  for (const ElementaryFunction& function : kElementaryFunctions) {
    bool wanted = argc <= 2;
    for (int i = 2; i < argc; ++i) wanted = wanted || function.name == std::string_view(argv[i]);
    if (!wanted) continue;
    const FunctionRun run = run_function(function, stride);
    std::string fault = run.parted;
    if (run.worst > function.ulps) fault += " is further off than " + std::to_string(function.ulps);
    if (stride == 1 && run.hash != function.whole) fault += std::string(" is not the published ") + function.whole;
    fault.empty() ? ++passed : ++failed;
    std::printf("%-8s %s  worst %.3f ulp at %.9g%s%s\n", function.name, run.hash.c_str(), run.worst, static_cast<double>(run.worst_at), fault.empty() ? "" : "  FAILED: ", fault.c_str());
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed, 0 skipped (%s)\n", passed, failed, isas.c_str());
  return failed != 0;
}
