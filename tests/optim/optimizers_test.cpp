// tests/optim/optimizers_test.cpp — what holds of every optimizer by name: its paper's step, descent, state out and in, frozen parameters, refusals.
// Check values: PyTorch 2.15 and transformers 5.24 in f64 (SGDW, adamw_hf: their formulas), p = [1, -2, .5, 3] and the gradients below.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "kernels/pool.h"
#include "optim/adafactor.h"
#include "optim/muon.h"
#include "optim/registry.h"
#include "optim/sgd.h"
#include "optim/torch_schedule.h"

using namespace rote;
using namespace rote::optim;

namespace {

constexpr double kGrads[3][4] = {{.1, -.2, .3, 0}, {.4, .1, -.1, .2}, {-.3, .2, .05, -1}};

Tensor parameter(const Shape& shape, const std::vector<double>& values) {
  Tensor p = from_values(shape, values);
  return requires_grad(p);
}

void give_grad(const Tensor& p, const std::vector<double>& g) {
  zero_grad({p});
  backward({p * 1.0}, {from_values(p.shape(), g)});
}

struct Sample {
  const char* name;
  double lr, weight_decay;
  AdamArguments adam;
  Options options;
  std::vector<double> after1, after3;
};

std::vector<Group> one(const Tensor& p, double lr, double weight_decay = 0) { return {{.params = {{"p", p}}, .lr = lr, .weight_decay = weight_decay}}; }

}  // namespace

TEST_CASE("optimizers: one and three steps equal the reference's") {
  const Sample rows[] = {
      {"adamw_torch", .1, .01, {}, {}, {.89900001, -1.898000005, .3995000033, 2.997}, {.7911828704, -1.8948685119, .3181770311, 2.9680361988}},
      {"adamw_hf", .1, .01, {.eps = 1e-6}, {}, {.8991315812, -1.8981157931, .3996105293, 2.997}, {.7914280591, -1.8949842931, .3183758559, 2.9680693164}},
      {"adamw_hf", .1, .01, {.eps = 1e-6}, {{"correct_bias", "false"}}, {.6831883302, -1.6821384039, .1836217582, 2.997}, {.2193969004, -1.7006777896, -.1869394921, 2.9294772054}},
      {"sgd", .1, .01, {}, {{"momentum", ".9"}}, {.989, -1.978, .4695, 2.997}, {.921372789, -1.973655578, .4300013695, 3.045204397}},
      {"sgd", .1, 0, {}, {{"momentum", ".9"}, {"dampening", ".5"}}, {.99, -1.98, .47, 3}, {.9499, -1.9653, .4257, 3.031}},
      {"sgd", .1, 0, {}, {{"momentum", ".9"}, {"nesterov", "yes"}}, {.981, -1.962, .443, 3}, {.91421, -1.99632, .41443, 3.1358}},
      {"sgdw", .1, .01, {}, {{"momentum", ".9"}}, {.989, -1.978, .4695, 2.997}, {.923971989, -1.978853978, .4312784695, 3.053028997}},
      {"adagrad", .1, .01, {}, {{"lr_decay", ".1"}}, {.9000000001, -1.9, .4, 2.9000000003}, {.8594980639, -1.9822807757, .4133488143, 2.8909367121}},
      {"rmsprop", .01, 0, {}, {}, {.9000001, -1.90000005, .4000000333, 3}, {.8619967646, -2.01190235, .4160026137, 2.9980769707}},
      {"rmsprop", .01, 0, {}, {{"centered", "1"}, {"momentum", ".9"}}, {.8994963195, -1.899496269, .3994962521, 3}, {.6009701187, -1.8800709856, .2722981386, 2.9074246495}},
      {"adafactor", .1, .01, {}, {}, {.899, -1.898, .3995, 2.997}, {.8596981235, -2.0662126292, .417775172, 3.0008882195}},
      {"adafactor", .1, 0, {}, {{"beta1", ".9"}}, {.99, -1.99, .49, 3}, {.9576291251, -1.9960191574, .479062424, 2.9892037393}},
  };
  for (const Sample& row : rows) {
    CAPTURE(row.name);
    const Tensor p = parameter({4}, {1, -2, .5, 3});
    const auto optimizer = make_optimizer(row.name, one(p, row.lr, row.weight_decay), row.adam, row.options);
    for (int t = 0; t < 3; ++t) {
      give_grad(p, std::vector<double>(kGrads[t], kGrads[t] + 4));
      optimizer->step();
      const std::vector<double>& expected = t == 0 ? row.after1 : row.after3;
      for (size_t i = 0; t != 1 && i < 4; ++i) CHECK(std::abs(p.data<double>()[i] - expected[i]) < 1.01e-10);  // ten printed digits
    }
  }
}

