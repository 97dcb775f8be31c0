// tests/trainer/debug_underflow_overflow_test.cpp — the frames of forwards: the worked example of the reference, T5's overflow in f16, what is printed when.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "autograd/ops.h"
#include "nn/linear.h"
#include "nn/models/t5.h"
#include "optim/sgd.h"
#include "tests/trainer/small_run.h"
#include "trainer/debug_underflow_overflow.h"

namespace rote::testing {

namespace {

struct ReLU : nn::Layer<ReLU> {
  Tensor forward(const Tensor& x) { return relu(x); }
};
struct Identity : nn::Layer<Identity> {
  Tensor forward(const Tensor& x) { return x; }
};

// Of the reference's worked example.
struct Block : nn::Layer<Block> {
  nn::Linear fc{2, 2};
  ReLU act;
  Block() { add_modules({{"fc", fc}, {"act", act}}); }
  std::tuple<Tensor, std::optional<Tensor>> forward(const Tensor& x) { return {act(fc(x)), std::nullopt}; }
};
struct M : nn::Layer<M> {
  struct Output {
    Tensor logits;
  };
  Block block;
  Identity drop;
  Tensor scale = from_values({1}, std::vector<float>{3});
  M() {
    add_parameters({{"scale", scale}});
    add_modules({{"block", block}, {"drop", drop}});
    copy_elements(block.fc.weight, from_values({2, 2}, std::vector<float>{0.5f, -1, 2, 0.25f}));
    copy_elements(block.fc.bias, from_values({2}, std::vector<float>{0, 0.125f}));
  }
  Output forward(const Tensor& x) { return {drop(mul(std::get<0>(block(x)), scale))}; }
  void call(float a, float b) { (*this)(from_values({1, 2}, std::vector<float>{a, b})); }
};

// The message of what f throws.
template <class F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const Error& fault) {
    return fault.text;
  }
  return "";
}

constexpr const char* kWorkedExample = R"(input[0] has infs
output has infs

Detected inf/nan during batch_number=1
Last 9 forward frames:
abs min  abs max  metadata


                  *** Starting batch number=0 ***
abs min  abs max  metadata
                  block.fc Linear
2.50e-01 2.00e+00 weight
0.00e+00 1.25e-01 bias
1.00e+00 2.00e+00 input[0]
1.50e+00 2.62e+00 output
                  block.act ReLU
1.50e+00 2.62e+00 input[0]
0.00e+00 2.62e+00 output
                  block Block
1.00e+00 2.00e+00 input[0]
0.00e+00 2.62e+00 output[0]
             None output[1]
                  drop Identity
0.00e+00 7.88e+00 input[0]
0.00e+00 7.88e+00 output
                   M
3.00e+00 3.00e+00 scale
1.00e+00 2.00e+00 input[0]
     not a tensor output


                  *** Starting batch number=1 ***
abs min  abs max  metadata
                  block.fc Linear
2.50e-01 2.00e+00 weight
0.00e+00 1.25e-01 bias
0.00e+00 1.50e+38 input[0]
7.50e+37 3.00e+38 output
                  block.act ReLU
7.50e+37 3.00e+38 input[0]
7.50e+37 3.00e+38 output
                  block Block
0.00e+00 1.50e+38 input[0]
7.50e+37 3.00e+38 output[0]
             None output[1]
                  drop Identity
2.25e+38      inf input[0]
2.25e+38      inf output



)";

}  // namespace

TEST_CASE("debug: the worked example of the contract, byte for byte") {
  M model;
  std::string text;
  DebugUnderflowOverflow debug(model, 21, {}, {}, [&](const std::string& line) { text += line; });
  model.call(1, 2);
  CHECK(text.empty());
  CHECK(refusal([&] { model.call(1.5e38f, 0); }).find("DebugUnderflowOverflow: inf/nan detected, aborting") == 0);
  CHECK(text == kWorkedExample);
}

namespace {

// y = x·w, and 1e60 times that: finite for a small w, which its gradient is not.
struct Steep : nn::Layer<Steep> {
  nn::Linear fc{1, 1, {.bias = false}};
  Steep() {
    add_modules({{"fc", fc}});
    copy_elements(fc.weight, from_values({1, 1}, std::vector<float>{2e-38f}));
  }
  Tensor forward(const Tensor& x) { return mul(mul(fc(x), 1e30), 1e30); }
};

}  // namespace

