// tests/optim/precision_test.cpp — how moments and weights are kept: by words, what the state then is, and what is refused.
#include <doctest/doctest.h>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "optim/adafactor.h"
#include "optim/adamw.h"
#include "optim/muon.h"
#include "optim/registry.h"

using namespace rote;
using namespace rote::optim;

namespace {

Tensor parameter(const Shape& shape, DType dtype = DType::f32) {
  Tensor p = converted(full(shape, 0.7), dtype);
  return requires_grad(p);
}

std::vector<Group> one(const Tensor& p) { return {{.params = {{"p", p}}, .lr = .01}}; }

void step(Optimizer& optimizer, const Tensor& p) {
  zero_grad({p});
  backward(sum(square(p)));
  CHECK(optimizer.step() == StepResult::applied);
}

}  // namespace

TEST_CASE("precision: the words of optim_args, and the dtypes of the state that they give") {
  struct Row {
    const char* name;
    Options options;
    DType weights;
    std::vector<std::pair<std::string, DType>> state;
  };
  const DType f32 = DType::f32, bf16 = DType::bf16;
  const Row rows[] = {
      {"adamw_torch", {{"moments_dtype", "float32"}}, f32, {{"exp_avg", f32}, {"exp_avg_sq", f32}}},
      {"adamw_torch", {{"moments_dtype", "bfloat16"}}, f32, {{"exp_avg", bf16}, {"exp_avg_sq", bf16}}},
      {"adamw_torch", {{"split_master", "true"}}, bf16, {{"exp_avg", f32}, {"exp_avg_sq", f32}, {"master_low", DType::i16}}},
      {"adamw_torch_fused", {{"split_master", "yes"}, {"moments_dtype", "bfloat16"}}, bf16, {{"exp_avg", bf16}, {"exp_avg_sq", bf16}, {"master_low", DType::i16}}},
      {"adamw_torch", {{"bf16_stochastic_round", "true"}}, bf16, {{"exp_avg", f32}, {"exp_avg_sq", f32}}},
      {"adamw_anyprecision", {}, f32, {{"exp_avg", f32}, {"exp_avg_sq", f32}}},
      {"adamw_anyprecision", {{"use_kahan_summation", "True"}}, bf16, {{"exp_avg", f32}, {"exp_avg_sq", f32}, {"compensation", bf16}}},
      {"adamw_anyprecision",
       {{"use_kahan_summation", "true"}, {"momentum_dtype", "bfloat16"}, {"compensation_buffer_dtype", "float32"}},
       bf16,
       {{"exp_avg", bf16}, {"exp_avg_sq", f32}, {"compensation", f32}}},
      {"adamw_anyprecision", {{"variance_dtype", "bfloat16"}}, f32, {{"exp_avg", f32}, {"exp_avg_sq", bf16}}},
      {"sgd", {{"momentum", ".9"}, {"moments_dtype", "bfloat16"}}, f32, {{"momentum_buffer", bf16}}},
      {"rprop", {{"moments_dtype", "bfloat16"}}, f32, {{"prev", bf16}, {"step_size", bf16}}},
      {"asgd", {{"moments_dtype", "bfloat16"}}, f32, {{"ax", bf16}, {"eta", DType::f64}, {"mu", DType::f64}}},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.name));
    const Tensor p = parameter({3, 5});
    const auto optimizer = make_optimizer(row.name, one(p), {}, row.options);
    CHECK(p.dtype() == row.weights);
    step(*optimizer, p);
    std::vector<std::pair<std::string, DType>> state;
    for (const auto& [name, x] : optimizer->state_tensors()) state.emplace_back(name.substr(2), x.dtype());
    CHECK(state == row.state);
  }
}

