// trainer/curves.h — what runs have logged: their histories as tables, as curves over the step, and axes with round ticks. Draws nothing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainer/state.h"

namespace rote {

struct RunLogs {
  std::string name;  // the place as it was given
  std::vector<Logs> history;
};

// `place`: a trainer_state.json, a folder that holds one, or a run folder whose newest checkpoint does.
// Throws IoError where there is none, ArgumentError where it is no state or its history is empty.
RunLogs read_logs(const std::string& place);

// The keys under which numbers were logged, in order of first appearance; `step` and `epoch` are not among them.
std::vector<std::string> logged_keys(const std::vector<RunLogs>& runs);
// Of those: what is measured, not how fast or how large; and the losses, the mean over the run left out.
std::vector<std::string> table_keys(const std::vector<std::string>& logged);
std::vector<std::string> loss_keys(const std::vector<std::string>& logged);
// Throws ArgumentError naming the first of `keys` that no run has logged.
void check_keys(const std::vector<std::string>& keys, const std::vector<RunLogs>& runs);

// Columns step, epoch and `keys`; one line a step, numbers with four digits. Lines of the same step are joined where they do not contradict.
std::string log_table(const RunLogs& run, const std::vector<std::string>& keys);

struct Curve {
  std::string name;                                // the key; of several runs `run: key`
  std::vector<std::pair<double, double>> points;   // step and number, steps ascending; what is not finite or beyond 1e300 is left out
};
// Without those that have no point.
std::vector<Curve> curves_of(const std::vector<RunLogs>& runs, const std::vector<std::string>& keys);

// Ticks at (first + i)·step for i <= count, where step is 1, 2 or 5 times a power of ten: the first is at or below the data, the last at or above.
struct Axis {
  double step = 1;
  int64_t first = 0, count = 1;
  double low() const { return static_cast<double>(first) * step; }
  double high() const { return static_cast<double>(first + count) * step; }
  double at(int64_t i) const { return static_cast<double>(first + i) * step; }
  // Where x lies between low (0) and high (1).
  double share(double x) const { return (x - low()) / (high() - low()); }
  std::string label(int64_t i) const;
};
// At most `most` + 1 intervals. whole: the step is a whole number.
Axis round_axis(double low, double high, int64_t most, bool whole = false);

struct Axes {
  Axis x, y;
};
// That hold every curve. REQUIRES: there is a point.
Axes axes_of(const std::vector<Curve>& curves, int64_t most_x, int64_t most_y);

}  // namespace rote
