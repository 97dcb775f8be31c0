#include "tensor/alloc.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <unordered_map>

#include "kernels/check.h"

namespace rote {

namespace {

constexpr int64_t kAlign = 64;
constexpr int64_t kHuge = int64_t{2} << 20;  // blocks from here on ask for huge pages: a page fault costs more than the touch itself

struct Cache {
  std::mutex mutex;
  std::multimap<int64_t, void*> free;        // by size
  std::unordered_map<void*, int64_t> sizes;  // of all blocks, live or free
  MemoryFigures figures;
  int64_t limit = 0;
};

Cache& cache() {
  static Cache* instance = new Cache;  // never destroyed: tensors of static storage duration may be freed later
  return *instance;
}

void drop_free(Cache& c) {
  for (const auto& [size, block] : c.free) {
    c.sizes.erase(block);
    c.figures.cached -= size;
    std::free(block);
  }
  c.free.clear();
}

int64_t read_machine_memory() {
  int64_t bytes = INT64_MAX;
  struct sysinfo system;
  if (sysinfo(&system) == 0) bytes = static_cast<int64_t>((system.totalram + system.totalswap) * system.mem_unit);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {  // of a container, version 2 and 1
    int64_t allowed = 0;
    if (std::ifstream(path) >> allowed && allowed > 0) bytes = std::min(bytes, allowed);
  }
  return bytes;
}

}  // namespace

int64_t machine_memory() {
  static const int64_t bytes = read_machine_memory();
  return bytes;
}

void* allocate(int64_t bytes) {
  Cache& c = cache();
  const int64_t size = (std::max<int64_t>(bytes, 1) + kAlign - 1) / kAlign * kAlign;
  const std::lock_guard lock(c.mutex);
  const auto found = c.free.lower_bound(size);
  void* block = nullptr;
  int64_t block_size = size;
  if (found != c.free.end() && found->first <= size + size / 2) {
    block = found->second;
    block_size = found->first;
    c.free.erase(found);
    c.figures.cached -= block_size;
  } else {
    const bool over = c.limit > 0 && c.figures.in_use + c.figures.cached + size > c.limit;
    if (over) drop_free(c);
    ROTE_CHECK(c.limit == 0 || c.figures.in_use + size <= c.limit, MemoryError, "allocate: ", size, " bytes over the limit of ", c.limit,
               " bytes, ", c.figures.in_use, " in use; a smaller batch needs less.");
    if (size >= kHuge && c.figures.in_use + c.figures.cached + size > machine_memory()) drop_free(c);
    ROTE_CHECK(size < kHuge || c.figures.in_use + size <= machine_memory(), MemoryError, "allocate: ", size, " bytes with ", c.figures.in_use,
               " in use are more than the ", machine_memory(), " of this machine; a smaller model or batch needs less.");
    // The size is not rounded up to huge pages: a block larger than its request would not be found again by the next request of that size.
    const size_t align = static_cast<size_t>(size >= kHuge ? kHuge : kAlign);
    if (posix_memalign(&block, align, static_cast<size_t>(size)) != 0) {
      drop_free(c);
      if (posix_memalign(&block, align, static_cast<size_t>(size)) != 0) block = nullptr;
    }
    ROTE_CHECK(block != nullptr, MemoryError, "allocate: the system gives no ", size, " bytes, ", c.figures.in_use,
               " in use; a smaller batch needs less.");
    if (size >= kHuge) madvise(block, static_cast<size_t>(size), MADV_HUGEPAGE);
    c.sizes.emplace(block, block_size);
  }
  c.figures.in_use += block_size;
  c.figures.peak = std::max(c.figures.peak, c.figures.in_use);
  return block;
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  const int64_t size = c.sizes.at(block);
  c.figures.in_use -= size;
  c.figures.cached += size;
  c.free.emplace(size, block);
}

MemoryFigures memory_figures() {
  const std::lock_guard lock(cache().mutex);
  return cache().figures;
}

void reset_peak() {
  const std::lock_guard lock(cache().mutex);
  cache().figures.peak = cache().figures.in_use;
}

void empty_cache() noexcept {
  const std::lock_guard lock(cache().mutex);
  drop_free(cache());
}

void set_memory_limit(int64_t bytes) {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  c.limit = bytes;
  // What is cached counts: a block that is given again is not asked about.
  if (bytes > 0 && c.figures.in_use + c.figures.cached > bytes) drop_free(c);
}

}  // namespace rote
