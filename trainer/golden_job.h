// trainer/golden_job.h — the small complete job by which a machine shows that it keeps the arithmetic contract: docs/reproducibility.md describes it whole,
// so that anyone can run it again. No Trainer, no files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/dtype.h"

namespace rote {

struct GoldenJob {
  int64_t steps = 50;
  int64_t micro_batch = 4;  // of the 12 rows of an update: 1, 2, 4, 8 or 12; moves no bit
  DType dtype = DType::f32;  // bf16, f16: by autocast; f16 with a loss scale that is forced to overflow in the eighth update
};

// Seeds the process's generator. A link a step: the SHA-256 of the link before it (at first of nothing), 64 digits, and of the hash of the weights after the step, 64 more.
std::vector<std::string> run_golden_job(const GoldenJob& job = {});

// The links of all 50 steps under contract AC-1.
std::span<const char* const> golden_links(DType dtype = DType::f32);

// The first step, from 1, whose link is not the published one; none where all are.
std::optional<int64_t> first_difference(std::span<const std::string> links, std::span<const char* const> published);

}  // namespace rote
