// trainer/numerics_table.h — what `rote numerics` tells of a run's numerics.jsonl: which modules come near the limits of their formats. Writing it:
// numerics.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rote {

// The numbers of one module, of one kind, in one dtype over a run, as they were where they came nearest to its limit.
struct NumericsRow {
  std::string module, what, dtype, source;
  double amax = 0, headroom_bits = 0, underflow = 0;
  int64_t step = 0;                    // the first of the least headroom
  std::vector<double> headrooms = {};  // of each line that has the module, in order
  double fallen = 0;                   // bits between the means of the first and the last quarter of them; 0 where there are fewer than kFewestLines
};
inline constexpr size_t kFewestLines = 4;

struct RunNumerics {
  std::string name;  // the file
  int64_t lines = 0, first_step = 0, last_step = 0;
  std::vector<NumericsRow> rows = {};  // least headroom first
};

// `place`: a run folder or its numerics.jsonl. Without those that were 0 throughout. A last line that a kill has cut off is left out.
// Throws IoError where there is none, ArgumentError, with the line, where it is not as Rote writes it.
RunNumerics read_numerics(const std::string& place);

struct NumericsTable {
  double near = 4;    // bits of headroom below which a module is near
  int64_t rows = 20;  // that are shown beside those; 0: all
};
// The rows that are near, then others, and a sentence on how it stands.
std::string numerics_text(const RunNumerics& run, const NumericsTable& table);

}  // namespace rote
