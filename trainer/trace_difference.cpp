#include "trainer/trace_difference.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "kernels/check.h"

namespace rote {

namespace {

bool is_start(const TraceStep& step, const TraceNames& names) {
  return std::all_of(step.records.begin(), step.records.end(), [&](const TraceRecord& r) { return names[r.name].role == TraceRole::parameter; });
}

// The places of the records of the level, from the role `first` on.
std::vector<size_t> places(const TraceStep& step, const TraceNames& names, TraceLevel level, TraceRole first) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < step.records.size(); ++i)
    if (const TraceRole role = names[step.records[i].name].role; role >= first && level_of(role) <= level) kept.push_back(i);
  return kept;
}

// Those begun by record `last`: one begins where the first tensor of a batch comes again.
int64_t micro_batches(const TraceStep& step, const TraceNames& names, size_t last) {
  int64_t n = 0;
  for (size_t i = 0; i < step.records.size() && i <= last; ++i)
    if (step.records[i].name == step.records[0].name && names[step.records[i].name].role == TraceRole::batch) ++n;
  return n;
}

struct Side {
  TraceReader reader;
  std::optional<TraceStep> step;

  explicit Side(const std::string& path) : reader(path), step(reader.next()) {}
};

constexpr size_t kAll = std::numeric_limits<size_t>::max();

bool is_cut_otherwise(const Side& a, const Side& b) { return micro_batches(*a.step, a.reader.names(), kAll) != micro_batches(*b.step, b.reader.names(), kAll); }

std::optional<TraceDifference> difference(const Side& a, const Side& b, TraceLevel level) {
  const TraceStep &x = *a.step, &y = *b.step;
  const TraceNames &x_names = a.reader.names(), &y_names = b.reader.names();
  TraceDifference found{.step = x.step, .at_start = is_start(x, x_names) || is_start(y, y_names), .micro_batches = micro_batches(x, x_names, kAll)};
  const TraceRole from = found.at_start ? TraceRole::parameter : is_cut_otherwise(a, b) ? TraceRole::gradient : TraceRole::batch;
  const std::vector<size_t> left = places(x, x_names, level, from), right = places(y, y_names, level, from);
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const TraceRecord* one = i < left.size() ? &x.records[left[i]] : nullptr;
    const TraceRecord* other = i < right.size() ? &y.records[right[i]] : nullptr;
    if (one && other && one->hash == other->hash && x_names[one->name] == y_names[other->name]) continue;
    if (one) found.name = x_names[one->name], found.record = left[i];
    if (other) found.other_name = y_names[other->name], found.other_record = right[i];
    found.inputs_equal = one && other && one->inputs == other->inputs;
    found.micro_batch = micro_batches(x, x_names, found.record);
    return found;
  }
  return {};
}

// What is known of the cause, as all that was recorded before is equal.
std::string cause(const TraceDifference& d) {
  switch (d.name->role) {
    case TraceRole::batch: return "the data differ";
    case TraceRole::op:
    case TraceRole::op_backward: return d.inputs_equal ? "its inputs are equal: this op did it" : "its inputs differ too, in a tensor that no op of the trace has given";
    case TraceRole::module: return "what ended before it is equal: this module did it";
    case TraceRole::loss: return "what was recorded before it is equal: the forward did it";
    case TraceRole::gradient: return "what was recorded before it is equal: the backward did it";
    case TraceRole::parameter: break;
  }
  return d.at_start ? "the runs begin with other weights" : "all gradients are equal: the update did it, by its rate, its decay or its moments";
}

std::string place_text(const std::optional<TraceName>& name, const std::string& path) { return path + (name ? " has " + describe(*name) : " has nothing more"); }

}  // namespace

std::optional<std::string> trace_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const std::string file = (fs::path(path) / kTraceFile).string();
    return is_file(file) ? std::optional(file) : std::nullopt;
  }
  std::string begin(std::size(kTraceMagic) - 1, '\0');
  std::ifstream in(path, std::ios::binary);
  return is_file(path) && in.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kTraceMagic ? std::optional(path) : std::nullopt;
}

TraceComparison compare_traces(const std::string& path, const std::string& other, std::optional<int64_t> last) {
  Side a(path), b(other);
  TraceComparison result{.level = std::min(a.reader.level(), b.reader.level())};
  const auto is_over = [&](const Side& side) { return !side.step || (last && side.step->step > *last); };
  while (!is_over(a) && !is_over(b)) {
    if (a.step->step != b.step->step) {
      Side& behind = a.step->step < b.step->step ? a : b;
      behind.step = behind.reader.next();
      continue;
    }
    std::optional<TraceDifference> found = difference(a, b, result.level);
    const bool is_update = !is_start(*a.step, a.reader.names()) && !is_start(*b.step, b.reader.names());
    result.compared += is_update;
    result.differing += is_update && found;
    result.cut_otherwise += is_update && is_cut_otherwise(a, b);
    if (found && !result.first) result.first = std::move(found);
    a.step = a.reader.next();
    b.step = b.reader.next();
  }
  ROTE_CHECK(result.compared > 0, IoError, path, " and ", other, " have no step in common; give the traces of two runs of the same steps.");
  for (; !is_over(a); a.step = a.reader.next()) ++result.alone;
  for (; !is_over(b); b.step = b.reader.next()) ++result.other_alone;
  return result;
}

std::string describe(const TraceComparison& c, const std::string& path, const std::string& other) {
  std::string rest;
  if (c.alone > 0) rest = str("; ", path, " alone goes on for ", c.alone, " more");
  if (c.other_alone > 0) rest = str("; ", other, " alone goes on for ", c.other_alone, " more");
  if (c.cut_otherwise > 0) rest += str("; ", c.cut_otherwise, " are cut into other micro-batches, gradients and parameters alone are compared there");
  if (!c.first) return str("equal: ", c.compared, c.compared == 1 ? " step" : " steps", ", by hashes of level ", word_of(c.level), rest, "\n");
  const TraceDifference& d = *c.first;
  const std::string first = d.at_start ? std::string("as do the parameters that they begin with") : str("the first is step ", d.step);
  std::string text = str(c.differing, " of ", c.compared, " steps differ, ", first, rest, "\n");
  if (!d.is_of_one_tensor()) return text + str("there ", place_text(d.name, path), ", ", place_text(d.other_name, other), ": they compute different things\n");
  text += describe(*d.name);
  if (d.micro_batches > 1 && d.name->role <= TraceRole::op_backward) text += str(", in micro-batch ", d.micro_batch, " of ", d.micro_batches);
  return text + "; " + cause(d) + "\n";
}

}  // namespace rote