TEST_CASE("debug: with watch_backward the frames go on through the backward, where an overflow ends the run") {
  Steep model;
  std::string text;
  DebugUnderflowOverflow debug(model, 21, {}, {}, [&](const std::string& line) { text += line; });
  debug.watch_backward();
  const Tensor y = model(from_values({1, 1}, std::vector<float>{1}));
  CHECK(text.empty());
  CHECK(refusal([&] { backward(y); }).find("DebugUnderflowOverflow: inf/nan detected, aborting") == 0);
  CHECK(text == R"(grad_output has infs

Detected inf/nan during batch_number=0
Last 4 frames:
abs min  abs max  metadata


                  *** Starting batch number=0 ***
abs min  abs max  metadata
                  fc Linear
2.00e-38 2.00e-38 weight
1.00e+00 1.00e+00 input[0]
2.00e-38 2.00e-38 output
                   Steep
1.00e+00 1.00e+00 input[0]
2.00e+22 2.00e+22 output
                   Steep backward
1.00e+00 1.00e+00 grad_output
                  fc Linear backward
     inf      inf grad_output



)");
}

TEST_CASE("debug: a gradient that a loss scale answers for ends no run; an update shows gradient and state; without watch_backward there is neither") {
  Steep model;
  const Tensor one = from_values({1, 1}, std::vector<float>{1});
  std::string text;
  {
    DebugUnderflowOverflow debug(model, 21, {}, {}, [&](const std::string& line) { text += line; });
    debug.watch_backward(false);
    backward(model(one));
    CHECK(text.find("                  fc Linear backward\n     inf      inf grad_output\n") != std::string::npos);
    CHECK(text.find("fc.weight Parameter backward") == std::string::npos);  // once a batch
    REQUIRE(debug.frames().size() == 1);
    CHECK(debug.frames()[0] == "                  fc.weight Parameter backward\n     inf      inf grad");

    fill(model.fc.weight.grad(), 3);
    optim::Sgd optimizer(model.named_parameters(), {.lr = 1, .momentum = 0.5});
    optimizer.step();
    debug.look_at_update(optimizer);
    REQUIRE(debug.frames().size() == 2);
    CHECK(debug.frames()[1] == "                  fc.weight Parameter update\n3.00e+00 3.00e+00 parameter\n3.00e+00 3.00e+00 grad\n3.00e+00 3.00e+00 momentum_buffer");
  }
  text.clear();
  fill(model.fc.weight, 2e-38f);
  DebugUnderflowOverflow plain(model, 21, {}, {}, [&](const std::string& line) { text += line; });
  backward(model(one));  // the hooks of the one before are asleep
  CHECK(text.empty());
  CHECK(plain.frames().size() == 2);
}

TEST_CASE("debug: traced batches are printed as they run, and a number of batches ends the run") {
  M model;
  std::string text;
  DebugUnderflowOverflow debug(model, 21, {1}, 1, [&](const std::string& line) { text += line; });
  model.call(1, 2);
  CHECK(text.empty());
  CHECK(refusal([&] { model.call(2, 1); }) == "DebugUnderflowOverflow: aborting after 2 batches due to `abort_after_batch_num=1` arg");
  CHECK(text.find("\n\n                  *** Starting batch number=1 ***\nabs min  abs max  metadata\n                  block.fc Linear\n") == 0);
  CHECK(text.find("                   M\n") != std::string::npos);
}

TEST_CASE("debug: no more frames than asked for are kept, integers and empty tensors are no fault, the hooks go with the object") {
  M model;
  {
    DebugUnderflowOverflow debug(model, 2);
    model.call(1, 2);
    CHECK(debug.frames().size() == 2);
    struct Kinds : nn::Layer<Kinds> {
      Tensor forward(const Tensor&, const Tensor&, int64_t) { return {}; }
    } kinds;
    DebugUnderflowOverflow other(kinds);
    kinds(from_values({2}, std::vector<int64_t>{-3, 7}), empty({0}), 5);
    CHECK(other.frames().back().find("3.00e+00 7.00e+00 input[0]\n   not applicable input[1]\n             None output") != std::string::npos);
  }
  model.drop(full({1}, INFINITY));
  CHECK_THROWS_AS(DebugUnderflowOverflow(model, 0), ArgumentError);
}

