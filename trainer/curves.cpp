#include "trainer/curves.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/checkpoint.h"
#include "trainer/python_text.h"

namespace rote {

namespace fs = std::filesystem;

namespace {

constexpr double kFarthest = 1e300;  // of a curve's points: an axis has room beyond

fs::path state_file(const std::string& place) {
  const fs::path path = place, name = "trainer_state.json";
  ROTE_CHECK(fs::exists(path), IoError, place, " does not exist; give a run folder, a checkpoint or a trainer_state.json.");
  if (!fs::is_directory(path)) return path;
  if (fs::exists(path / name)) return path / name;
  const std::optional<fs::path> last = get_last_checkpoint(path);
  ROTE_CHECK(last && fs::exists(*last / name), IoError, place, " holds no trainer_state.json, nor does its newest checkpoint; a run writes it when it saves and when it ends.");
  return *last / name;
}

Logs with_shown_names(const Logs& entry) {
  Logs out;
  for (const auto& [name, value] : entry) out.set(shown(name), value);
  return out;
}

std::optional<double> number_in(const Logs& entry, const std::string& key) {
  const Value* value = entry.find(key);
  double number = 0;
  if (!value || !value->number(number)) return std::nullopt;
  return number;
}

std::string cell(const Logs& entry, const std::string& key) {
  const Value* value = entry.find(key);
  double number = 0;
  if (!value || !value->number(number)) return "";
  return value->as_int() ? std::to_string(*value->as_int()) : general_float(number, 4);
}

// What `more` adds to `row`, both by column; false where they contradict.
bool join(std::vector<std::string>& row, const std::vector<std::string>& more) {
  if (row[0].empty()) return false;  // without a step
  for (size_t i = 0; i < row.size(); ++i)
    if (!row[i].empty() && !more[i].empty() && row[i] != more[i]) return false;
  for (size_t i = 0; i < row.size(); ++i)
    if (row[i].empty()) row[i] = more[i];
  return true;
}

// Of the form 1, 2 or 5 times 10^k, at or above x > 0.
double round_step(double x) {
  double power = 1;
  while (power > x) power /= 10;
  while (power * 10 <= x) power *= 10;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= x) return factor * power;
  return 10 * power;
}

}  // namespace

RunLogs read_logs(const std::string& place) {
  const std::string path = state_file(place).string();
  RunLogs run{shown(place), {}};
  for (const Logs& entry : parse_state(read_file(path), path).state.log_history) run.history.push_back(with_shown_names(entry));
  while (run.name.size() > 1 && run.name.back() == '/') run.name.pop_back();
  ROTE_CHECK(!run.history.empty(), ArgumentError, path, ": its log history is empty; a run logs every --logging_steps updates.");
  return run;
}

std::vector<std::string> logged_keys(const std::vector<RunLogs>& runs) {
  std::vector<std::string> keys;
  for (const RunLogs& run : runs)
    for (const Logs& entry : run.history)
      for (const auto& [key, value] : entry) {
        double number = 0;
        if (key == "step" || key == "epoch" || !value.number(number) || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        keys.push_back(key);
      }
  return keys;
}

std::vector<std::string> table_keys(const std::vector<std::string>& logged) {
  std::vector<std::string> keys;
  for (const std::string& key : logged) {
    const bool speed = key.ends_with("_runtime") || key.ends_with("_per_second") || key.find("_mem_") != std::string::npos;
    if (!speed && key != "total_flos" && key != "num_input_tokens_seen") keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> loss_keys(const std::vector<std::string>& logged) {
  std::vector<std::string> keys;
  for (const std::string& key : logged)
    if (key == "loss" || (key.ends_with("_loss") && key != "train_loss")) keys.push_back(key);
  return keys;
}

void check_keys(const std::vector<std::string>& keys, const std::vector<RunLogs>& runs) {
  const std::vector<std::string> logged = logged_keys(runs);
  for (const std::string& key : keys) {
    if (std::find(logged.begin(), logged.end(), key) != logged.end()) continue;
    throw ArgumentError(str("--keys: no run has logged '", key, "'; they have logged ", joined(logged), "."));
  }
}

std::string log_table(const RunLogs& run, const std::vector<std::string>& keys) {
  std::vector<std::string> columns = {"step", "epoch"};
  columns.insert(columns.end(), keys.begin(), keys.end());
  std::vector<std::vector<std::string>> rows = {columns};
  for (const Logs& entry : run.history) {
    std::vector<std::string> row;
    for (const std::string& column : columns) row.push_back(cell(entry, column));
    if (std::all_of(row.begin() + 2, row.end(), [](const std::string& text) { return text.empty(); })) continue;
    if (rows.size() == 1 || rows.back()[0] != row[0] || !join(rows.back(), row)) rows.push_back(row);
  }
  std::string text;
  std::vector<size_t> widths(columns.size(), 0);
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : "  ") + std::string(widths[i] - row[i].size(), ' ') + row[i];
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::vector<Curve> curves_of(const std::vector<RunLogs>& runs, const std::vector<std::string>& keys) {
  std::vector<Curve> curves;
  for (const RunLogs& run : runs) {
    for (const std::string& key : keys) {
      std::map<double, double> points;  // a run that was resumed may log a step again: the last one counts
      for (const Logs& entry : run.history) {
        const std::optional<double> step = number_in(entry, "step"), number = number_in(entry, key);
        if (step && number && std::fabs(*step) < kFarthest && std::fabs(*number) < kFarthest) points[*step] = *number;
      }
      if (!points.empty()) curves.push_back({runs.size() == 1 ? key : run.name + ": " + key, {points.begin(), points.end()}});
    }
  }
  return curves;
}

std::string Axis::label(int64_t i) const {
  const double x = at(i);
  int decimals = 0;
  for (double unit = step; unit < 0.999 && decimals < 5; unit *= 10) ++decimals;
  if (x == 0) return "0";
  if (decimals > 4 || std::fabs(x) >= 1e7) return general_float(x, 4);
  return fixed_float(x, decimals);
}

Axis round_axis(double low, double high, int64_t most, bool whole) {
  const double size = std::max(std::fabs(low), std::fabs(high));
  if (!(high - low > 1e-9 * size)) {  // one number, or as good as one
    const double room = size > 1e-9 ? size / 2 : 1;
    low -= room, high += room;
  }
  Axis axis;
  axis.step = round_step(std::max(high / static_cast<double>(most) - low / static_cast<double>(most), 1e-300));
  if (whole) axis.step = std::max(axis.step, 1.0);
  const double first = std::floor(low / axis.step + 1e-9), last = std::ceil(high / axis.step - 1e-9);
  axis.first = static_cast<int64_t>(first);
  axis.count = std::max<int64_t>(static_cast<int64_t>(last) - axis.first, 1);
  return axis;
}

Axes axes_of(const std::vector<Curve>& curves, int64_t most_x, int64_t most_y) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  double left = kFar, right = -kFar, low = kFar, high = -kFar;
  for (const Curve& curve : curves)
    for (const auto& [x, y] : curve.points) {
      left = std::min(left, x), right = std::max(right, x);
      low = std::min(low, y), high = std::max(high, y);
    }
  ROTE_ASSERT(left <= right, "there is a point");
  return {round_axis(std::min(left, 0.0), right, most_x, true), round_axis(low, high, most_y)};
}

}  // namespace rote
