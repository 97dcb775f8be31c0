#include "autograd/status.h"

#include <unordered_map>

#include "kernels/check.h"

namespace rote {

namespace {

struct Paths {
  std::unordered_map<std::string, int> ids{{"", 0}};
  std::vector<std::string> names{""};
};

thread_local std::optional<StatusRecord> first;  // the first that holds Inf or NaN
thread_local Paths paths;
thread_local uint64_t sequence = 0;

}  // namespace

void clear_status() { first.reset(); }

void record_status(const StatusRecord& record) {
  ++sequence;
  if (record.amax < kInfBits || first) return;
  first = record;
  first->sequence = sequence;
}

int intern_path(const std::string& path) {
  const auto [found, is_new] = paths.ids.emplace(path, static_cast<int>(paths.names.size()));
  if (is_new) paths.names.push_back(path);
  return found->second;
}

const std::string& status_path(int id) { return paths.names[static_cast<size_t>(id)]; }

std::optional<StatusRecord> first_non_finite() { return first; }

std::string describe(const StatusRecord& r) {
  const char* phase = r.phase == Phase::forward ? "forward" : r.phase == Phase::backward ? "backward" : "optimizer";
  const std::string& path = status_path(r.path);
  return str("first ", r.amax > kInfBits ? "nan" : "inf", " in ", path.empty() ? "the model" : path, " (", r.op, ", ", r.shape, ", ", phase, ")");
}

}  // namespace rote
