#include "optim/metric_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/check.h"

namespace rote::optim {

namespace {

double worst(Goal goal) { return goal == Goal::min ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity(); }

bool is_better(double value, double best, Goal goal, Threshold kind, double threshold) {
  if (kind == Threshold::rel) return goal == Goal::min ? value < best * (1 - threshold) : value > best * (1 + threshold);
  return goal == Goal::min ? value < best - threshold : value > best + threshold;
}

Goal goal_of(const std::string& who, OptionReader& from) {
  std::string word = "min";
  from.take("mode", word);
  ROTE_CHECK(word == "min" || word == "max", ArgumentError, "schedule ", who, ": mode is \"", word, "\"; it must be min or max.");
  return word == "min" ? Goal::min : Goal::max;
}

Threshold threshold_of(const std::string& who, Threshold otherwise, OptionReader& from) {
  std::string word = otherwise == Threshold::rel ? "rel" : "abs";
  from.take("threshold_mode", word);
  ROTE_CHECK(word == "rel" || word == "abs", ArgumentError, "schedule ", who, ": threshold_mode is \"", word, "\"; it must be rel or abs.");
  return word == "rel" ? Threshold::rel : Threshold::abs;
}

// What both kinds take by name.
template <class O>
void read_common(const std::string& who, OptionReader& from, O& o) {
  o.mode = goal_of(who, from);
  o.threshold_mode = threshold_of(who, o.threshold_mode, from);
  from.take("factor", o.factor);
  from.take("patience", o.patience);
  from.take("threshold", o.threshold);
  from.take("cooldown", o.cooldown);
  from.take("min_lr", o.min_lr.rates);
  from.take("eps", o.eps);
}

void check_groups(const std::string& who, const char* name, const PerGroup& given, size_t groups) {
  const size_t n = given.rates.size();
  ROTE_CHECK(n == 1 || n == groups, ArgumentError, "schedule ", who, ": ", name, " has ", n, " numbers for ", groups, " groups of parameters; give one, or one for each.");
}

double at(const std::map<std::string, double>& state, const char* name) {
  const auto found = state.find(name);
  ROTE_CHECK(found != state.end(), StateError, "load_state: ", name, " of the schedule is missing; the state belongs to another schedule or is torn.");
  return found->second;
}

// Before the first value there is none, which no number of a file can say.
void put_best(std::map<std::string, double>& state, double best) {
  if (std::isfinite(best)) state["best"] = best;
}
double best_at(const std::map<std::string, double>& state, Goal goal) {
  const auto found = state.find("best");
  return found == state.end() ? worst(goal) : found->second;
}

int64_t count_at(const std::map<std::string, double>& state, const char* name) { return static_cast<int64_t>(at(state, name)); }

}  // namespace

ReduceLROnPlateau::ReduceLROnPlateau(PlateauOptions options) : options_(options), best_(worst(options.mode)) {
  ROTE_CHECK(options.factor < 1, ArgumentError, "schedule reduce_lr_on_plateau: factor is ", options.factor, "; it must be below 1.");
}

void ReduceLROnPlateau::step(double metric, std::vector<double>& rates) {
  const PlateauOptions& o = options_;
  ++steps_;
  if (is_better(metric, best_, o.mode, o.threshold_mode, o.threshold)) {
    best_ = metric;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_ = 0;
  }
  if (bad_ <= o.patience) return;
  for (size_t group = 0; group < rates.size(); ++group) {
    const double lower = std::max(rates[group] * o.factor, o.min_lr[group]);
    if (rates[group] - lower > o.eps) rates[group] = lower;
  }
  cooling_ = o.cooldown;
  bad_ = 0;
}

std::map<std::string, double> ReduceLROnPlateau::state() const {
  std::map<std::string, double> state = {
      {"num_bad_epochs", static_cast<double>(bad_)}, {"cooldown_counter", static_cast<double>(cooling_)}, {"last_epoch", static_cast<double>(steps_)}};
  put_best(state, best_);
  return state;
}

void ReduceLROnPlateau::load(const std::map<std::string, double>& state) {
  best_ = best_at(state, options_.mode);
  bad_ = count_at(state, "num_bad_epochs");
  cooling_ = count_at(state, "cooldown_counter");
  steps_ = count_at(state, "last_epoch");
}

GreedyLR::GreedyLR(GreedyOptions options, std::vector<double> initial_rates) : options_(options), initial_(std::move(initial_rates)) {
  ROTE_CHECK(options.factor > 0 && options.factor < 1, ArgumentError, "schedule greedy: factor is ", options.factor, "; it must lie between 0 and 1.");
  ROTE_CHECK(options.window_size >= 1, ArgumentError, "schedule greedy: window_size is ", options.window_size, "; it must be at least 1.");
  reset();
}

void GreedyLR::reset() {
  best_ = worst(options_.mode);
  good_ = bad_ = cooling_ = warming_ = 0;
  until_reset_ = options_.reset_start;
  window_.clear();
}

void GreedyLR::step(double metric, std::vector<double>& rates) {
  const GreedyOptions& o = options_;
  ++steps_;
  double value = metric;
  if (o.smooth) {
    window_.push_back(metric);
    if (window_.size() > static_cast<size_t>(o.window_size)) window_.erase(window_.begin());
    value = std::accumulate(window_.begin(), window_.end(), 0.0) / static_cast<double>(window_.size());
  }
  int64_t& waiting = cooling_ > 0 ? cooling_ : warming_;
  if (waiting > 0) {
    --waiting;
    good_ = bad_ = 0;
    return;
  }
  const bool better = is_better(value, best_, o.mode, o.threshold_mode, o.threshold);
  if (better) best_ = value;
  good_ = better ? good_ + 1 : 0;
  bad_ = better ? 0 : bad_ + 1;
  if (good_ > o.patience) rise(rates);
  else if (bad_ > o.patience) fall(rates);
}

void GreedyLR::rise(std::vector<double>& rates) {
  for (size_t group = 0; group < rates.size(); ++group) {
    const double higher = std::min(rates[group] / options_.factor, options_.max_lr[group]);
    if (higher - rates[group] > options_.eps) rates[group] = higher;
  }
  until_reset_ = options_.reset_start;
  warming_ = options_.warmup;
  good_ = 0;
}

void GreedyLR::fall(std::vector<double>& rates) {
  bool all_lowest = true;
  for (size_t group = 0; group < rates.size(); ++group) {
    const double lower = std::max(rates[group] * options_.factor, options_.min_lr[group]);
    if (rates[group] - lower > options_.eps) rates[group] = lower;
    all_lowest = all_lowest && rates[group] <= options_.min_lr[group];
  }
  if (all_lowest && --until_reset_ <= 0) {
    rates = initial_;
    reset();
  }
  cooling_ = options_.cooldown;
  bad_ = 0;
}

std::map<std::string, double> GreedyLR::state() const {
  std::map<std::string, double> state = {{"num_good_epochs", static_cast<double>(good_)},
                                         {"num_bad_epochs", static_cast<double>(bad_)},
                                         {"cooldown_counter", static_cast<double>(cooling_)},
                                         {"warmup_counter", static_cast<double>(warming_)},
                                         {"reset_start", static_cast<double>(until_reset_)},
                                         {"last_epoch", static_cast<double>(steps_)},
                                         {"window", static_cast<double>(window_.size())}};
  put_best(state, best_);
  for (size_t i = 0; i < window_.size(); ++i) state["window." + std::to_string(i)] = window_[i];
  return state;
}

void GreedyLR::load(const std::map<std::string, double>& state) {
  best_ = best_at(state, options_.mode);
  good_ = count_at(state, "num_good_epochs");
  bad_ = count_at(state, "num_bad_epochs");
  cooling_ = count_at(state, "cooldown_counter");
  warming_ = count_at(state, "warmup_counter");
  until_reset_ = count_at(state, "reset_start");
  steps_ = count_at(state, "last_epoch");
  window_.clear();
  for (int64_t i = 0; i < std::min(count_at(state, "window"), options_.window_size); ++i) window_.push_back(at(state, ("window." + std::to_string(i)).c_str()));
}

const std::vector<std::string>& metric_schedule_names() {
  static const std::vector<std::string> names = {"reduce_lr_on_plateau", "greedy"};
  return names;
}

bool follows_metric(const std::string& name) {
  const std::vector<std::string>& names = metric_schedule_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::unique_ptr<MetricSchedule> make_metric_schedule(const std::string& name, const std::vector<double>& initial_rates, const Options& options) {
  OptionReader from("schedule " + name, options);
  std::unique_ptr<MetricSchedule> made;
  if (name == "reduce_lr_on_plateau") {
    PlateauOptions o;
    read_common(name, from, o);
    check_groups(name, "min_lr", o.min_lr, initial_rates.size());
    made = std::make_unique<ReduceLROnPlateau>(o);
  } else {
    ROTE_CHECK(name == "greedy", ArgumentError, "schedule: ", name, " follows no metric; reduce_lr_on_plateau and greedy do.");
    GreedyOptions o;
    read_common(name, from, o);
    from.take("warmup", o.warmup);
    from.take("max_lr", o.max_lr.rates);
    from.take("smooth", o.smooth);
    from.take("window_size", o.window_size);
    from.take("reset_start", o.reset_start);
    check_groups(name, "min_lr", o.min_lr, initial_rates.size());
    check_groups(name, "max_lr", o.max_lr, initial_rates.size());
    made = std::make_unique<GreedyLR>(o, initial_rates);
  }
  from.finish();
  return made;
}

}  // namespace rote::optim
