// trainer/trace_difference.h — where two traces part: the first step, and in it the first tensor. Values are not in a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/trace_file.h"

namespace rote {

struct TraceDifference {
  int64_t step = 0;
  bool at_start = false;   // one of them begins behind this step: its parameters alone are compared
  size_t record = 0, other_record = 0;  // of the step, in the one and in the other trace
  std::optional<TraceName> name = {}, other_name = {};  // what stands there; none where that one's step has ended
  bool inputs_equal = false;                  // of an op and of its backward
  int64_t micro_batch = 0, micro_batches = 0;

  // Both computed the same tensor and got other bits.
  bool is_of_one_tensor() const { return name && name == other_name; }
};

struct TraceComparison {
  TraceLevel level = TraceLevel::no;     // the lower of the two, which both hold
  int64_t compared = 0, differing = 0;   // updates that both have
  int64_t cut_otherwise = 0;             // of these, into other micro-batches: gradients and parameters alone are compared
  int64_t alone = 0, other_alone = 0;    // updates that one of them has behind the last common one
  std::optional<TraceDifference> first = {};

  bool is_equal() const { return !first && alone == 0 && other_alone == 0; }
};

// The trace.bin of a run folder, or the file itself; none where the path is no trace and holds none.
std::optional<std::string> trace_of(const std::string& path);

// Up to step `last` where it is given. Throws IoError for files that are no whole traces or have no step in common.
TraceComparison compare_traces(const std::string& path, const std::string& other, std::optional<int64_t> last = {});

// Two lines; one where nothing differs.
std::string describe(const TraceComparison& comparison, const std::string& path, const std::string& other);

}  // namespace rote
