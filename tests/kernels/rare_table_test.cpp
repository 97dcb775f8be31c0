// tests/kernels/rare_table_test.cpp — that the rare tables are whole, on each instruction set, and which of them a process uses.
#include <doctest/doctest.h>

#include <cstring>

#include "tests/kernels/isas.h"

using namespace rote;
using namespace rote::testing;

namespace {

template <class Real>
void check_whole(const RareKernels<Real>& kernels) {
  const void* pointers[sizeof kernels / sizeof(void*)];
  std::memcpy(pointers, &kernels, sizeof pointers);
  for (const void* pointer : pointers) CHECK(pointer != nullptr);
}

template <template <class> class Table>
void check_choice() {
  CHECK(&rare_kernels<Table, float>() == rare_kernel_table<Table>(kernels<float>().isa));
  CHECK(rare_kernel_table<Table>("sse9") == nullptr);
}

}  // namespace

TEST_CASE("rare tables: each instruction set has every kernel") {
  REQUIRE(all_rare_kernels().size() == all_tables().size());
  for (const RareKernels<float>* kernels : all_rare_kernels()) {
    CAPTURE(std::string(kernels->isa));
    check_whole(*kernels);
  }
  check_whole(*rare_kernels_of<double>().front());
}

TEST_CASE("rare tables: the process uses those of its kernel table; an unknown instruction set has none") {
  check_choice<AttentionTable>();
  check_choice<BatchNormTable>();
  check_choice<GroupNormTable>();
  check_choice<CtcTable>();
  check_choice<ConvTable>();
  check_choice<WindowTable>();
  check_choice<TapsTable>();
}
