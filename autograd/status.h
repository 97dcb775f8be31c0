// autograd/status.h — the status words of the ops that ran on this thread: amax, op, module path, phase. Always on (arithmetic.md 9).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autograd/mode.h"
#include "tensor/tensor.h"

namespace rote {

struct StatusRecord {
  uint64_t sequence = 0;   // of the op run on this thread
  const char* op = "";
  Phase phase = Phase::forward;
  int path = 0;            // status_path(path) is the module path
  uint32_t amax = 0;       // largest (bits & 0x7FFFFFFF) of the f32 values written: 0x7F800000 infinity, above it NaN
  Shape shape;             // of the first output
  uint32_t written = 0;    // amax before values were rounded to 16 bits
};

inline constexpr uint32_t kInfBits = 0x7F800000u;

// The status word of values as they are stored: of f32 values that round to an infinity of 16 bits, that infinity's.
uint32_t stored_word(uint32_t amax, const std::vector<Tensor>& stored);

// Forgets what this thread's ops reported; a training step calls it first.
void clear_status();
void record_status(const StatusRecord& record);
int intern_path(const std::string& path);
const std::string& status_path(int id);

// The largest magnitude that this op wrote at this module path in each of the last few spans between two clear_status(), oldest first; those without it
// are left out.
std::vector<float> amax_history(const std::string& op, const std::string& path, Phase phase);

// The first record since clear_status() whose output holds Inf or NaN; ops that only move or fill never count.
std::optional<StatusRecord> first_non_finite();
// `first inf in blocks.5.mlp.fc (linear, f32[8,1024,3072], forward)`
std::string describe(const StatusRecord& record);

}  // namespace rote