TEST_CASE("precision: every optimizer that updates element by element takes it, descends and goes on from its state to the bit") {
  for (const std::string& name : optimizer_names()) {
    CAPTURE(name);
    if (name == "adafactor") continue;  // below
    for (const Options& options : {Options{{"moments_dtype", "bfloat16"}}, Options{{"split_master", "true"}, {"moments_dtype", "bfloat16"}},
                                   Options{{"use_kahan_summation", "true"}}, Options{{"bf16_stochastic_round", "true"}, {"moments_dtype", "bfloat16"}}}) {
      const auto make = [&](const Tensor& x) { return make_optimizer(name, {{.params = {{"p", x}}, .lr = .05}}, {}, options); };
      const Tensor p = parameter({300}), q = parameter({300});
      const auto whole = make(p);
      auto part = make(q);
      for (int t = 0; t < 12; ++t) {
        step(*whole, p);
        const auto next = make(q);
        next->load_state(part->state_tensors(), part->state_steps());
        step(*next, q);
        part = next;
      }
      CHECK(sum(square(to(p, DType::f32))).item() < 300 * .49);
      const Tensor a = to(p, DType::f32), b = to(q, DType::f32);
      for (int i = 0; i < 300; ++i) CHECK(a.data<float>()[i] == b.data<float>()[i]);
    }
  }
}

TEST_CASE("precision: every handle to a parameter sees the bf16 weights, and its shape stays") {
  Tensor p = parameter({2, 3});
  const Tensor tied = p;
  AdamW adamw({{"p", p}}, {});
  adamw.keep({.weights = Weights::split_master});
  CHECK(tied.dtype() == DType::bf16);
  CHECK(tied.shape() == Shape{2, 3});
  CHECK(tied.requires_grad());
  CHECK(tied.storage() == p.storage());
  step(adamw, p);
  CHECK(tied.grad().dtype() == DType::bf16);
}

TEST_CASE("precision: the memory of each choice, in bytes a parameter") {
  struct Row {
    Precision precision;
    int64_t weights, master, gradients, moments;
  };
  const DType bf16 = DType::bf16;
  const Row rows[] = {
      {{}, 4, 0, 4, 8},
      {{.momentum = bf16, .variance = bf16}, 4, 0, 4, 4},
      {{.weights = Weights::split_master}, 2, 2, 2, 8},
      {{.momentum = bf16, .variance = bf16, .weights = Weights::split_master}, 2, 2, 2, 4},
      {{.momentum = bf16, .variance = bf16, .weights = Weights::kahan}, 2, 2, 2, 4},
      {{.momentum = bf16, .variance = bf16, .weights = Weights::stochastic}, 2, 0, 2, 4},
  };
  for (const Row& row : rows) {
    const Tensor p = parameter({10, 10});
    AdamW adamw({{"p", p}}, {});
    adamw.keep(row.precision);
    step(adamw, p);
    const MemoryOf m = adamw.memory();
    CHECK(m.elements == 100);
    CHECK(std::vector<int64_t>{m.weights, m.master, m.gradients, m.moments} == std::vector<int64_t>{100 * row.weights, 100 * row.master, 100 * row.gradients, 100 * row.moments});
    CHECK(m.sum() == m.weights + m.master + m.gradients + m.moments);
  }
  CHECK(describe(MemoryOf{.elements = 1 << 20, .weights = 2 << 20, .master = 2 << 20, .gradients = 2 << 20, .moments = 4 << 20}) ==
        "memory: 10 bytes a parameter (weights 2, master 2, gradients 2, moments 4), 10 MiB for 1048576 parameters");
}

