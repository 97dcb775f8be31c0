// trainer/data/rebalance.cpp — moving rows from the dearest group of an update to the cheapest, until nothing is gained.
#include "tensor/sort_stably.h"
#include "trainer/data/rebalance.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace rote::data {

namespace {

using Counts = std::vector<int64_t>;  // rows of each group; groups follow one another

double cost_of(int64_t rows, int64_t longest) {
  const double b = static_cast<double>(rows), L = static_cast<double>(longest);
  return b * L + 0.001 * b * L * L;
}

// The groups of one update. `lengths` are those of its rows, longest first.
class Balance {
 public:
  Balance(const std::vector<int64_t>& lengths, const Rebalance& options) : lengths_(lengths), options_(options) {
    const size_t groups = static_cast<size_t>(options.accumulation * options.ranks), base = lengths.size() / groups;
    counts_.assign(groups, static_cast<int64_t>(base));
    for (size_t i = 0; i < lengths.size() % groups; ++i) ++counts_[i];
    frozen_.assign(groups, false);
  }

  Counts best() {
    std::set<Counts> seen;
    Counts best = counts_;
    double best_spread = std::numeric_limits<double>::infinity();
    const int64_t groups = static_cast<int64_t>(counts_.size());
    for (int64_t round = 0; round < std::max(groups * 30, options_.update_rows()) && seen.insert(counts_).second; ++round) {
      const std::vector<double> costs = costs_of(counts_);
      const std::vector<size_t> active = cheapest_first(costs);
      if (active.size() <= 1) break;
      size_t dearest = active[0];  // the first of the most expensive
      for (size_t i = 0; i < counts_.size(); ++i)
        if (!frozen_[i] && (costs[i] > costs[dearest] || (costs[i] == costs[dearest] && i < dearest))) dearest = i;
      const double spread = costs[dearest] - costs[active[0]];
      if (spread < best_spread) {
        best_spread = spread;
        best = counts_;
      }
      if (spread == 0) break;
      if (counts_[dearest] > 1) {
        --counts_[dearest];
        ++counts_[active[0]];
      } else {
        freeze_slot_of(dearest, costs);
      }
    }
    return best;
  }

  std::vector<double> costs_of(const Counts& counts) const {
    std::vector<double> costs;
    size_t at = 0;
    for (const int64_t rows : counts) {
      costs.push_back(cost_of(rows, lengths_[at]));
      at += static_cast<size_t>(rows);
    }
    return costs;
  }

 private:
  std::vector<size_t> cheapest_first(const std::vector<double>& costs) const {
    std::vector<size_t> active;
    for (size_t i = 0; i < costs.size(); ++i)
      if (!frozen_[i]) active.push_back(i);
    sort_stably(active, [&](size_t a, size_t b) { return costs[a] < costs[b]; });
    return active;
  }

  // A group of one row cannot give any away: what runs beside it on the other ranks takes rows from cheaper groups, up to its cost, and all stay so.
  void freeze_slot_of(size_t dearest, const std::vector<double>& costs) {
    const std::vector<size_t> ranking = stable_order(costs.size(), [&](size_t a, size_t b) { return costs[a] > costs[b]; });
    const size_t ranks = static_cast<size_t>(options_.ranks);
    const size_t first = static_cast<size_t>(std::find(ranking.begin(), ranking.end(), dearest) - ranking.begin()) / ranks * ranks;
    std::vector<size_t> slot(ranking.begin() + static_cast<std::ptrdiff_t>(first), ranking.begin() + static_cast<std::ptrdiff_t>(first + ranks));
    std::sort(slot.begin(), slot.end());
    for (const size_t group : slot)
      if (!frozen_[group] && group != dearest) top_up(group, slot, costs[dearest]);
    for (const size_t group : slot) frozen_[group] = true;
  }

  void top_up(size_t group, const std::vector<size_t>& slot, double limit) {
    while (true) {
      const std::vector<double> costs = costs_of(counts_);
      const size_t begin = static_cast<size_t>(std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(group), int64_t{0}));
      if (cost_of(counts_[group] + 1, lengths_[begin]) > limit) return;
      size_t donor = counts_.size();
      for (size_t i = 0; i < counts_.size(); ++i) {
        const bool is_outside = !frozen_[i] && std::find(slot.begin(), slot.end(), i) == slot.end();
        if (is_outside && counts_[i] > 1 && (donor == counts_.size() || costs[i] < costs[donor])) donor = i;
      }
      if (donor == counts_.size()) return;
      ++counts_[group];
      --counts_[donor];
    }
  }

  const std::vector<int64_t>& lengths_;
  const Rebalance& options_;
  Counts counts_;
  std::vector<bool> frozen_;
};

}  // namespace

int64_t Rebalance::updates(int64_t rows) const { return drop_last ? rows / update_rows() : (rows + update_rows() - 1) / update_rows(); }

int64_t Rebalance::epoch_rows(int64_t rows) const {
  const int64_t rest = rows % update_rows();
  return rows - rest + (drop_last || rest == 0 ? 0 : std::max(rest, accumulation * ranks));
}

std::vector<std::vector<int64_t>> rebalanced_batches(const std::vector<int64_t>& order, const std::vector<int64_t>& lengths, const Rebalance& options) {
  const int64_t rows = static_cast<int64_t>(order.size()), end = options.epoch_rows(rows);
  std::vector<std::vector<int64_t>> batches;
  for (int64_t update = 0; update < options.updates(rows); ++update) {
    std::vector<int64_t> taken, taken_lengths;
    for (int64_t at = update * options.update_rows(); at < std::min((update + 1) * options.update_rows(), end); ++at)
      taken.push_back(order[static_cast<size_t>(at < rows ? at : (at - rows) % rows)]);
    sort_stably(taken, [&](int64_t a, int64_t b) { return lengths[static_cast<size_t>(a)] > lengths[static_cast<size_t>(b)]; });
    for (const int64_t row : taken) taken_lengths.push_back(lengths[static_cast<size_t>(row)]);
    Balance balance(taken_lengths, options);
    const Counts counts = balance.best();
    const std::vector<double> costs = balance.costs_of(counts);
    std::vector<std::vector<int64_t>> groups;
    auto from = taken.begin();
    for (const int64_t count : counts) {
      groups.emplace_back(from, from + count);
      from += count;
    }
    const std::vector<size_t> dearest_first = stable_order(groups.size(), [&](size_t a, size_t b) { return costs[a] > costs[b]; });
    for (int64_t slot = 0; slot < options.accumulation; ++slot) batches.push_back(groups[dearest_first[static_cast<size_t>(slot * options.ranks + options.rank)]]);
  }
  return batches;
}

}  // namespace rote::data
