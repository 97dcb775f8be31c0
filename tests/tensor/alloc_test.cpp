// tests/tensor/alloc_test.cpp — the allocator's refusals: a limit that is set, and the machine's own.
#include "tensor/alloc.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tensor/tensor.h"

using namespace rote;

TEST_CASE("alloc: what the machine does not have is refused in one sentence, all blocks counted together") {
  CHECK(machine_memory() > int64_t{1} << 28);
  CHECK_THROWS_AS(allocate(machine_memory() + 1), MemoryError);
  // Nothing is written, so that these blocks cost no memory.
  const Tensor half = empty({machine_memory() * 5 / 8}, {.dtype = DType::u8});
  try {
    empty({machine_memory() * 5 / 8}, {.dtype = DType::u8});
    CHECK(false);
  } catch (const MemoryError& error) {
    CHECK(error.text == str("allocate: ", (machine_memory() * 5 / 8 + 63) / 64 * 64, " bytes with ", memory_figures().in_use, " in use are more than the ", machine_memory(),
                            " of this machine; a smaller model or batch needs less."));
  }
}

TEST_CASE("alloc: a block that was freed makes room, and a limit that is set holds") {
  for (int i = 0; i < 3; ++i) empty({machine_memory() * 5 / 8 + i * 1000}, {.dtype = DType::u8});
  empty_cache();
  set_memory_limit(memory_figures().in_use + (1 << 20));
  CHECK_THROWS_AS(empty({1 << 21}, {.dtype = DType::u8}), MemoryError);
  CHECK(empty({1 << 19}, {.dtype = DType::u8}).numel() == 1 << 19);
  set_memory_limit(0);
}