TEST_CASE("precision: what is refused, in one sentence") {
  struct Refusal {
    const char* name;
    DType dtype;
    Options options;
    const char* says;
  };
  const Refusal rows[] = {
      {"adamw_torch", DType::f32, {{"moments_dtype", "float16"}}, "optim_args of adamw_torch: moments_dtype is \"float16\"; it must be float32 or bfloat16."},
      {"adamw_torch", DType::f32, {{"split_master", "true"}, {"use_kahan_summation", "true"}},
       "optim_args of adamw_torch: split_master and use_kahan_summation are both true; each is a way to keep what bfloat16 weights lose, give one."},
      {"adamw_anyprecision", DType::f32, {{"use_kahan_summation", "true"}, {"bf16_stochastic_round", "true"}},
       "optim_args of adamw_anyprecision: use_kahan_summation and bf16_stochastic_round are both true; each is a way to keep what bfloat16 weights lose, give one."},
      {"adamw_torch", DType::f64, {{"split_master", "true"}}, "optimizer: p is f64[2]; only float32 and bfloat16 parameters are kept otherwise."},
      {"adamw_torch", DType::f16, {{"moments_dtype", "bfloat16"}}, "optimizer: p is f16[2]; only float32 and bfloat16 parameters are kept otherwise."},
      {"adafactor", DType::f32, {{"moments_dtype", "bfloat16"}},
       "optim_args of adafactor: there is no moments_dtype; it takes eps, clip_threshold, decay_rate, beta1, weight_decay, scale_parameter, relative_step, warmup_init."},
  };
  for (const Refusal& row : rows) {
    const Tensor p = parameter({2}, row.dtype);
    CHECK_THROWS_WITH_AS(make_optimizer(row.name, one(p), {}, row.options), row.says, ArgumentError);
    CHECK(p.dtype() == row.dtype);
  }
  const char* whole = "optimizer: its update needs whole tensors in float32; leave out how moments and weights are kept.";
  const Tensor matrix = parameter({2, 2});
  Adafactor adafactor({{"p", matrix}});
  Muon muon({{"p", matrix}});
  CHECK_THROWS_WITH_AS(adafactor.keep({.momentum = DType::bf16}), whole, ArgumentError);
  CHECK_THROWS_WITH_AS(muon.keep({.weights = Weights::kahan}), whole, ArgumentError);
  AdamW adamw({{"p", matrix}}, {});
  step(adamw, matrix);
  CHECK_THROWS_WITH_AS(adamw.keep({.weights = Weights::kahan}), "optimizer: p was updated already; say how it is kept before.", StateError);
  AdamW other({{"p", parameter({2})}}, {});
  other.keep({.weights = Weights::split_master});
  CHECK_THROWS_WITH_AS(other.keep({}), "optimizer: how it keeps moments and weights was said already; say it once.", StateError);
}

TEST_CASE("precision: a state that was kept otherwise is refused, and a state without an update still has its masters") {
  const Tensor p = parameter({4}), q = parameter({4});
  AdamW split({{"p", p}}, {}), plain({{"p", q}}, {});
  split.keep({.weights = Weights::split_master});
  CHECK(split.state_tensors().size() == 1);
  CHECK_THROWS_WITH_AS(split.load_state({}, {}), "load_state: p.master_low is missing; the state belongs to another optimizer or is torn.", StateError);
  CHECK_THROWS_AS(plain.load_state(split.state_tensors(), split.state_steps()), StateError);
  const Tensor r = parameter({4});
  AdamW narrow({{"p", r}}, {});
  narrow.keep({.momentum = DType::bf16, .variance = DType::bf16});
  step(plain, q);
  CHECK_THROWS_WITH_AS(narrow.load_state(plain.state_tensors(), plain.state_steps()), "load_state: p.exp_avg is f32[4] in the file, bf16[4] in the optimizer; go on with the model and the options that it was saved with.", StateError);
}

TEST_CASE("precision: optimizers that need whole tensors take 16-bit parameters, their update in f32") {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor p = parameter({4, 3}, dtype), q = parameter({4, 3}, dtype);
    Adafactor adafactor({{"p", p}}, {.lr = .1, .relative_step = false});
    Muon muon({{"p", q}}, {.lr = .1});
    step(adafactor, p);
    step(muon, q);
    for (const auto& [name, x] : adafactor.state_tensors()) CHECK(size_of(x.dtype()) > 2);
    CHECK(muon.state_tensors()[0].second.dtype() == DType::f32);
    CHECK(sum(square(to(p, DType::f32))).item() < 12 * .49);
    CHECK(sum(square(to(q, DType::f32))).item() < 12 * .49);
  }
}
