// kernels/blocks.h — the sizes by which the matrix product cuts its work. No bit of a result depends on them; tests change them to show it.
#pragma once

#include <cstdint>

namespace rote {

struct GemmBlocks {
  int64_t k_rows = 2048;            // of K at a time, rounded to whole pieces: one B panel and two A panels of this length fit 1 MB
  int64_t shared_b = 1 << 20;       // elements of packed B that tasks share
  int64_t private_a = 1 << 16;      // elements of packed A that a task keeps
  int64_t task_work = 1 << 19;      // multiply-adds that are worth a task: some µs
  int64_t shared_work = 1 << 26;    // multiply-adds of a batch item that are worth two regions of their own
};

// Read once by each product. Changing it while one runs is a fault of the caller.
extern GemmBlocks gemm_blocks;

}  // namespace rote
