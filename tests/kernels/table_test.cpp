// tests/kernels/table_test.cpp — which tables exist, that they are whole, and what ROTE_ISA may say.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "kernels/check.h"
#include "tests/kernels/spec.h"

using namespace rote::testing;

TEST_CASE("table: each instruction set has a table of its own name without a missing kernel") {
  REQUIRE(!all_tables().empty());
  for (const rote::KernelTable<float>* table : all_tables()) {
    CHECK(rote::kernel_table(table->isa) == table);
    const void* pointers[sizeof(*table) / sizeof(void*)];
    std::memcpy(pointers, table, sizeof pointers);
    for (const void* pointer : pointers) CHECK(pointer != nullptr);
  }
  CHECK(std::string_view(rote::kernels<double>().isa) == "f64");
}

TEST_CASE("table: an unknown instruction set has none") {
  CHECK(rote::kernel_table("sse9") == nullptr);
  CHECK(rote::vector_functions("sse9") == nullptr);
}

TEST_CASE("table: the process uses the one that ROTE_ISA names, or the widest") {
  const char* wanted = std::getenv("ROTE_ISA");
  const std::string_view used = rote::kernels<float>().isa;
  if (wanted && *wanted) {
    CHECK(used == wanted);
    return;
  }
  for (const char* isa : {"avx512", "avx2", "neon", "scalar"}) {
    if (!rote::kernel_table(isa)) continue;
    CHECK(used == isa);
    break;
  }
}

TEST_CASE("table: ROTE_ISA is taken by name and refused with the names that would do") {
  std::string names;
  for (const char* isa : {"avx512", "avx2", "neon", "scalar"}) {
    const rote::KernelTable<float>* table = rote::kernel_table(isa);
    if (!table) continue;
    CHECK(&rote::choose_kernels(isa) == table);
    names += (names.empty() ? "" : ", ") + std::string(isa);
  }
  CHECK(&rote::choose_kernels("") == &rote::choose_kernels(nullptr));
  try {
    rote::choose_kernels("sse9");
    FAIL("an unknown instruction set was taken");
  } catch (const rote::ArgumentError& error) {
    CHECK(error.text == "ROTE_ISA: 'sse9' is no instruction set of Rote; here it can be " + names + ".");
  }
}
