#include "trainer/numerics_table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "kernels/check.h"
#include "tensor/file.h"
#include "tensor/sort_stably.h"
#include "trainer/json_text.h"
#include "trainer/numerics.h"
#include "trainer/python_text.h"

namespace rote {

namespace {

constexpr double kFalling = 1;       // bits: the magnitude has doubled
constexpr double kMostBits = 1 << 12;  // between any two numbers of a format

// A line of the file, whose faults name it.
struct Line {
  const std::string& file;
  int64_t number;

  [[noreturn]] void fault(const std::string& what) const {
    throw ArgumentError(str(file, ":", number, ": ", what, "; it is no ", kNumericsFile, " that a run with --log_numerics wrote."));
  }
  const Value& at(const ValueMap& map, const char* key) const {
    const Value* found = map.find(key);
    if (found == nullptr) fault(str("has no ", key));
    return *found;
  }
  std::string text(const ValueMap& map, const char* key) const {
    const std::string* found = at(map, key).as_text();
    if (found == nullptr) fault(str(key, " is no text"));
    return shown(*found);
  }
  double number_of(const ValueMap& map, const char* key) const {
    double found = 0;
    if (!at(map, key).number(found) || !std::isfinite(found)) fault(str(key, " is no finite number"));
    return found;
  }
  double bits_of(const ValueMap& map, const char* key) const {
    const double found = number_of(map, key);
    if (std::abs(found) > kMostBits) fault(str(key, " is ", found, ", more than lie between any two numbers of a format"));
    return found;
  }
};

void add_entry(const Line& line, const ValueMap& entry, int64_t step, std::map<std::string, NumericsRow>& rows) {
  if (line.at(entry, "headroom_bits").is_null()) return;  // of zeros
  NumericsRow one{.module = line.text(entry, "module"), .what = line.text(entry, "what"), .dtype = line.text(entry, "dtype"), .source = line.text(entry, "source"),
                  .amax = line.number_of(entry, "amax"), .headroom_bits = line.bits_of(entry, "headroom_bits"), .underflow = line.number_of(entry, "underflow"), .step = step};
  const auto [found, is_new] = rows.emplace(one.module + '\n' + one.what + '\n' + one.dtype, one);
  NumericsRow& row = found->second;
  row.headrooms.push_back(one.headroom_bits);
  if (is_new || one.headroom_bits >= row.headroom_bits) return;
  one.headrooms = std::move(row.headrooms);
  row = std::move(one);
}

double mean(const double* x, size_t n) { return std::accumulate(x, x + n, 0.0) / static_cast<double>(n); }

double fallen(const std::vector<double>& headrooms) {
  const size_t n = headrooms.size(), quarter = n / 4;
  return n < kFewestLines ? 0 : mean(headrooms.data(), quarter) - mean(headrooms.data() + n - quarter, quarter);
}

// Columns side by side: the first three and the last to the left, numbers to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      const bool is_text = i < 3 || i + 1 == row.size();
      line += (i == 0 ? "" : "  ") + (is_text ? row[i] + blanks : blanks + row[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

RunNumerics read_numerics(const std::string& place) {
  namespace fs = std::filesystem;
  ROTE_CHECK(fs::exists(place), IoError, place, " does not exist; give a run folder or its ", kNumericsFile, ".");
  const std::string file = fs::is_directory(place) ? (fs::path(place) / kNumericsFile).string() : place;
  ROTE_CHECK(fs::exists(file), IoError, place, " holds no ", kNumericsFile, "; a run with --log_numerics true writes it.");
  RunNumerics run{.name = file};
  std::map<std::string, NumericsRow> rows;
  const std::string text = read_file(file);
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    const Line line{file, ++run.lines};
    const Value parsed = parse_json(text.substr(begin, end - begin), str(file, ":", run.lines));
    if (parsed.as_map() == nullptr) line.fault("is no map");
    const int64_t* step = line.at(*parsed.as_map(), "step").as_int();
    const ValueList* entries = line.at(*parsed.as_map(), "numerics").as_list();
    if (step == nullptr) line.fault("step is no whole number");
    if (run.lines > 1 && *step <= run.last_step) line.fault(str("step ", *step, " comes after step ", run.last_step));
    if (entries == nullptr) line.fault("numerics is no list");
    if (run.lines == 1) run.first_step = *step;
    run.last_step = *step;
    for (const Value& entry : *entries) {
      if (entry.as_map() == nullptr) line.fault("an entry of numerics is no map");
      add_entry(line, *entry.as_map(), *step, rows);
    }
  }
  ROTE_CHECK(run.lines > 0, ArgumentError, file, ": holds no whole line; the run has not logged yet, which it does every --logging_steps updates.");
  for (auto& [key, row] : rows) {
    row.fallen = fallen(row.headrooms);
    run.rows.push_back(std::move(row));
  }
  sort_stably(run.rows, [](const NumericsRow& a, const NumericsRow& b) { return a.headroom_bits < b.headroom_bits; });
  return run;
}

std::string numerics_text(const RunNumerics& run, const NumericsTable& table) {
  const auto is_near = [&](const NumericsRow& row) { return row.headroom_bits < table.near; };
  const size_t near = static_cast<size_t>(std::count_if(run.rows.begin(), run.rows.end(), is_near));
  const size_t shown = table.rows == 0 ? run.rows.size() : std::min(run.rows.size(), near + static_cast<size_t>(table.rows));
  std::vector<std::vector<std::string>> cells = {{"module", "what", "dtype", "amax", "headroom", "underflow", "step", ""}};
  for (size_t i = 0; i < shown; ++i) {
    const NumericsRow& row = run.rows[i];
    std::string marks = is_near(row) ? "near" : "";
    if (row.fallen >= kFalling) marks += str(marks.empty() ? "" : ", ", "falling, by ", fixed_float(row.fallen, 1));
    cells.push_back({row.module.empty() ? "the model" : row.module, row.what, row.dtype, general_float(row.amax, 4), fixed_float(row.headroom_bits, 1), general_float(row.underflow, 3),
                     std::to_string(row.step), marks});
  }
  std::string text = aligned(cells);
  if (shown < run.rows.size()) text += str("and ", run.rows.size() - shown, " more with more headroom (--rows 0 shows all)\n");
  const std::string lines = str(run.lines, run.lines == 1 ? " line, of step " : " lines, of steps ", run.first_step, run.lines == 1 ? "" : str(" to ", run.last_step));
  const std::string bits = general_float(table.near, 4) + (table.near == 1 ? " bit" : " bits");
  if (near == 0) return text + str("No module comes within ", bits, " of the end of its format (", lines, ").\n");
  text += str(near, near == 1 ? " row comes" : " rows come", " within ", bits, " of the end of its format (", lines, ").");
  const bool of_gradients = std::any_of(run.rows.begin(), run.rows.begin() + static_cast<std::ptrdiff_t>(near), [](const NumericsRow& row) { return row.what == "gradients"; });
  if (of_gradients) text += " Gradients hold the loss scale, which grows until they come near: the run lowers it by itself.";
  return text + "\n";
}

}  // namespace rote