TEST_CASE("optimizers: a schedule that moves the momentum moves it, or the first beta, as torch's does") {
  struct Moved {
    const char* name;
    Options options;
    std::vector<double> one_cycle, cyclic;  // after six steps
  };
  const Moved rows[] = {
      {"sgd", {{"momentum", ".9"}}, {.9238436052, -2.000486508, .4422573521, 3.08839242}, {.93878309, -2.01699358, .4264890075, 3.19238755}},
      {"sgd", {}, {.9238436052, -2.000486508, .4422573521, 3.08839242}, {.93878309, -2.01699358, .4264890075, 3.19238755}},  // nothing of its own is left
      {"rmsprop", {{"momentum", ".9"}}, {-2.378660964, -1.699766455, -1.278187967, 2.12996766}, {-2.071476163, -2.166954704, -1.667360909, 3.06775485}},
      {"adamw_torch", {}, {.8831404587, -2.065677324, .4667449492, 2.999915651}, {.939124681, -2.057072381, .4013744727, 3.096058348}},
      {"adam", {}, {.8831404587, -2.065677324, .4667449492, 2.999915651}, {.939124681, -2.057072381, .4013744727, 3.096058348}},
      {"adamax", {}, {.9146056684, -2.055382091, .475689173, 2.98796452}, {.9532946031, -2.048281881, .4301852919, 3.04822196}},
      {"nadam", {}, {.9136765473, -2.084637948, .4773306125, 2.982836841}, {1.007452136, -2.107982242, .4201965031, 3.131441578}},  // torch's product in f64
      {"radam", {}, {.9670529258, -2.01107334, .4927093807, 3.030932569}, {.9840848245, -2.006611847, .4825222728, 3.051090465}},
  };
  const auto after_six = [](const Moved& row, const Schedule& schedule) {
    const Tensor p = parameter({4}, {1, -2, .5, 3});
    const auto optimizer = make_optimizer(row.name, one(p, .1), {}, row.options);
    for (int t = 0; t < 6; ++t) {
      give_grad(p, std::vector<double>(kGrads[t % 3], kGrads[t % 3] + 4));
      optimizer->set_rates(schedule, t);
      optimizer->step();
    }
    return std::vector<double>(p.data<double>(), p.data<double>() + 4);
  };
  for (const Moved& row : rows) {
    CAPTURE(std::string(row.name));
    const std::vector<double> one_cycle = after_six(row, one_cycle_lr({.max_lr = .1, .total_steps = 6}));
    const std::vector<double> cyclic = after_six(row, cyclic_lr({.base_lr = .01, .max_lr = .1, .step_size_up = 2}));
    for (size_t i = 0; i < 4; ++i) {
      CHECK(std::abs(one_cycle[i] - row.one_cycle[i]) < 5.1e-10);  // ten printed digits
      CHECK(std::abs(cyclic[i] - row.cyclic[i]) < 5.1e-10);
    }
  }
  const Tensor p = parameter({4}, {1, -2, .5, 3});
  const auto adagrad = make_optimizer("adagrad", one(p, .1));
  CHECK_THROWS_WITH_AS(adagrad->set_rates(cyclic_lr({.base_lr = .01, .max_lr = .1}), 3), "schedule: it moves the momentum, and this optimizer has none; set cycle_momentum to false.", ArgumentError);
  CHECK(adagrad->groups()[0].lr == .1);
  adagrad->set_rates(cyclic_lr({.base_lr = .01, .max_lr = .1, .step_size_up = 2, .cycle_momentum = false}), 2);
  CHECK(adagrad->groups()[0].lr == .1);
}

