// optim/metric_schedule.h — learning rates that follow a metric: on a plateau they fall, and the greedy one rises too. Of the step alone: schedule.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "optim/options.h"

namespace rote::optim {

// State between two values of the metric; changes rates only in step().
class MetricSchedule {
 public:
  virtual ~MetricSchedule() = default;
  // Takes the next value of the metric and moves `rates`, those of the groups.
  virtual void step(double metric, std::vector<double>& rates) = 0;
  // Counters and the best value so far, by the names of the reference's state_dict; back again. load throws StateError for a counter that is missing.
  virtual std::map<std::string, double> state() const = 0;
  virtual void load(const std::map<std::string, double>& state) = 0;
};

enum class Goal { min, max };
enum class Threshold { rel, abs };

// A rate for all groups of an optimizer, or one for each.
struct PerGroup {
  std::vector<double> rates;
  PerGroup(double all) : rates{all} {}
  double operator[](size_t group) const { return rates.size() == 1 ? rates[0] : rates.at(group); }
};

struct PlateauOptions {
  Goal mode = Goal::min;
  double factor = 0.1;  // of the rate, below 1
  int64_t patience = 10;
  double threshold = 1e-4;
  Threshold threshold_mode = Threshold::rel;
  int64_t cooldown = 0;
  PerGroup min_lr = 0;
  double eps = 1e-8;  // a change that is not larger is not made
};

// After more than `patience` values without improvement each rate is multiplied by `factor`; `cooldown` values are not counted then.
class ReduceLROnPlateau : public MetricSchedule {
 public:
  explicit ReduceLROnPlateau(PlateauOptions options);
  void step(double metric, std::vector<double>& rates) override;
  std::map<std::string, double> state() const override;
  void load(const std::map<std::string, double>& state) override;

 private:
  PlateauOptions options_;
  double best_;
  int64_t bad_ = 0, cooling_ = 0, steps_ = 0;
};

struct GreedyOptions {
  Goal mode = Goal::min;
  double factor = 0.95;
  int64_t patience = 10;
  double threshold = 1e-6;
  Threshold threshold_mode = Threshold::abs;
  int64_t cooldown = 0, warmup = 0;  // values that are not counted after a fall and after a rise
  PerGroup min_lr = 1e-3, max_lr = 1;
  double eps = 1e-8;
  bool smooth = false;  // counts the mean of the last window_size values
  int64_t window_size = 50;
  int64_t reset_start = 500;  // falls at min_lr after which everything begins anew
};

// Falls as above, and divides by `factor` after more than `patience` improvements.  Subramanian et al. 2025, arXiv:2512.14527
class GreedyLR : public MetricSchedule {
 public:
  GreedyLR(GreedyOptions options, std::vector<double> initial_rates);
  void step(double metric, std::vector<double>& rates) override;
  std::map<std::string, double> state() const override;
  void load(const std::map<std::string, double>& state) override;

 private:
  void rise(std::vector<double>& rates);
  void fall(std::vector<double>& rates);
  void reset();

  GreedyOptions options_;
  std::vector<double> initial_;
  std::vector<double> window_;
  double best_ = 0;
  int64_t good_ = 0, bad_ = 0, cooling_ = 0, warming_ = 0, until_reset_ = 0, steps_ = 0;
};

bool follows_metric(const std::string& name);  // whether a schedule's name is one of these
const std::vector<std::string>& metric_schedule_names();  // reduce_lr_on_plateau, greedy

// Throws ArgumentError for another name, for an unknown option and for values that have no sense.
std::unique_ptr<MetricSchedule> make_metric_schedule(const std::string& name, const std::vector<double>& initial_rates, const Options& options = {});

}  // namespace rote::optim
