// kernels/scratch.cpp — the per-thread list of free buffers behind scratch.h.
#include "kernels/scratch.h"

#include <cstdlib>

#include "kernels/check.h"

namespace rote {

namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kHeader = kAlignment;  // holds the buffer's size, in front of what the caller sees
constexpr int kKept = 6;                 // packed operands and partial sums of two nested kernels

int64_t& size_of(void* buffer) { return *static_cast<int64_t*>(buffer); }

struct FreeBuffers {
  void* buffers[kKept] = {};
  ~FreeBuffers() {
    for (void* buffer : buffers) std::free(buffer);
  }
};

thread_local FreeBuffers free_buffers;

}  // namespace

void* take_scratch(int64_t bytes) {
  void** best = nullptr;
  for (void*& buffer : free_buffers.buffers) {
    if (buffer && size_of(buffer) >= bytes && (!best || size_of(buffer) < size_of(*best))) best = &buffer;
  }
  void* buffer = nullptr;
  if (best) {
    buffer = *best;
    *best = nullptr;
  } else {
    int64_t size = 4096;
    while (size < bytes) size += size / 2 / kAlignment * kAlignment;  // steps of half: few sizes, so that a slightly larger call fits next time
    buffer = std::aligned_alloc(kAlignment, static_cast<size_t>(kHeader + size));
    ROTE_CHECK(buffer, MemoryError, "scratch: the system refused ", size, " bytes of working memory. Smaller batches need less.");
    size_of(buffer) = size;
  }
  return static_cast<char*>(buffer) + kHeader;
}

void give_scratch(void* memory) {
  void* buffer = static_cast<char*>(memory) - kHeader;
  for (void*& kept : free_buffers.buffers) {
    if (!kept) {
      kept = buffer;
      return;
    }
  }
  void** smallest = &free_buffers.buffers[0];
  for (void*& kept : free_buffers.buffers) {
    if (size_of(kept) < size_of(*smallest)) smallest = &kept;
  }
  if (size_of(*smallest) < size_of(buffer)) {
    std::free(*smallest);
    *smallest = buffer;
  } else {
    std::free(buffer);
  }
}

}  // namespace rote