TEST_CASE("adafactor: a matrix has one row and one column of moments") {
  const Tensor p = parameter({2, 2}, {1, -2, .5, 3});
  Adafactor adafactor({{"p", p}});
  const double after1[] = {.990562707, -1.970156659, .4788975712, 3}, after3[] = {.9945269591, -1.9894402608, .4842183691, 2.997162365};
  for (int t = 0; t < 3; ++t) {
    give_grad(p, std::vector<double>(kGrads[t], kGrads[t] + 4));
    adafactor.step();
    for (int i = 0; t != 1 && i < 4; ++i) CHECK(std::abs(p.data<double>()[i] - (t == 0 ? after1 : after3)[i]) < 1e-10);
  }
  const Tensor q = parameter({2, 2}, {1, -2, .5, 3});
  const auto by_name = make_optimizer("adafactor", one(q, .1, .01), {}, {{"eps", "(1e-30,1e-3)"}});
  const double q1[] = {.949, -1.839886117, .3876966011, 2.997}, q3[] = {.9691590635, -1.9391701568, .4151580029, 2.9767569044};
  for (int t = 0; t < 3; ++t) {
    give_grad(q, std::vector<double>(kGrads[t], kGrads[t] + 4));
    by_name->step();
    for (int i = 0; t != 1 && i < 4; ++i) CHECK(std::abs(q.data<double>()[i] - (t == 0 ? q1 : q3)[i]) < 1.01e-10);
  }
  const NamedState state = adafactor.state_tensors();
  CHECK(state[0].first == "p.exp_avg_sq_row");
  CHECK(state[0].second.shape() == Shape{2});
  CHECK_THROWS_WITH_AS(Adafactor({{"p", p}}, {.lr = .1}), "Adafactor: lr is 0.1 beside relative_step; give lr with relative_step = false.", ArgumentError);
  CHECK_THROWS_WITH_AS(Adafactor({{"p", p}}, {.relative_step = false}), "Adafactor: lr is not given and relative_step is false; give one of the two.", ArgumentError);
}

TEST_CASE("optimizers: each descends a parabola, leaves frozen parameters alone, and goes on from its state to the bit") {
  for (const std::string& name : optimizer_names()) {
    CAPTURE(name);
    const Tensor p = parameter({2, 2}, {1, -2, .5, 3}), q = parameter({2, 2}, {1, -2, .5, 3}), frozen = parameter({1}, {5});
    const auto make = [&](const Tensor& x) {
      std::vector<Group> groups = one(x, .05);
      groups[0].params.emplace_back("frozen", frozen);
      return make_optimizer(name, groups);
    };
    const auto loss_of = [](const Tensor& x) { return sum(square(x)); };
    const auto whole = make(p);
    const double first = loss_of(p).item();
    double last = first;
    for (int t = 0; t < 20; ++t) {
      zero_grad({p});
      backward(loss_of(p));
      CHECK(whole->step() == StepResult::applied);
      last = loss_of(p).item();
    }
    CHECK(last < first);
    CHECK(frozen.data<double>()[0] == 5);
    auto part = make(q);
    for (int t = 0; t < 20; ++t) {
      const auto next = make(q);
      next->load_state(part->state_tensors(), part->state_steps());
      zero_grad({q});
      backward(loss_of(q));
      next->step();
      part = next;
    }
    for (int i = 0; i < 4; ++i) CHECK(p.data<double>()[i] == q.data<double>()[i]);
  }
}

TEST_CASE("optimizers: the factor of a clip and f32 rows of a split parameter give the same bits") {
  for (const std::string& name : optimizer_names()) {
    CAPTURE(name);
    if (name.find("adafactor") != std::string::npos) continue;  // its rates depend on the whole parameter
    std::vector<double> values, grads;
    for (int i = 0; i < 100; ++i) {
      values.push_back(std::sin(i));
      grads.push_back(std::cos(3 * i));
    }
    const auto f32 = [](const std::vector<double>& v, size_t first, size_t last) {
      Tensor x = to(from_values({static_cast<int64_t>(last - first)}, std::vector<double>(v.begin() + static_cast<std::ptrdiff_t>(first), v.begin() + static_cast<std::ptrdiff_t>(last))), DType::f32);
      return requires_grad(x);
    };
    const Tensor whole = f32(values, 0, 100), left = f32(values, 0, 37), right = f32(values, 37, 100);
    const auto a = make_optimizer(name, one(whole, .01));
    std::vector<Group> halves = {{.params = {{"left", left}, {"right", right}}, .lr = .01}};
    const auto b = make_optimizer(name, halves);
    for (int t = 0; t < 3; ++t) {
      for (const auto& [x, first, last] : {std::tuple(whole, 0, 100), std::tuple(left, 0, 37), std::tuple(right, 37, 100)}) {
        zero_grad({x});
        backward({x * 1.0}, {detach(f32(grads, static_cast<size_t>(first), static_cast<size_t>(last)))});
      }
      a->step({.max_norm = 1, .norm = 7.0});
      b->step({.max_norm = 1, .norm = 7.0});
    }
    for (int i = 0; i < 100; ++i) CHECK(whole.data<float>()[i] == (i < 37 ? left.data<float>()[i] : right.data<float>()[i - 37]));
  }
}

