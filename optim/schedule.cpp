// optim/schedule.cpp — the formulas, and the table of schedules by name.
#include "optim/schedule.h"

#include <algorithm>

#include "kernels/check.h"
#include "kernels/math64.h"

namespace rote::optim {

namespace {

constexpr double kPi = 3.14159265358979323846;

struct Named {
  std::string name;
  std::vector<std::string> options;
  Schedule (*make)(ScheduleLength length, const ScheduleOptions& options);
};

Schedule make_cosine(ScheduleLength length, const ScheduleOptions& options) {
  CosineOptions cosine_options;
  if (const auto given = options.find("num_cycles"); given != options.end()) cosine_options.num_cycles = given->second;
  return warmup(length.warmup_steps).then(cosine(length.total_steps - length.warmup_steps, cosine_options));
}

const std::vector<Named>& table() {
  static const std::vector<Named> rows = {
      {"linear", {}, [](ScheduleLength l, const ScheduleOptions&) { return warmup(l.warmup_steps).then(linear(l.total_steps - l.warmup_steps)); }},
      {"cosine", {"num_cycles"}, make_cosine},
      {"constant", {}, [](ScheduleLength, const ScheduleOptions&) { return constant(); }},
      {"constant_with_warmup", {}, [](ScheduleLength l, const ScheduleOptions&) { return warmup(l.warmup_steps).then(constant()); }},
  };
  return rows;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

Schedule constant() {
  return Schedule([](int64_t) { return 1.0; });
}

Schedule linear(int64_t steps) {
  return Schedule([steps](int64_t t) { return std::max(0.0, static_cast<double>(steps - t) / static_cast<double>(std::max<int64_t>(1, steps))); });
}

Schedule cosine(int64_t steps, CosineOptions options) {
  return Schedule([steps, options](int64_t t) {
    const double progress = static_cast<double>(t) / static_cast<double>(std::max<int64_t>(1, steps));
    return std::max(0.0, 0.5 * (1.0 + math64::cos(kPi * options.num_cycles * 2.0 * progress)));
  });
}

Schedule Warmup::then(Schedule after) const {
  const int64_t steps = steps_;
  return Schedule([steps, after = std::move(after)](int64_t t) {
    if (t < steps) return static_cast<double>(t) / static_cast<double>(std::max<int64_t>(1, steps));
    return after.factor(t - steps);
  });
}

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Named& row : table()) out.push_back(row.name);
    return out;
  }();
  return names;
}

Schedule make_schedule(const std::string& name, ScheduleLength length, const ScheduleOptions& options) {
  ROTE_CHECK(length.warmup_steps >= 0 && length.total_steps >= 0, ArgumentError, "schedule ", name, ": got ", length.warmup_steps,
             " warm-up steps of ", length.total_steps, "; neither may be negative.");
  for (const Named& row : table()) {
    if (row.name != name) continue;
    for (const auto& option : options)
      ROTE_CHECK(std::find(row.options.begin(), row.options.end(), option.first) != row.options.end(), ArgumentError, "schedule ", name,
                 ": has no option ", option.first, "; it takes ", row.options.empty() ? "none" : joined(row.options), ".");
    return row.make(length, options);
  }
  const std::string near = nearest(name, schedule_names().data(), static_cast<int64_t>(schedule_names().size()));
  throw ArgumentError(str("schedule: there is no ", name, near.empty() ? "" : "; did you mean " + near + "?",
                          near.empty() ? "; choose one of " : " The names are ", joined(schedule_names()), "."));
}

}  // namespace rote::optim
