#include "autograd/status.h"

#include <algorithm>
#include <bit>
#include <deque>
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

struct Written {
  const char* op;
  int path;
  Phase phase;
  uint32_t amax;
};
constexpr size_t kPages = 6, kPageEntries = 1 << 16;
thread_local std::deque<std::vector<Written>> pages{1};  // the last one is being written

// The least f32 magnitude that rounds to infinity (arithmetic.md 9), and the bits of that infinity.
uint32_t overflow_from(DType t) { return t == DType::f16 ? 0x477FF000u : 0x7F7F8000u; }
uint16_t infinity_of(DType t) { return t == DType::f16 ? 0x7C00 : 0x7F80; }

bool holds_infinity(const Tensor& x) {
  const Tensor plain = contiguous(x);
  const uint16_t* bits = static_cast<const uint16_t*>(plain.raw());
  const uint16_t infinity = infinity_of(x.dtype());
  uint32_t largest = 0;
  for (int64_t i = 0; i < plain.numel(); ++i) largest = std::max(largest, bits[i] & 0x7FFFu);
  return largest >= infinity;
}

}  // namespace

uint32_t stored_word(uint32_t amax, const std::vector<Tensor>& stored) {
  if (amax >= kInfBits) return amax;
  for (const Tensor& x : stored)
    if (x.defined() && size_of(x.dtype()) == 2 && is_floating(x.dtype()) && amax >= overflow_from(x.dtype()) && holds_infinity(x)) return kInfBits;
  return amax;
}

void clear_status() {
  first.reset();
  if (pages.back().empty()) return;
  std::vector<Written> page;
  if (pages.size() == kPages) {
    page = std::move(pages.front());  // its memory
    pages.pop_front();
    page.clear();
  }
  pages.push_back(std::move(page));
}

void record_status(const StatusRecord& record) {
  ++sequence;
  if (pages.back().size() < kPageEntries) pages.back().push_back({record.op, record.path, record.phase, record.written});
  if (record.amax < kInfBits || first) return;
  first = record;
  first->sequence = sequence;
}

std::vector<float> amax_history(const std::string& op, const std::string& path, Phase phase) {
  std::vector<float> history;
  for (const std::vector<Written>& page : pages) {
    uint32_t amax = 0;
    bool found = false;
    for (const Written& one : page)
      if (one.phase == phase && one.op == op && status_path(one.path) == path) amax = std::max(amax, one.amax), found = true;
    if (found) history.push_back(std::bit_cast<float>(amax));
  }
  return history;
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