TEST_CASE("muon: the update of a matrix is near an orthogonal one; other parameters are refused") {
  const Tensor p = parameter({2, 3}, {0, 0, 0, 0, 0, 0});
  Muon muon({{"p", p}}, {.lr = 1, .weight_decay = 0});
  give_grad(p, {3, 0, 0, 0, .1, 0});
  muon.step();
  for (const int i : {0, 4}) CHECK(std::abs(p.data<double>()[i]) == doctest::Approx(1).epsilon(0.35));  // singular values end in 0.7 … 1.2
  CHECK(p.data<double>()[1] == 0);
  const Tensor bias = parameter({3}, {0, 0, 0});
  CHECK_THROWS_WITH_AS(Muon({{"bias", bias}}), "Muon: bias is f64[3]; it updates matrices only, give the others to AdamW.", ArgumentError);
}

TEST_CASE("optimizers: a closure is called before the step and its loss returned") {
  const Tensor p = parameter({1}, {3});
  Sgd sgd({{"p", p}}, {.lr = .5});
  const Tensor loss = sgd.step([&] {
    sgd.zero_grad();
    const Tensor value = sum(square(p));
    backward(value);
    return value;
  });
  CHECK(loss.item() == 9);
  CHECK(p.data<double>()[0] == 0);
}

TEST_CASE("optimizers: the state has torch's names, and a parameter without a gradient has none") {
  struct Row {
    std::string name;
    Options options;
    std::vector<std::string> state;
  };
  const Row rows[] = {
      {"adamw_torch", {}, {"exp_avg", "exp_avg_sq"}},
      {"adamw_torch", {{"amsgrad", "true"}}, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}},
      {"adamw_hf", {}, {"exp_avg", "exp_avg_sq"}},
      {"sgd", {}, {}},
      {"sgd", {{"momentum", ".9"}}, {"momentum_buffer"}},
      {"adagrad", {}, {"sum"}},
      {"rmsprop", {}, {"square_avg"}},
      {"rmsprop", {{"momentum", ".9"}, {"centered", "true"}}, {"square_avg", "momentum_buffer", "grad_avg"}},
      {"adafactor", {}, {"exp_avg_sq_row", "exp_avg_sq_col", "RMS"}},
      {"adafactor", {{"beta1", ".9"}}, {"exp_avg_sq_row", "exp_avg_sq_col", "RMS", "exp_avg"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Tensor p = parameter({2, 2}, {1, -2, .5, 3}), without = parameter({1}, {5});
    std::vector<Group> groups = one(p, .1);
    groups[0].params.emplace_back("without", without);
    const auto optimizer = make_optimizer(row.name, groups, {}, row.options);
    CHECK(optimizer->state_tensors().empty());
    give_grad(p, {.1, -.2, .3, 0});
    optimizer->step();
    std::vector<std::string> names, expected;
    for (const auto& [name, x] : optimizer->state_tensors()) names.push_back(name);
    for (const std::string& name : row.state) expected.push_back("p." + name);
    std::sort(names.begin(), names.end());
    std::sort(expected.begin(), expected.end());
    CHECK(names == expected);
  }
}

TEST_CASE("optim_args: the words that each optimizer takes") {
  struct Row {
    const char* name;
    Options options;
  };
  const Row rows[] = {
      {"sgd", {{"momentum", ".9"}, {"dampening", "0"}, {"weight_decay", ".1"}, {"nesterov", "yes"}}},
      {"adagrad", {{"lr_decay", ".1"}, {"weight_decay", ".1"}, {"eps", "1e-9"}}},
      {"rmsprop", {{"momentum", ".9"}, {"alpha", ".9"}, {"eps", "1e-9"}, {"weight_decay", ".1"}, {"centered", "true"}}},
      {"ademamix", {{"beta1", ".9"}, {"beta2", ".99"}, {"beta3", ".9999"}, {"alpha", "5"}, {"eps", "1e-9"}, {"t_alpha", "10"}, {"t_beta3", "10"}}},
      {"adamw_hf", {{"correct_bias", "false"}}},
  };
  const Tensor p = parameter({1}, {3});
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK_NOTHROW(make_optimizer(row.name, one(p, .1), {}, row.options));
    CHECK_THROWS_AS(make_optimizer(row.name, one(p, .1), {}, {{"use_kahan_summation", "true"}}), ArgumentError);
  }
  // The groups' own weight_decay wins over one of optim_args.
  const auto sgd = make_optimizer("sgd", one(p, .1, 0), {}, {{"weight_decay", ".5"}});
  give_grad(p, {0});
  sgd->step();
  CHECK(p.data<double>()[0] == 3);
}

