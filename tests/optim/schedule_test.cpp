// tests/optim/schedule_test.cpp — factors of the learning rate against the tables of the Hugging Face Trainer.
#include <doctest/doctest.h>

#include <cmath>

#include "kernels/check.h"
#include "optim/schedule.h"
#include "tests/trainer/cases.h"

using namespace rote;
using namespace rote::optim;
using namespace rote::testing;

TEST_CASE("schedule: factors of transformers 5.24 at steps 0, 1, 2 …") {
  struct Sample {
    const char* name;
    ScheduleLength length;
    ScheduleOptions options;
    std::vector<double> factors;
  };
  const Sample samples[] = {
      {"linear", {2, 6}, {}, {0, .5, 1, .75, .5, .25, 0, 0}},
      {"linear", {0, 2}, {}, {1, .5, 0}},
      {"linear", {3, 3}, {}, {0, 1.0 / 3, 2.0 / 3, 0}},
      {"linear", {5, 3}, {}, {0, .2, .4, .6, .8, 0}},
      {"cosine", {2, 8}, {}, {0, .5, 1, .933013, .75, .5, .25, .066987, 0, .066987}},
      {"cosine", {0, 4}, {{"num_cycles", 1.0}}, {1, .5, 0, .5, 1}},
      {"constant", {3, 9}, {}, {1, 1, 1}},
      {"constant_with_warmup", {3, 9}, {}, {0, 1.0 / 3, 2.0 / 3, 1, 1}},
  };
  for (const Sample& sample : samples) {
    CAPTURE(sample.name);
    const Schedule schedule = make_schedule(sample.name, sample.length, sample.options);
    for (size_t s = 0; s < sample.factors.size(); ++s) {
      CAPTURE(s);
      CHECK(std::abs(schedule.factor(static_cast<int64_t>(s)) - sample.factors[s]) <= 5e-7);  // the table has six decimals
    }
  }
}

TEST_CASE("schedule: the cosine is exact where it can be") {
  const Schedule schedule = cosine(8);
  CHECK(schedule.factor(0) == 1.0);
  CHECK(schedule.factor(8) == 0.0);
}

TEST_CASE("schedule: built by hand it equals the one by name") {
  const Schedule by_hand = warmup(10).then(linear(90));
  const Schedule by_name = make_schedule("linear", {.warmup_steps = 10, .total_steps = 100});
  for (int64_t step = 0; step <= 101; ++step) CHECK(by_hand.factor(step) == by_name.factor(step));
  CHECK(warmup(0).then(constant()).factor(0) == 1.0);
}

TEST_CASE("schedule: unknown names, options and lengths are refused") {
  CHECK(schedule_names() == std::vector<std::string>{"linear", "cosine", "constant", "constant_with_warmup"});
  CHECK_THROWS_WITH_AS(make_schedule("cosin", {}),
                       "schedule: there is no cosin; did you mean cosine? The names are linear, cosine, constant, constant_with_warmup.",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(make_schedule("linear", {}, {{"power", 2}}), "schedule linear: has no option power; it takes none.", ArgumentError);
  CHECK_THROWS_WITH_AS(make_schedule("cosine", {}, {{"cycles", 2}}), "schedule cosine: has no option cycles; it takes num_cycles.", ArgumentError);
  CHECK_THROWS_AS(make_schedule("linear", {.warmup_steps = -1, .total_steps = 5}), ArgumentError);
}

TEST_CASE("schedule: the shared cases of the schedules that Rote has") {
  const ValueMap file = shared_cases("sched/sched.json");
  if (file.empty()) return;  // skipped
  int64_t compared = 0;
  for (const Value& c : *file.find("cases")->as_list()) {
    const std::string name = text_at(c, "scheduler");
    if (!name.starts_with("hf:") || std::find(schedule_names().begin(), schedule_names().end(), name.substr(3)) == schedule_names().end()) continue;
    CAPTURE(text_at(c, "id"));
    ScheduleOptions options;
    for (const auto& [option, value] : *at(c, "kwargs").as_map()) value.number(options[option]);
    double warmup_steps = 0, total = 0;
    at(c, "num_warmup_steps").number(warmup_steps);
    at(c, "num_training_steps").number(total);
    const Schedule schedule = make_schedule(name.substr(3), {static_cast<int64_t>(warmup_steps), static_cast<int64_t>(total)}, options);
    const ValueList& bases = *at(c, "base_lrs").as_list();
    const ValueList& steps = *at(c, "lrs").as_list();
    for (size_t s = 0; s < steps.size(); ++s) {
      for (size_t group = 0; group < bases.size(); ++group) {
        double base = 0, rate = 0;
        bases[group].number(base);
        (*steps[s].as_list())[group].number(rate);
        // A few roundings in f64, and one ulp of the cosine near its zero, where it is added to 1.
        CHECK(std::abs(base * schedule.factor(static_cast<int64_t>(s)) - rate) <= 1e-15 * base);
      }
    }
    ++compared;
  }
  CHECK(compared >= 46);
}