// The scenario of the reference's documentation: the feed-forward of a block gives 6.27e+04, and the dropout behind it divides by what it keeps.
TEST_CASE("debug: T5's feed-forward overflows f16 in the dropout behind it, under the reference's names") {
  manual_seed(7);
  auto config = std::make_shared<nn::T5Config>();
  config->vocab_size = 8;
  config->d_model = 4, config->d_kv = 2, config->d_ff = 4, config->num_heads = 2, config->num_layers = 3;
  config->feed_forward_proj = "gated-gelu";
  nn::T5ForConditionalGeneration model(config);
  nn::T5FeedForward& ff = model.encoder.block[2].layer.feed_forward.DenseReluDense;
  nn::Batch batch;
  const Tensor ids = from_values({1, 4}, std::vector<int64_t>{3, 5, 2, 6});
  batch.set("input_ids", ids);
  batch.set("labels", ids);
  model.to(DType::f16);
  for (const Tensor& w : {ff.wi_0->weight, ff.wi_1->weight}) fill(w, 2.0);
  const auto run = [&](double weight) {
    fill(ff.wo.weight, weight);
    const RunScopeGuard scope({.seed = 7, .samples = 1});  // the same elements are dropped each time
    model(batch);
  };
  float largest = 0;
  const int64_t probe = ff.wo.register_forward_hook([&](nn::Module&, const std::vector<Tensor>&, std::vector<Tensor>& out) {
    const Tensor y = converted(out[0], DType::f32);
    for (int64_t i = 0; i < y.numel(); ++i) largest = std::max(largest, std::abs(y.data<float>()[i]));
  });
  run(1.0);
  ff.wo.remove_hook(probe);
  REQUIRE(largest > 1);

  std::string text;
  const DebugUnderflowOverflow debug(model, 21, {}, {}, [&](const std::string& more) { text += more; });
  CHECK_THROWS_AS(run(62700 / largest), NonFiniteError);
  CHECK(text.find("output has infs\n\nDetected inf/nan during batch_number=0\nLast 21 forward frames:\nabs min  abs max  metadata\n") == 0);
  const std::string path = "                  encoder.block.2.layer.1.";
  size_t at = 0;
  for (const char* title : {"layer_norm T5LayerNorm", "DenseReluDense.wi_0 Linear", "DenseReluDense.act NewGELUActivation", "DenseReluDense.wi_1 Linear",
                                   "DenseReluDense.dropout Dropout", "DenseReluDense.wo Linear", "DenseReluDense T5DenseGatedActDense", "dropout Dropout"}) {
    CAPTURE(title);
    const size_t found = text.find("\n" + path + title + "\n", at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
  const std::string last = text.substr(at);
  CHECK(last.find(" 6.27e+04 input[0]\n") != std::string::npos);
  CHECK(last.ends_with("      inf output\n\n\n\n"));
  for (const char* title : {"encoder.block.2.layer.0 T5LayerSelfAttention", "encoder.block.1 T5Block", "encoder.block.1.layer.1 T5LayerFF"}) {
    CAPTURE(title);
    CHECK(text.find(std::string("                  ") + title + "\n") != std::string::npos);
  }
}

TEST_CASE("--debug underflow_overflow: the run ends where Inf or NaN shows, with the frames") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.debug = {"underflow_overflow"};
  SmallRun sound(args);
  sound.trainer->train();
  SmallRun broken(args);
  for (auto& [name, param] : broken.model->named_parameters())
    if (name == "classifier.weight") fill(param, INFINITY);
  CHECK(refusal([&] { broken.trainer->train(); }).find("DebugUnderflowOverflow: inf/nan detected") == 0);
}

TEST_CASE("--debug_backward: leaves the bits of a run, with --fp16 too, and is nothing without --debug underflow_overflow") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  const auto run = [&](bool debugs) {
    args.debug = debugs ? std::vector<std::string>{"underflow_overflow"} : std::vector<std::string>{};
    SmallRun small(args, {.trainer = {.rote = {.initial_scale_power = 4, .debug_backward = debugs}}});
    small.trainer->train();
    return small.hash();
  };
  CHECK(run(true) == run(false));
  args.fp16 = true;
  CHECK(run(true) == run(false));
  args.debug = {};
  CHECK(refusal([&] { SmallRun small(args, {.trainer = {.rote = {.debug_backward = true}}}); }) ==
        "debug_backward: adds to the frames of --debug underflow_overflow, which is not given; give both.");
}

}  // namespace rote::testing
