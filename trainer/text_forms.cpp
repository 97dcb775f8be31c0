// trainer/text_forms.cpp — aligning and formatting metrics, results files.
#include "trainer/text_forms.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/json_text.h"
#include "trainer/python_text.h"

namespace rote {

namespace {

// Python's timedelta of whole seconds, and hundredths cut off: `1 day, 1:01:01.50`.
std::string runtime_text(double seconds) {
  const int64_t whole = static_cast<int64_t>(seconds);
  const int hundredths = static_cast<int>(std::abs(seconds - static_cast<double>(whole)) * 100);
  const int64_t days = whole / 86400 - (whole % 86400 < 0 ? 1 : 0), rest = whole - days * 86400;
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%d:%02d:%02d.%02d", static_cast<int>(rest / 3600), static_cast<int>(rest / 60 % 60),
                static_cast<int>(rest % 60), hundredths);
  return (days != 0 ? str(days, std::abs(days) == 1 ? " day, " : " days, ") : "") + buffer;
}

std::string metric_text(const std::string& name, const Value& value) {
  double number = 0;
  if (value.number(number) && std::isfinite(number)) {
    if (name.find("_mem_") != std::string::npos) return str(static_cast<int64_t>(number) >> 20, "MB");
    if (name.find("_runtime") != std::string::npos) return runtime_text(number);
    if (name == "total_flos") return str(static_cast<int64_t>(number) >> 30, "GF");
    if (value.as_float()) return python_float(rounded(number, 4));
  }
  return python_str(value);
}

// What fills a text up to a width.
std::string blanks(int64_t width, const std::string& text) { return std::string(static_cast<size_t>(width - code_points(text)), ' '); }

ValueMap read_results(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in.good()) return {};
  std::ostringstream text;
  text << in.rdbuf();
  const Value read = parse_json(text.str(), path);
  ROTE_CHECK(read.as_map(), ArgumentError, path, ": holds no map of results; move it away or choose another folder.");
  return *read.as_map();
}

}  // namespace

std::string metrics_text(const std::string& split, const Metrics& metrics) {
  std::vector<std::pair<std::string, std::string>> lines;
  int64_t name_width = 0, value_width = 0;
  Metrics sorted = metrics;
  sorted.sort_by_name();
  for (const auto& [name, value] : sorted) {
    lines.emplace_back(name, metric_text(name, value));
    name_width = std::max(name_width, code_points(name));
    value_width = std::max(value_width, code_points(lines.back().second));
  }
  std::string out = "***** " + split + " metrics *****\n";
  for (const auto& [name, value] : lines) out += "  " + name + blanks(name_width, name) + " = " + blanks(value_width, value) + value + "\n";
  return out;
}

std::string metrics_table(const std::vector<std::pair<std::string, Metrics>>& splits) {
  std::map<std::string, std::vector<std::string>> rows;
  std::vector<std::vector<std::string>> lines = {{""}};
  for (size_t i = 0; i < splits.size(); ++i) {
    const auto& [split, metrics] = splits[i];
    lines[0].push_back(split);
    for (const auto& [name, value] : metrics) {
      std::vector<std::string>& row = rows[name.starts_with(split + "_") ? name.substr(split.size() + 1) : name];
      row.resize(splits.size(), "-");
      row[i] = metric_text(name, value);
    }
  }
  for (const auto& [name, values] : rows) {
    lines.push_back({name});
    lines.back().insert(lines.back().end(), values.begin(), values.end());
  }
  std::vector<int64_t> widths(splits.size() + 1);
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], code_points(line[i]));
  std::string out;
  for (const auto& line : lines) {
    out += "  " + line[0] + blanks(widths[0], line[0]);
    for (size_t i = 1; i < line.size(); ++i) out += "  " + blanks(widths[i], line[i]) + line[i];
    out += "\n";
  }
  return out;
}

void save_metrics(const std::string& folder, const std::string& split, const Metrics& metrics, SaveMetrics options) {
  const JsonStyle style{.indent = 4, .sort_keys = true};
  const std::filesystem::path root = folder;
  write_file((root / (split + "_results.json")).string(), json_text(metrics, style));
  if (!options.combined) return;
  const std::string all = (root / "all_results.json").string();
  ValueMap results = read_results(all);
  for (const auto& [name, value] : metrics) results.set(name, value);
  write_file(all, json_text(results, style));
}

Metrics speed_metrics(const std::string& split, const Speed& speed) {
  Metrics out{{split + "_runtime", rounded(speed.seconds, 4)}};
  const double busy = speed.seconds - speed.left_out;
  if (busy <= 0) return out;
  const std::pair<const char*, std::optional<double>> rates[] = {{"samples", speed.samples}, {"steps", speed.steps}, {"tokens", speed.tokens}};
  for (const auto& [what, count] : rates)
    if (count) out.set(split + "_" + what + "_per_second", rounded(*count / busy, 3));
  return out;
}

}  // namespace rote
