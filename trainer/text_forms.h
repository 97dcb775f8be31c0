// trainer/text_forms.h — metrics as they are printed and saved: log_metrics, a table of splits, save_metrics, speed_metrics. No metric of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/state.h"

namespace rote {

// The block that log_metrics prints: a title, then sorted names and aligned values. Runtimes as h:mm:ss.cc, `_mem_` as MB, total_flos as GF,
// other floats with four decimals.
std::string metrics_text(const std::string& split, const Metrics& metrics);

// Splits side by side, a column each: names without `<split>_` in front, sorted, and `-` where a split lacks one.
std::string metrics_table(const std::vector<std::pair<std::string, Metrics>>& splits);

// Writes <folder>/<split>_results.json and, when combined, merges the metrics into <folder>/all_results.json. Throws IoError.
struct SaveMetrics {
  bool combined = true;
};
void save_metrics(const std::string& folder, const std::string& split, const Metrics& metrics, SaveMetrics options = {});

struct Speed {
  double seconds = 0;  // runtime
  std::optional<double> samples{};
  std::optional<double> steps{};
  std::optional<double> tokens{};
  double left_out = 0;  // seconds of the runtime that the rates do not count: warm-up, logging, evaluation, saving
};

// <split>_runtime (4 decimals), then <split>_samples_per_second, _steps_per_second and _tokens_per_second (3) of what is given. A runtime of 0 has no rates.
Metrics speed_metrics(const std::string& split, const Speed& speed);

}  // namespace rote
