// tests/kernels/summation.h — the tree of additions of a sum: as masking inputs reveal it from outside, and as the specification (spec.h) builds it.
// Xie, Gao and Xue 2024, "Revealing floating-point accumulation orders in software/hardware implementations" (FPRev), arXiv:2411.00442.
//
// A tree over terms is known once it is known, for every two of them, how many terms lie under the addition where they meet. Probes are the terms
// that are told apart; all others are 0, which no addition notices.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/spec.h"

namespace rote::testing {

// For every two probes the number of probes under the addition where they meet.
struct Meetings {
  explicit Meetings(size_t probes) : count(probes), sizes(probes * probes, 0) {}
  double& at(size_t i, size_t j) { return sizes[std::min(i, j) * count + std::max(i, j)]; }

  size_t count;
  std::vector<double> sizes;
};

// A sum without numbers, whose additions are noted. The specification is run with it in place of float.
class Terms {
 public:
  Terms() = default;
  explicit Terms(int) {}  // 0: no probe
  Terms(Meetings& noted, size_t probe) : noted_(&noted), probes_{probe} {}

  friend Terms operator+(const Terms& a, const Terms& b) {
    if (a.probes_.empty()) return b;
    Terms sum = a;
    for (size_t j : b.probes_) {
      for (size_t i : a.probes_) a.noted_->at(i, j) = static_cast<double>(a.probes_.size() + b.probes_.size());
      sum.probes_.push_back(j);
    }
    return sum;
  }
  Terms& operator+=(const Terms& b) { return *this = *this + b; }