TEST_CASE("optimizers: L2 in the gradient is weight decay for plain SGD, and is not for Adam") {
  const auto after = [](const char* name, const Options& options) {
    const Tensor p = parameter({4}, {1, -2, .5, 3});
    const auto optimizer = make_optimizer(name, one(p, .1, .01), {}, options);
    for (const auto& g : kGrads) {
      give_grad(p, std::vector<double>(g, g + 4));
      optimizer->step();
    }
    return std::vector<double>(p.data<double>(), p.data<double>() + 4);
  };
  const auto sgd = after("sgd", {}), sgdw = after("sgdw", {}), adam = after("adam", {}), adamw = after("adamw_torch", {});
  for (size_t i = 0; i < 4; ++i) {
    CHECK(sgd[i] == doctest::Approx(sgdw[i]).epsilon(1e-14));
    CHECK(std::abs(adam[i] - adamw[i]) > 1e-4);
  }
}

TEST_CASE("optimizers: options by name, and what is refused") {
  CHECK(parse_optim_args(" momentum = 0.9, nesterov=true") == Options{{"momentum", "0.9"}, {"nesterov", "true"}});
  CHECK(parse_optim_args("").empty());
  CHECK(parse_optim_args("eps=(1e-30, 1e-3),beta1=.9") == Options{{"eps", "(1e-30,1e-3)"}, {"beta1", ".9"}});
  CHECK_THROWS_WITH_AS(parse_optim_args("momentum"), "optim_args: \"momentum\" is no name=value; write them with commas between, as momentum=0.9,nesterov=true.", ArgumentError);
  CHECK_THROWS_AS(parse_optim_args("momentum"), OptionError);
  CHECK_THROWS_AS(make_optimizer("sgd", {{.params = {}, .lr = 0.1}}, {}, {{"momentun", "0.9"}}), OptionError);
  try {
    make_optimizer("sgd", {{.params = {}, .lr = 0.1}}, {}, {{"momentum", "fast"}, {"moments_dtype", "int8"}, {"split_master", "maybe"}, {"zeal", "1"}});
    FAIL("a word is no momentum");
  } catch (const OptionError& fault) {  // all at once
    REQUIRE(fault.faults.size() == 4);
    CHECK(fault.faults[0] == "momentum is \"fast\"; it must be a number.");
    CHECK(fault.faults[1] == "moments_dtype is \"int8\"; it must be float32 or bfloat16.");
    CHECK(fault.faults[2] == "split_master is \"maybe\"; it must be true or false.");
    CHECK(fault.faults[3].find("there is no zeal; it takes ") == 0);
  }
  CHECK_THROWS_WITH_AS(parse_optim_args("a=1,a=2"), "optim_args: a comes twice; give it once.", ArgumentError);
  const Tensor p = parameter({1}, {3});
  struct Refusal {
    const char* name;
    double lr;
    Options options;
    const char* says;
  };
  const Refusal rows[] = {
      {"sgd", .1, {{"momentun", ".9"}}, "optim_args of sgd: there is no momentun, did you mean momentum? It takes momentum, dampening, weight_decay, nesterov, maximize, moments_dtype, split_master, use_kahan_summation, bf16_stochastic_round."},
      {"sgd", .1, {{"momentum", "high"}}, "optim_args of sgd: momentum is \"high\"; it must be a number."},
      {"sgd", .1, {{"nesterov", "on"}}, "optim_args of sgd: nesterov is \"on\"; it must be true or false."},
      {"sgd", .1, {{"nesterov", "true"}}, "Sgd: nesterov with momentum 0 and dampening 0; it needs a momentum above 0 and no dampening."},
      {"sgd", -.1, {}, "Sgd: lr is -0.1; it must be finite and at least 0."},
      {"adamw_torch", .1, {{"beta1", "1"}}, "AdamW: a beta is 1; it must lie in [0,1)."},
      {"adamw_torch", .1, {{"eps", "(1e-30,1e-3)"}}, "optim_args of adamw_torch: eps is \"(1e-30,1e-3)\"; it must be one number; a pair is what adafactor's eps takes."},
      {"adafactor", .1, {{"eps", "1e-3"}}, "optim_args of adafactor: eps is \"1e-3\"; it must be a pair of numbers, (1e-30,1e-3)."},
      {"adafactor", .1, {{"eps", "(1e-30,small)"}}, "optim_args of adafactor: eps is \"small\"; it must be a pair of numbers, (1e-30,1e-3)."},
      {"rprop", .1, {{"etaminus", "2"}}, "Rprop: the etas are 2 and 1.2; they must be 0 < etaminus < 1 < etaplus."},
  };
  for (const Refusal& row : rows) CHECK_THROWS_WITH_AS(make_optimizer(row.name, one(p, row.lr), {}, row.options), row.says, ArgumentError);
  CHECK_THROWS_AS(make_optimizer("adam_torch", one(p, .1)), ArgumentError);
}
