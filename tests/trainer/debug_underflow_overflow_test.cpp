// tests/trainer/debug_underflow_overflow_test.cpp — the frames of forwards: the worked example of the reference, T5's overflow in f16, what is printed when.
#include <doctest/doctest.h>

#include "autograd/ops.h"
#include "nn/linear.h"
#include "nn/models/t5.h"
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

// Of the reference's worked example, which returns a tuple and a dict: it tells of those itself.
struct Block : nn::Module {
  nn::Linear fc{2, 2};
  ReLU act;
  Block() { add_modules({{"fc", fc}, {"act", act}}); }
  Tensor call(const Tensor& x, DebugUnderflowOverflow& debug) {
    const Tensor y = act(fc(x));
    debug.after_forward(*this, FrameValue::tuple({x}), FrameValue::tuple({y, FrameValue()}));
    return y;
  }
};
struct M : nn::Module {
  Block block;
  Identity drop;
  Tensor scale = from_values({1}, std::vector<float>{3});
  M() {
    add_parameters({{"scale", scale}});
    add_modules({{"block", block}, {"drop", drop}});
    copy_elements(block.fc.weight, from_values({2, 2}, std::vector<float>{0.5f, -1, 2, 0.25f}));
    copy_elements(block.fc.bias, from_values({2}, std::vector<float>{0, 0.125f}));
  }
  void call(float a, float b, DebugUnderflowOverflow& debug) {
    const Tensor x = from_values({1, 2}, std::vector<float>{a, b});
    drop(mul(block.call(x, debug), scale));
    debug.after_forward(*this, FrameValue::tuple({x}), FrameValue::other());
  }
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
  model.call(1, 2, debug);
  CHECK(text.empty());
  CHECK(refusal([&] { model.call(1.5e38f, 0, debug); }).find("DebugUnderflowOverflow: inf/nan detected, aborting") == 0);
  CHECK(text == kWorkedExample);
}

TEST_CASE("debug: traced batches are printed as they run, and a number of batches ends the run") {
  M model;
  std::string text;
  DebugUnderflowOverflow debug(model, 21, {1}, 1, [&](const std::string& line) { text += line; });
  model.call(1, 2, debug);
  CHECK(text.empty());
  CHECK(refusal([&] { model.call(2, 1, debug); }) == "DebugUnderflowOverflow: aborting after 2 batches due to `abort_after_batch_num=1` arg");
  CHECK(text.find("\n\n                  *** Starting batch number=1 ***\nabs min  abs max  metadata\n                  block.fc Linear\n") == 0);
  CHECK(text.find("                   M\n") != std::string::npos);
}

TEST_CASE("debug: no more frames than asked for are kept, integers and empty tensors are no fault, the hooks go with the object") {
  M model;
  {
    DebugUnderflowOverflow debug(model, 2);
    model.call(1, 2, debug);
    CHECK(debug.frames().size() == 2);
    debug.after_forward(model.drop, FrameValue::tuple({from_values({2}, std::vector<int64_t>{-3, 7}), empty({0})}), FrameValue(Tensor()));
    CHECK(debug.frames().back().find("3.00e+00 7.00e+00 input[0]\n   not applicable input[1]\n             None output") != std::string::npos);
    Identity stranger;
    CHECK_THROWS_WITH_AS(debug.after_forward(stranger, FrameValue(), FrameValue()), "DebugUnderflowOverflow: Identity is no part of the model that is watched.", ArgumentError);
  }
  model.drop(full({1}, INFINITY));
  CHECK_THROWS_AS(DebugUnderflowOverflow(model, 0), ArgumentError);
}

// As in the documents of transformers: the feed-forward's last product overflows in f16, and the dropout behind it is the first to show an infinity
// among its inputs where the frame of wo shows it among its outputs.
TEST_CASE("debug: T5's feed-forward that overflows in f16 is found by its path and classes") {
  auto config = std::make_shared<nn::T5Config>();
  config->vocab_size = 31, config->d_model = 16, config->d_kv = 6, config->d_ff = 28, config->num_layers = 2, config->num_decoder_layers = 2, config->num_heads = 2;
  config->feed_forward_proj = "gated-gelu";
  config->decoder_start_token_id = 0;
  manual_seed(1);
  nn::T5ForConditionalGeneration model(config);
  model.eval();
  for (auto& [name, param] : model.named_parameters())
    if (name == "encoder.block.1.layer.1.DenseReluDense.wo.weight") fill(param, 3e4);
  std::string text;
  DebugUnderflowOverflow debug(model, 21, {}, {}, [&](const std::string& line) { text += line; });
  nn::Batch batch;
  batch.set("input_ids", from_values({1, 4}, std::vector<int64_t>{3, 4, 5, 1}));
  batch.set("labels", from_values({1, 2}, std::vector<int64_t>{3, 1}));
  const NoGrad no_grad;
  const AutocastGuard precision(DType::f16);
  CHECK(refusal([&] { model(batch); }).find("inf/nan detected") != std::string::npos);
  CAPTURE(text);
  CHECK(text.find("output has infs\n") == 0);
  CHECK(text.find("\n                  encoder.block.1.layer.1.DenseReluDense.wo Linear\n") != std::string::npos);
  CHECK(text.find("inf output\n") != std::string::npos);
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

}  // namespace rote::testing
