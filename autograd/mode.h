// autograd/mode.h — thread-local modes: whether gradients are recorded, the RunScope of a micro-batch, the module path. All by guards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/dtype.h"
#include "tensor/shape.h"

namespace rote {

bool grad_enabled();

// Ops inside are recorded, or not.
class GradMode {
 public:
  explicit GradMode(bool recorded);
  ~GradMode();
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool before_;
};
struct NoGrad : GradMode {
  NoGrad() : GradMode(false) {}
};
struct EnableGrad : GradMode {
  EnableGrad() : GradMode(true) {}
};

// Mixed precision (Micikevicius et al. 2018): the ops inside take their floating inputs as the `autocast` of their row says, `lower` being this
// dtype, bf16 or f16; none switches it off. Parameters stay as they are. Rounding an input is a part of the op, not a node of the graph: the
// gradient of an f32 input is f32 and never rounded to 16 bits, so that sums over micro-batches keep their bits whatever the split.
class AutocastGuard {
 public:
  explicit AutocastGuard(std::optional<DType> lower);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  std::optional<DType> before_;
};
std::optional<DType> autocast_dtype();  // none: off

enum class Phase : uint8_t { forward, backward, optimizer };

// What one micro-batch is to the ops inside it (arithmetic.md 7): whose samples, which randomness, how sums are cut.
struct RunScope {
  uint64_t seed = 0;
  uint64_t first_sample = 0;  // consumed samples before this micro-batch
  int64_t samples = 0;        // along axis 0 of what enters an op
  int64_t sample_leaf = 1;    // G: consecutive samples that share one chain of a sum over samples

  bool same_samples(const RunScope& o) const {
    return samples == o.samples && (samples == 0 || (seed == o.seed && first_sample == o.first_sample && sample_leaf == o.sample_leaf));
  }
  // Whether axis 0 of `shape` is the sample axis: as many rows for each sample.
  bool by_sample(const Shape& shape) const { return samples > 0 && shape.axes() > 0 && shape[0] > 0 && shape[0] % samples == 0; }
  // Rows of one sample leaf when a tensor of `shape` enters a sum over `rows` leading rows; 0: one leaf.
  int64_t leaf_rows(const Shape& shape, int64_t rows) const { return by_sample(shape) ? rows / samples * sample_leaf : 0; }
};

// What is counted while a scope is open. Copied, it is the scope at that moment: a recomputation draws the same again.
struct ScopeState {
  RunScope scope;
  uint64_t serial = 0;                              // differs between any two scopes of the process; 0 outside
  std::unordered_map<std::string, uint32_t> draws;  // purpose and path -> calls so far
};

// Opens a RunScope on this thread; draws and leaf uses are counted anew. Or goes on from a state kept earlier.
class RunScopeGuard {
 public:
  explicit RunScopeGuard(const RunScope& scope);
  explicit RunScopeGuard(ScopeState state);
  ~RunScopeGuard();
  RunScopeGuard(const RunScopeGuard&) = delete;
  RunScopeGuard& operator=(const RunScopeGuard&) = delete;

 private:
  ScopeState state_;
  ScopeState* outer_;
};

const RunScope* current_scope();   // nullptr outside
uint64_t current_scope_serial();   // 0 outside
const ScopeState* current_scope_state();  // nullptr outside

// The op id of the next draw of this module path: hash(purpose, path, ordinal). Outside of a scope the path is "user"'s running ordinal.
uint32_t draw_id(const char* purpose);
uint32_t draw_id(const char* purpose, const std::string& path, uint32_t ordinal);

// Pushes one component of the module path ("encoder", "layer.0") for the ops inside.
class PathGuard {
 public:
  explicit PathGuard(const std::string& component);
  ~PathGuard();
  PathGuard(const PathGuard&) = delete;
  PathGuard& operator=(const PathGuard&) = delete;

 private:
  size_t length_;
};
const std::string& module_path();  // dotted, empty at the root

// The module path of an earlier moment, for ops that are run again.
class PathOf {
 public:
  explicit PathOf(const std::string& path);
  ~PathOf();
  PathOf(const PathOf&) = delete;
  PathOf& operator=(const PathOf&) = delete;

 private:
  std::string before_;
};

}  // namespace rote
