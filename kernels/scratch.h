// kernels/scratch.h — working memory of kernels, kept by each thread between calls. Not for tensors, which have their own allocator.
#pragma once

#include <cstdint>

namespace rote {

// At least `bytes` of uninitialised memory, aligned to 64 bytes. Throws MemoryError where the system has none left.
// Nothing is freed on the way: a thread keeps a few buffers and hands the smallest fitting one out again.
void* take_scratch(int64_t bytes);

// Takes back what take_scratch gave to this thread.
void give_scratch(void* memory);

}  // namespace rote
