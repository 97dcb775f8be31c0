// optim/schedule.cpp — the formulas, and the table of schedules by name.
#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/check.h"
#include "kernels/math64.h"

namespace rote::optim {

namespace {

using std::numbers::pi;
using detail::share;

double half_cosine(double cycles, double progress) { return 0.5 * (1.0 + math64::cos(pi * cycles * 2.0 * progress)); }

using Maker = Schedule (*)(const ScheduleLength& length, OptionReader& options);

Schedule make_linear(const ScheduleLength& l, OptionReader&) { return warmup(l.warmup_steps).then(linear(l.total_steps - l.warmup_steps)); }

Schedule make_cosine(const ScheduleLength& l, OptionReader& from) {
  CosineOptions options;
  from.take("num_cycles", options.num_cycles);
  return warmup(l.warmup_steps).then(cosine(l.total_steps - l.warmup_steps, options));
}

Schedule make_restarts(const ScheduleLength& l, OptionReader& from) {
  double cycles = 1;
  from.take("num_cycles", cycles);
  return warmup(l.warmup_steps).then(cosine_with_restarts(l.total_steps - l.warmup_steps, cycles));
}

Schedule make_polynomial(const ScheduleLength& l, OptionReader& from) {
  PolynomialOptions options;
  double lr_end = 1e-7;
  from.take("lr_end", lr_end);
  from.take("power", options.power);
  ROTE_CHECK(l.lr > lr_end, ArgumentError, "schedule polynomial: lr_end is ", lr_end, " and the learning rate ", l.lr, "; lr_end must be smaller.");
  options.floor = lr_end / l.lr;
  return warmup(l.warmup_steps).then(polynomial(l.total_steps - l.warmup_steps, options));
}

Schedule make_constant(const ScheduleLength&, OptionReader&) { return constant(); }
Schedule make_constant_with_warmup(const ScheduleLength& l, OptionReader&) { return warmup(l.warmup_steps).then(constant()); }

Schedule make_inverse_sqrt(const ScheduleLength& l, OptionReader& from) {
  double timescale = l.warmup_steps > 0 ? static_cast<double>(l.warmup_steps) : 10000.0;
  from.take("timescale", timescale);
  ROTE_CHECK(timescale > 0, ArgumentError, "schedule inverse_sqrt: timescale is ", timescale, "; it must be above 0.");
  return warmup(l.warmup_steps).then(inverse_sqrt(timescale));
}

// min_lr is a rate, min_lr_rate a share of the initial one; one of the two must be there.
double floor_of(const char* who, const ScheduleLength& l, OptionReader& from) {
  std::optional<double> rate, ratio;
  from.take("min_lr", rate);
  from.take("min_lr_rate", ratio);
  ROTE_CHECK(rate.has_value() != ratio.has_value(), ArgumentError, "schedule ", who, ": ", rate ? "both min_lr and min_lr_rate are given" : "no floor is given",
             "; give one of min_lr and min_lr_rate.");
  ROTE_CHECK(ratio || l.lr > 0, ArgumentError, "schedule ", who, ": min_lr with a learning rate of ", l.lr, "; it is a share of that, which must be above 0.");
  return ratio ? *ratio : *rate / l.lr;
}

Schedule make_cosine_with_min_lr(const ScheduleLength& l, OptionReader& from) {
  CosineOptions options;
  options.floor = floor_of("cosine_with_min_lr", l, from);
  from.take("num_cycles", options.num_cycles);
  return warmup(l.warmup_steps).then(cosine(l.total_steps - l.warmup_steps, options));
}

// Its warm-up does not begin at 0, and the cosine is one step ahead.
Schedule make_cosine_warmup_with_min_lr(const ScheduleLength& l, OptionReader& from) {
  CosineOptions options;
  options.floor = floor_of("cosine_warmup_with_min_lr", l, from);
  from.take("num_cycles", options.num_cycles);
  std::optional<double> first;
  from.take("warmup_lr_rate", first);
  const int64_t w = l.warmup_steps;
  const Schedule after = cosine(l.total_steps - w, options);
  return Schedule([w, first, after](int64_t t) {
    if (t >= w) return after.factor(t - w + 1);
    return first ? *first + (1 - *first) * share(t, w - 1) : share(t + 1, w);
  });
}

Curve curve_of(const char* option, const std::string& word) {
  if (word == "linear") return Curve::linear;
  if (word == "cosine") return Curve::cosine;
  ROTE_CHECK(word == "1-sqrt", ArgumentError, "schedule warmup_stable_decay: ", option, " is \"", word, "\"; it must be linear, cosine or 1-sqrt.");
  return Curve::one_minus_sqrt;
}

Schedule make_warmup_stable_decay(const ScheduleLength& l, OptionReader& from) {
  WarmupStableDecayOptions o{.warmup_steps = l.warmup_steps};
  std::optional<double> decay, stable;
  std::string warmup_type = "linear", decay_type = "cosine";
  from.take("num_decay_steps", decay);
  from.take("num_stable_steps", stable);
  from.take("warmup_type", warmup_type);
  from.take("decay_type", decay_type);
  from.take("min_lr_ratio", o.min_lr_ratio);
  from.take("num_cycles", o.num_cycles);
  ROTE_CHECK(decay.has_value(), ArgumentError, "schedule warmup_stable_decay: num_decay_steps is not given; say over how many updates the rate falls.");
  o.decay_steps = static_cast<int64_t>(*decay);
  o.stable_steps = stable ? static_cast<int64_t>(*stable) : l.total_steps - l.warmup_steps - o.decay_steps;
  o.warmup = curve_of("warmup_type", warmup_type);
  o.decay = curve_of("decay_type", decay_type);
  return warmup_stable_decay(o);
}

struct Named {
  const char* name;
  Maker make;
};

constexpr Named kSchedules[] = {
    {"linear", make_linear},
    {"cosine", make_cosine},
    {"cosine_with_restarts", make_restarts},
    {"polynomial", make_polynomial},
    {"constant", make_constant},
    {"constant_with_warmup", make_constant_with_warmup},
    {"inverse_sqrt", make_inverse_sqrt},
    {"cosine_with_min_lr", make_cosine_with_min_lr},
    {"cosine_warmup_with_min_lr", make_cosine_warmup_with_min_lr},
    {"warmup_stable_decay", make_warmup_stable_decay},
};

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

Schedule Schedule::of_rates(std::function<double(int64_t, double)> rate, std::function<double(int64_t)> momentum) {
  Schedule schedule;
  schedule.rate_ = std::move(rate);
  schedule.momentum_ = std::move(momentum);
  return schedule;
}

Schedule constant() {
  return Schedule([](int64_t) { return 1.0; });
}

Schedule linear(int64_t steps) {
  return Schedule([steps](int64_t t) { return std::max(0.0, share(steps - t, steps)); });
}

Schedule cosine(int64_t steps, CosineOptions options) {
  return Schedule([steps, options](int64_t t) {
    const double f = half_cosine(options.num_cycles, share(t, steps));
    return std::max(0.0, options.floor == 0 ? f : f * (1 - options.floor) + options.floor);
  });
}

Schedule cosine_with_restarts(int64_t steps, double cycles) {
  return Schedule([steps, cycles](int64_t t) {
    const double progress = share(t, steps), turns = cycles * progress;
    return progress >= 1 ? 0.0 : std::max(0.0, 0.5 * (1.0 + math64::cos(pi * (turns - std::floor(turns)))));
  });
}

Schedule polynomial(int64_t steps, PolynomialOptions options) {
  return Schedule([steps, options](int64_t t) {
    if (t > steps || steps <= 0) return options.floor;
    return (1 - options.floor) * math64::pow(1 - share(t, steps), options.power) + options.floor;
  });
}

Schedule inverse_sqrt(double timescale) {
  return Schedule([timescale](int64_t t) { return 1 / std::sqrt((static_cast<double>(t) + timescale) / timescale); });
}

Schedule warmup_stable_decay(WarmupStableDecayOptions o) {
  return Schedule([o](int64_t t) {
    const auto rise = [&](Curve curve, double q) {
      if (curve == Curve::linear) return q;
      return curve == Curve::cosine ? 0.5 * (1 - math64::cos(pi * q)) : 1 - std::sqrt(1 - q);
    };
    const auto fall = [&](Curve curve, double q) {
      if (curve == Curve::linear) return 1 - q;
      return curve == Curve::cosine ? half_cosine(o.num_cycles, q) : 1 - std::sqrt(q);
    };
    const auto above_floor = [&](double f) { return std::max(0.0, f * (1 - o.min_lr_ratio) + o.min_lr_ratio); };
    if (t < o.warmup_steps) return above_floor(rise(o.warmup, share(t, o.warmup_steps)));
    const int64_t decayed = t - o.warmup_steps - o.stable_steps;
    if (decayed < 0) return 1.0;
    return decayed < o.decay_steps ? above_floor(fall(o.decay, share(decayed, o.decay_steps))) : o.min_lr_ratio;
  });
}

Schedule Warmup::then(Schedule after) const {
  const int64_t steps = steps_;
  return Schedule([steps, after = std::move(after)](int64_t t) { return t < steps ? share(t, steps) : after.factor(t - steps); });
}

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Named& row : kSchedules) out.emplace_back(row.name);
    return out;
  }();
  return names;
}

Schedule make_schedule(const std::string& name, ScheduleLength length, const Options& options) {
  ROTE_CHECK(length.warmup_steps >= 0 && length.total_steps >= 0, ArgumentError, "schedule ", name, ": got ", length.warmup_steps,
             " warm-up steps of ", length.total_steps, "; neither may be negative.");
  for (const Named& row : kSchedules) {
    if (row.name != name) continue;
    OptionReader from("schedule " + name, options);
    Schedule schedule = row.make(length, from);
    from.finish();
    return schedule;
  }
  const std::string near = nearest(name, schedule_names().data(), static_cast<int64_t>(schedule_names().size()));
  throw ArgumentError(str("schedule: there is no ", name, near.empty() ? "" : "; did you mean " + near + "?",
                          near.empty() ? "; choose one of " : " The names are ", joined(schedule_names()), "."));
}

}  // namespace rote::optim
