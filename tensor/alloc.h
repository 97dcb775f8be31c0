// tensor/alloc.h — the caching allocator of host memory, with its figures. Blocks are 64-byte aligned; contents are not cleared.
//
// 1. A freed block is kept and given to a later request of at most its size and at least two thirds of it.
// 2. Any thread may call; a limit, when set, turns the request that would pass it into a MemoryError after the cache was emptied.
// 3. So does a request that, with what is in use, is more than the machine has: the system would grant it and end the process when it is written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rote {

struct MemoryFigures {
  int64_t in_use = 0;  // bytes in live blocks
  int64_t cached = 0;  // bytes kept for reuse
  int64_t peak = 0;    // largest in_use since the last reset
};

void* allocate(int64_t bytes);
void release(void* block) noexcept;

MemoryFigures memory_figures();
void reset_peak();
void empty_cache() noexcept;
void set_memory_limit(int64_t bytes);  // 0: none
int64_t machine_memory();              // bytes of memory and swap, or what the process may have of them

}  // namespace rote
