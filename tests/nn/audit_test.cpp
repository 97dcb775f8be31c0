// tests/nn/audit_test.cpp — what the audit names: parameters without a gradient, the op that cut it, f64 in an f32 model; and what it leaves alone.
#include "nn/audit.h"

#include <doctest/doctest.h>

#include "autograd/ops.h"
#include "nn/linear.h"
#include "tensor/generator.h"
#include "tests/nn/small_bert.h"

using namespace rote;

namespace {

struct Cutting : nn::Model {
  nn::Linear first{3, 4}, second{4, 2}, unused{4, 2};
  Tensor counter = zeros({1});
  bool leaking = false;

  Cutting() {
    add_modules({{"first", first}, {"second", second}, {"unused", unused}});
    add_buffers({{"counter", counter}});
  }
  static constexpr nn::Signature kSignature{.inputs = "input_ids[B,C] f32"};
  nn::Signature signature() const override { return kSignature; }
  nn::ModelOutput forward(const nn::Batch& in) override {
    fill(counter, counter.item() + 1);
    Tensor hidden = rote::to(argmax(dropout(first(in["input_ids"]), 0.5), -1), DType::f32);  // [B], an index
    hidden = expand(unsqueeze(hidden, 1), {hidden.size(0), 4});
    if (leaking) hidden = rote::to(mul(rote::to(hidden, DType::f64), 2.0), DType::f32);
    return {.loss = sum(second(hidden))};
  }
};

nn::Batch batch() {
  nn::Batch in;
  in.set("input_ids", from_values({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  return in;
}

}  // namespace

TEST_CASE("audit: names parameters without a gradient and the op that ends its way") {
  Cutting model;
  const nn::AuditReport report = nn::audit(model, batch());
  CHECK(report.unreached == std::vector<std::string>{"first.weight", "first.bias", "unused.weight", "unused.bias"});
  REQUIRE(report.cuts.size() == 1);
  CHECK(report.lines() == std::vector<std::string>{
                              "audit: no gradient reaches first.weight, first.bias, unused.weight, unused.bias; they will not train. requires_grad(x, false) says that "
                              "this is meant.",
                              "audit: max_along in the model ends the way of a gradient: what it gives as integers or bool has no gradient."});
}

TEST_CASE("audit: names the first op of each module that computes in f64") {
  Cutting model;
  model.leaking = true;
  const nn::AuditReport report = nn::audit(model, batch());
  REQUIRE(report.leaks.size() == 1);
  CHECK(report.leaks[0].op == "cast");
  CHECK_FALSE(report.empty());
}

TEST_CASE("audit: leaves buffers, gradients and draws as they were") {
  Cutting model;
  manual_seed(4);
  next_user_draw();
  nn::audit(model, batch());
  CHECK(draw_state().user == 1);
  CHECK(model.counter.item() == 0);
  CHECK(!model.second.weight.grad().defined());
  for (Tensor* x : {&model.first.weight, &model.first.bias, &model.unused.weight, &model.unused.bias}) requires_grad(*x, false);
  CHECK(nn::audit(model, batch()).empty());
}
