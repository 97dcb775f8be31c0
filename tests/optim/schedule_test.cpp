// tests/optim/schedule_test.cpp — factors of the learning rate against the tables of the Hugging Face Trainer.
#include <doctest/doctest.h>

#include <cmath>

#include "kernels/check.h"
#include "optim/metric_schedule.h"
#include "optim/torch_schedule.h"

using namespace rote;
using namespace rote::optim;

TEST_CASE("schedule: factors of transformers 5.24 at steps 0, 1, 2 …") {
  struct Sample {
    const char* name;
    ScheduleLength length;
    Options options;
    std::vector<double> factors;
  };
  const Sample samples[] = {
      {"linear", {2, 6}, {}, {0, .5, 1, .75, .5, .25, 0, 0}},
      {"linear", {0, 2}, {}, {1, .5, 0}},
      {"linear", {3, 3}, {}, {0, 1.0 / 3, 2.0 / 3, 0}},
      {"linear", {5, 3}, {}, {0, .2, .4, .6, .8, 0}},
      {"cosine", {2, 8}, {}, {0, .5, 1, .933013, .75, .5, .25, .066987, 0, .066987}},
      {"cosine", {0, 4}, {{"num_cycles", "1"}}, {1, .5, 0, .5, 1}},
      {"cosine_with_restarts", {2, 8}, {{"num_cycles", "2"}}, {0, .5, 1, .75, .25, 1, .75, .25, 0}},
      {"polynomial", {2, 8, 1}, {{"lr_end", ".1"}, {"power", "2"}}, {0, .5, 1, .725, .5, .325, .2, .125, .1, .1}},
      {"polynomial", {2, 2, 1}, {{"lr_end", ".1"}}, {0, .5, .1}},
      {"inverse_sqrt", {4, 0}, {}, {0, .25, .5, .75, 1, .894427, .816497}},
      {"warmup_stable_decay", {2, 10}, {{"num_decay_steps", "4"}}, {0, .5, 1, 1, 1, 1, 1, .853553, .5, .146447, 0, 0}},
      {"warmup_stable_decay", {4, 10}, {{"num_decay_steps", "4"}, {"warmup_type", "1-sqrt"}, {"decay_type", "1-sqrt"}},
       {0, .133975, .292893, .5, 1, 1, 1, .5, .292893, .133975, 0}},
      {"warmup_stable_decay", {4, 10}, {{"num_decay_steps", "4"}, {"warmup_type", "cosine"}, {"decay_type", "linear"}, {"min_lr_ratio", ".1"}},
       {.1, .231802, .55, .868198, 1, 1, 1, .775, .55, .325, .1}},
      {"cosine_with_min_lr", {2, 8}, {{"min_lr_rate", ".1"}}, {0, .5, 1, .939711, .775, .55, .325, .160289, .1}},
      {"cosine_with_min_lr", {2, 8, 2}, {{"min_lr", ".2"}}, {0, .5, 1, .939711, .775, .55, .325, .160289, .1}},
      {"cosine_warmup_with_min_lr", {3, 9}, {{"min_lr_rate", ".1"}}, {1.0 / 3, 2.0 / 3, 1, .939711, .775, .55, .325, .160289, .1}},
      {"cosine_warmup_with_min_lr", {3, 9}, {{"min_lr_rate", ".1"}, {"warmup_lr_rate", ".2"}}, {.2, .6, 1, .939711, .775}},
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
  CHECK_THROWS_WITH_AS(make_schedule("cosin", {}),
                       "schedule: there is no cosin; did you mean cosine? The names are linear, cosine, cosine_with_restarts, polynomial, constant, constant_with_warmup, "
                       "inverse_sqrt, cosine_with_min_lr, cosine_warmup_with_min_lr, warmup_stable_decay.",
                       ArgumentError);
  struct Row {
    const char* name;
    ScheduleLength length;
    Options options;
    const char* says;
  };
  const Row rows[] = {
      {"linear", {}, {{"power", "2"}}, "schedule linear: there is no power; it takes none."},
      {"cosine", {}, {{"num_cycle", "2"}}, "schedule cosine: there is no num_cycle, did you mean num_cycles? It takes num_cycles."},
      {"cosine", {}, {{"num_cycles", "two"}}, "schedule cosine: num_cycles is \"two\"; it must be a number."},
      {"polynomial", {0, 5, 1e-8}, {}, "schedule polynomial: lr_end is 1e-07 and the learning rate 1e-08; lr_end must be smaller."},
      {"cosine_with_min_lr", {0, 5, 1}, {}, "schedule cosine_with_min_lr: no floor is given; give one of min_lr and min_lr_rate."},
      {"cosine_with_min_lr", {0, 5, 1}, {{"min_lr", "1"}, {"min_lr_rate", "1"}}, "schedule cosine_with_min_lr: both min_lr and min_lr_rate are given; give one of min_lr and min_lr_rate."},
      {"warmup_stable_decay", {0, 5}, {}, "schedule warmup_stable_decay: num_decay_steps is not given; say over how many updates the rate falls."},
      {"warmup_stable_decay", {0, 5}, {{"num_decay_steps", "2"}, {"decay_type", "sqrt"}}, "schedule warmup_stable_decay: decay_type is \"sqrt\"; it must be linear, cosine or 1-sqrt."},
      {"linear", {.warmup_steps = -1, .total_steps = 5}, {}, "schedule linear: got -1 warm-up steps of 5; neither may be negative."},
  };
  for (const Row& row : rows) CHECK_THROWS_WITH_AS(make_schedule(row.name, row.length, row.options), row.says, ArgumentError);
}

TEST_CASE("torch schedules: where they turn") {
  CHECK(step_lr(3, 0.5).rate(5, 8.0) == 4.0);
  CHECK(multi_step_lr({2, 2, 5}, 0.5).factor(2) == 0.25);
  CHECK(constant_lr(0.25, 3).factor(2) == 0.25);
  CHECK(constant_lr(0.25, 3).factor(3) == 1);
  CHECK(cosine_annealing_warm_restarts({.T_0 = 2, .T_mult = 2, .eta_min = 0.5}).rate(2, 1.0) == 1.0);
  CHECK(cosine_annealing_warm_restarts({.T_0 = 2, .T_mult = 2, .eta_min = 0.5}).rate(4, 1.0) == 0.75);
  const Schedule cycle = one_cycle_lr({.max_lr = 1, .total_steps = 11, .pct_start = 0.5});
  CHECK(cycle.rate(0, 9.0) == doctest::Approx(1.0 / 25));
  CHECK(cycle.rate(10, 9.0) == doctest::Approx(1.0 / 25e4));
  CHECK(cycle.rate(100, 9.0) == cycle.rate(10, 9.0));
  CHECK(cycle.momentum(0) == doctest::Approx(0.95));
  CHECK_THROWS_WITH_AS(make_torch_schedule("StepLR", {}), "schedule StepLR: step_size is 0; it must be at least 1.", ArgumentError);
  CHECK_THROWS_WITH_AS(make_torch_schedule("CosineLR", {}),
                       "schedule: torch has no CosineLR here; there are StepLR, MultiStepLR, ExponentialLR, ConstantLR, LinearLR, PolynomialLR, CosineAnnealingLR, "
                       "CosineAnnealingWarmRestarts, OneCycleLR and CyclicLR.",
                       ArgumentError);
}

TEST_CASE("plateau: the rate falls after more than `patience` values without improvement, and not by less than eps") {
  ReduceLROnPlateau plateau({.factor = 0.5, .patience = 1, .cooldown = 1, .min_lr = 0.2});
  std::vector<double> rates = {1};
  const std::pair<double, double> steps[] = {{3, 1}, {3, 1}, {3, .5}, {3, .5}, {3, .5}, {3, .25}, {9, .25}, {9, .25}, {9, .2}, {9, .2}, {9, .2}, {9, .2}};
  for (const auto& [metric, rate] : steps) {
    plateau.step(metric, rates);
    CHECK(rates[0] == rate);
  }
  ReduceLROnPlateau again({.factor = 0.5, .patience = 1, .cooldown = 1, .min_lr = 0.2});
  again.load(plateau.state());
  CHECK(again.state() == plateau.state());
  CHECK_THROWS_WITH_AS(again.load({}), "load_state: num_bad_epochs of the schedule is missing; the state belongs to another schedule or is torn.", StateError);
  std::vector<double> two = {1, 1};
  const auto floors = make_metric_schedule("reduce_lr_on_plateau", two, {{"patience", "0"}, {"min_lr", "[0.5, 0.01]"}});
  for (const double metric : {1.0, 1.0}) floors->step(metric, two);
  CHECK(two == std::vector<double>{0.5, 0.1});
  CHECK_THROWS_WITH_AS(make_metric_schedule("reduce_lr_on_plateau", two, {{"min_lr", "1:2:3"}}),
                       "schedule reduce_lr_on_plateau: min_lr has 3 numbers for 2 groups of parameters; give one, or one for each.", ArgumentError);
  CHECK_THROWS_WITH_AS(make_metric_schedule("reduce_lr_on_plateau", {1}, {{"mode", "up"}}), "schedule reduce_lr_on_plateau: mode is \"up\"; it must be min or max.", ArgumentError);
}

TEST_CASE("plateau: what counts as better, by direction and kind of threshold") {
  // Falls at the first value that is not better than the one before.
  const auto better = [](Goal mode, Threshold kind, double before, double after) {
    ReduceLROnPlateau plateau({.mode = mode, .factor = 0.5, .patience = 0, .threshold = 0.1, .threshold_mode = kind});
    std::vector<double> rates = {1};
    plateau.step(before, rates);
    plateau.step(after, rates);
    return rates[0] == 1;
  };
  CHECK(better(Goal::min, Threshold::rel, 2, 1.79));   // below 2 * 0.9
  CHECK_FALSE(better(Goal::min, Threshold::rel, 2, 1.81));
  CHECK(better(Goal::max, Threshold::rel, 2, 2.21));   // above 2 * 1.1
  CHECK_FALSE(better(Goal::max, Threshold::rel, 2, 2.19));
  CHECK(better(Goal::min, Threshold::abs, 2, 1.89));
  CHECK_FALSE(better(Goal::min, Threshold::abs, 2, 1.91));
  CHECK(better(Goal::max, Threshold::abs, 2, 2.11));
  CHECK_FALSE(better(Goal::max, Threshold::abs, 2, 2.09));
  CHECK_FALSE(better(Goal::min, Threshold::rel, 2, std::nan("")));
}

TEST_CASE("metric schedules: the defaults of the reference, with which the greedy one never lets a rate of 5e-5 fall") {
  const PlateauOptions plateau;
  CHECK((plateau.factor == 0.1 && plateau.patience == 10 && plateau.threshold == 1e-4 && plateau.cooldown == 0 && plateau.min_lr[0] == 0 && plateau.eps == 1e-8));
  const GreedyOptions greedy;
  CHECK((greedy.factor == 0.95 && greedy.patience == 10 && greedy.threshold == 1e-6 && greedy.cooldown == 0 && greedy.warmup == 0 && greedy.min_lr[0] == 1e-3));
  CHECK((greedy.max_lr[0] == 1 && greedy.eps == 1e-8 && greedy.window_size == 50 && greedy.reset_start == 500 && !greedy.smooth));
  std::vector<double> rates = {5e-5}, falling = {5e-5};
  GreedyLR never(greedy, rates);
  ReduceLROnPlateau falls(plateau);
  for (int i = 0; i < 13; ++i) {
    never.step(1, rates);
    falls.step(1, falling);
  }
  CHECK(rates[0] == 5e-5);
  CHECK(falling[0] == doctest::Approx(5e-6));  // at the twelfth value: the first is the best, ten more are borne
  CHECK_THROWS_AS(GreedyLR({.factor = 1}, {1}), ArgumentError);
}

TEST_CASE("greedy: each group has its own floor and ceiling where they are given") {
  std::vector<double> rates = {1, 1};
  const auto greedy = make_metric_schedule("greedy", rates, {{"factor", "0.5"}, {"patience", "0"}, {"min_lr", "0.5:0.125"}, {"max_lr", "2:8"}, {"reset_start", "9"}});
  for (const double metric : {3, 2}) greedy->step(metric, rates);
  CHECK(rates == std::vector<double>{2, 4});
  for (int i = 0; i < 5; ++i) greedy->step(9, rates);
  CHECK(rates == std::vector<double>{0.5, 0.125});
}

TEST_CASE("greedy: the rate rises while the metric improves, and its state goes on where it was") {
  const GreedyOptions options{.factor = 0.5, .patience = 0, .min_lr = 0.25, .max_lr = 4, .smooth = true, .window_size = 2, .reset_start = 2};
  GreedyLR whole(options, {1}), cut(options, {1});
  std::vector<double> rates = {1}, same = {1};
  const double metrics[] = {5, 4, 3, 9, 9, 9, 9, 9, 9, 9, 1};
  const double expected[] = {2, 4, 4, 2, 1, .5, .25, 1, 2, 1, 2};
  for (size_t i = 0; i < std::size(metrics); ++i) {
    CAPTURE(i);
    whole.step(metrics[i], rates);
    GreedyLR resumed(options, {1});
    resumed.load(cut.state());
    resumed.step(metrics[i], same);
    cut.load(resumed.state());
    CHECK(rates[0] == same[0]);
    CHECK(rates[0] == expected[i]);
  }
}