 private:
  Meetings* noted_ = nullptr;
  std::vector<size_t> probes_;
};

// order(term) runs the specification; term(i) is the term at position i of the sum.
template <class F>
Meetings specified(const std::vector<int64_t>& probes, const F& order) {
  Meetings found(probes.size());
  order([&](int64_t position) {
    const auto at = std::lower_bound(probes.begin(), probes.end(), position);
    return at != probes.end() && *at == position ? Terms(found, static_cast<size_t>(at - probes.begin())) : Terms();
  });
  return found;
}

// The sum of a kernel whose probes have these values. It is asked for hundreds of times, each too short for a second thread.
using Sum = std::function<double(const std::vector<float>& values)>;

struct OneThread {
  OneThread() { set_num_threads(1); }
  ~OneThread() { set_num_threads(0); }
};

// Of terms with signs: +large and -large swallow every 1 that is added to either before they cancel.
inline Meetings revealed(size_t probes, const Sum& sum, float large = 0x1p60f) {
  const OneThread limit;
  Meetings found(probes);
  std::vector<float> values(probes, 1.0f);
  for (size_t j = 1; j < probes; ++j) {
    for (size_t i = 0; i < j; ++i) {
      values[i] = large, values[j] = -large;
      found.at(i, j) = static_cast<double>(probes) - sum(values);
      values[i] = values[j] = 1;
    }
  }
  return found;
}

// Of terms that cannot cancel. `small` is a little under half a unit in the last place of `large`: two of them count beside it only where they have
// met each other before; so those that meet k last lie under the meeting of i and j without it. 0 stands for `none`.
struct Sizes {
  float large = 1, small = 0, none = 0;
};
inline Meetings revealed_of_positive(size_t probes, const Sum& sum, const Sizes& sizes) {
  const OneThread limit;
  Meetings found(probes);
  std::vector<float> values(probes, sizes.none);
  for (size_t k = 0; k < probes; ++k) {
    values[k] = sizes.large;
    const double alone = sum(values);
    for (size_t j = 1; j < probes; ++j) {
      for (size_t i = 0; i < j; ++i) {
        if (i == k || j == k) continue;
        values[i] = values[j] = sizes.small;
        if (sum(values) == alone) found.at(i, j) += 1;  // k lies under their meeting
        values[i] = values[j] = sizes.none;
      }
    }
    values[k] = sizes.none;
  }
  for (size_t j = 1; j < probes; ++j)
    for (size_t i = 0; i < j; ++i) found.at(i, j) += 2;
  return found;
}

// What tells two trees apart first; nothing where they are the same.
inline std::optional<std::string> difference(const std::vector<int64_t>& probes, Meetings found, Meetings wanted) {
  for (size_t j = 1; j < probes.size(); ++j) {
    for (size_t i = 0; i < j; ++i) {
      if (found.at(i, j) == wanted.at(i, j)) continue;
      return "terms " + std::to_string(probes[i]) + " and " + std::to_string(probes[j]) + " meet among " + std::to_string(found.at(i, j)) + " of " +
             std::to_string(probes.size()) + " probes, as specified among " + std::to_string(wanted.at(i, j));
    }
  }
  return std::nullopt;
}

// Positions below n that tell sums of these kinds apart: beginning, middle and end of lanes, pieces, leaves and of what `leaf` cuts; `most` of them.
inline std::vector<int64_t> probes_of(int64_t n, int64_t leaf = 0, size_t most = 40) {
  std::vector<int64_t> found;
  const auto note = [&](int64_t position) {
    if (position >= 0 && position < n && found.size() < most && std::find(found.begin(), found.end(), position) == found.end()) found.push_back(position);
  };
  if (n <= static_cast<int64_t>(most)) {
    for (int64_t i = 0; i < n; ++i) note(i);
    return found;
  }
  for (int64_t i : {int64_t{0}, int64_t{1}, int64_t{16}, n - 1}) note(i);
  for (int64_t turn = 0; turn < 5; ++turn) {
    for (int64_t cut : {leaf, int64_t{64}, int64_t{1024}, int64_t{4096}}) {
      const int64_t begin = turn * cut;
      if (cut > 0) note(begin), note(begin + cut - 1), note(begin + cut / 2), note(begin + cut / 2 + 1);
    }
  }
  for (int64_t i = 5; i * 4096 < n; ++i) note(i * 4096 + 7);
  std::sort(found.begin(), found.end());
  return found;
}

// ---- for the cases ------------------------------------------------------------------------------------------------------------

inline constexpr float kNone = -std::numeric_limits<float>::infinity();
// e^-16.75 is 0.89 of half a unit in the last place of 1.
inline constexpr Sizes kExponents{.large = 0, .small = -16.75f, .none = kNone};

template <class F>
void check(const char* what, const std::vector<int64_t>& probes, const Meetings& found, const F& order) {
  const std::optional<std::string> parted = difference(probes, found, specified(probes, order));
  CHECK_MESSAGE(!parted, std::string(what) << ": " << parted.value_or(""));
}
template <class F>
void check_order(const char* what, const std::vector<int64_t>& probes, const Sum& sum, const F& order) {
  check(what, probes, revealed(probes.size(), sum), order);
}
template <class F>
void check_order_of_exponentials(const char* what, const std::vector<int64_t>& probes, const Sum& sum, const F& order) {
  check(what, probes, revealed_of_positive(probes.size(), sum, kExponents), order);
}

// data[probe·step] = value.
inline void place(const std::vector<int64_t>& probes, const std::vector<float>& values, std::vector<float>& data, int64_t step = 1) {
  for (size_t i = 0; i < probes.size(); ++i) data[static_cast<size_t>(probes[i] * step)] = values[i];
}
inline std::vector<float> numbers(int64_t n, float value = 0) { return std::vector<float>(static_cast<size_t>(n), value); }

inline bool all_equal(const std::vector<float>& x) { return std::all_of(x.begin(), x.end(), [&](float v) { return v == x[0]; }); }

// The orders of arithmetic.md 3 over the first n terms.
inline auto by_lanes(int64_t n) {
  return [n](const auto& term) { return spec_lane_sum(n, term); };
}
inline auto by_rows(int64_t rows, int64_t leaf) {
  return [rows, leaf](const auto& term) { return spec_column_sum<Terms>(rows, leaf, [&](const Terms& sum, int64_t r) { return sum + term(r); }); };
}
inline auto as_chain(int64_t n) {
  return [n](const auto& term) {
    Terms sum;
    for (int64_t i = 0; i < n; ++i) sum += term(i);
    return sum;
  };
}

}  // namespace rote::testing
