// tests/nn/module_test.cpp — names, order, sharing and modes of a module tree, and the layers in it.
#include "nn/module.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "nn/activation.h"
#include "nn/container.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/norm.h"
#include "tensor/generator.h"
#include "tests/support/compare.h"

using namespace rote;
using rote::testing::near;

namespace {

struct Block : nn::Layer<Block> {
  nn::Linear fc;
  nn::Dropout drop;
  std::string seen;  // the module path inside of a call
  explicit Block(int64_t C) : fc(C, C), drop(0.5) { add_modules({{"fc", fc}, {"drop", drop}}); }
  Tensor forward(const Tensor& x) {
    seen = module_path();
    return drop(fc(x));
  }
};

struct Net : nn::Layer<Net> {
  nn::Embedding tok;
  nn::ModuleList<Block> blocks;
  nn::Linear head;
  Tensor scale, table;

  Net() : tok(5, 4), head(4, 5, {.bias = false}), scale(full({4}, 2)), table(arange(3)) {
    head.weight = tok.weight;
    for (int i = 0; i < 2; ++i) blocks.add(4);
    add_modules({{"tok", tok}, {"blocks", blocks}, {"head", head}});
    add_parameters({{"scale", scale}});
    add_buffers({{"table", table}});
  }
  Tensor forward(const Tensor& ids) {
    Tensor x = tok(ids) * scale;
    for (size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x);
    return head(x);
  }
};

template <class Named>
std::vector<std::string> names(const Named& named) {
  std::vector<std::string> list;
  for (const auto& one : named) list.push_back(one.first);
  return list;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && rote::testing::first_bit_difference(a.numel(), a.data<float>(), b.data<float>()) < 0;
}

}  // namespace

TEST_CASE("module: own parameters come first, then the children's in order, shared ones once under their first name") {
  const Net net;
  CHECK(names(net.named_parameters()) == std::vector<std::string>{"scale", "tok.weight", "blocks.0.fc.weight", "blocks.0.fc.bias", "blocks.1.fc.weight", "blocks.1.fc.bias"});
  CHECK(names(net.named_buffers()) == std::vector<std::string>{"table"});
  CHECK(net.num_parameters() == 4 + 20 + 2 * (16 + 4));
  std::vector<std::string> again;
  net.each_parameter([&](const std::string& name, Tensor&, bool first) {
    if (!first) again.push_back(name);
  });
  CHECK(again == std::vector<std::string>{"head.weight"});
}

TEST_CASE("module: the tree is named parents first, with the names of the classes") {
  Net net;
  std::string tree;
  for (const nn::NamedModule& one : net.named_modules()) tree += one.name + ":" + one.module->class_name() + " ";
  CHECK(tree ==
        ":Net tok:Embedding blocks:ModuleList blocks.0:Block blocks.0.fc:Linear blocks.0.drop:Dropout blocks.1:Block blocks.1.fc:Linear blocks.1.drop:Dropout "
        "head:Linear ");
}

TEST_CASE("module: a call runs under the module's path, a list's name goes into its children's") {
  Net net;
  net(from_values({2}, std::vector<int64_t>{1, 3}));
  CHECK(net.blocks[1].seen == "blocks.1");
  CHECK(module_path() == "");
}

TEST_CASE("module: train and eval reach every module; gradients are cleared") {
  Net net;
  CHECK(net.blocks[1].drop.training());
  net.eval();
  CHECK_FALSE(net.blocks[1].drop.training());
  const Tensor ids = from_values({2}, std::vector<int64_t>{1, 3});
  CHECK(same_bits(net(ids), net(ids)));
  backward(sum(net(ids)));
  for (const Tensor& p : net.parameters()) CHECK(p.grad().defined());
  net.zero_grad();
  for (const Tensor& p : net.parameters()) CHECK_FALSE(p.grad().defined());
}

TEST_CASE("module: to(f64) converts and keeps what is shared") {
  Net net;
  net.to(DType::f64);
  CHECK(net.head.weight.dtype() == DType::f64);
  CHECK(net.head.weight.impl() == net.tok.weight.impl());
  CHECK(net.table.dtype() == DType::i64);
  CHECK(net.scale.requires_grad());
  CHECK(names(net.named_parameters()).size() == 6);
  CHECK_THROWS_AS(net.to(DType::i64), DTypeError);
}

TEST_CASE("module: a name is used once and has no dot") {
  struct Twice : nn::Module {
    nn::Linear a{1, 1};
    explicit Twice(const char* second) { add_modules({{"a", a}, {second, a}}); }
  };
  CHECK_THROWS_AS(Twice("a"), ArgumentError);
  CHECK_THROWS_AS(Twice("b.c"), ArgumentError);
  CHECK_THROWS_AS(Twice(""), ArgumentError);
  CHECK_NOTHROW(Twice("b"));
}

TEST_CASE("sequential: layers run one after the other under their numbers") {
  manual_seed(3);
  nn::Sequential chain;
  chain.add<nn::Linear>(3, 2).add<nn::Activation>("relu").add<nn::LayerNorm>(2);
  const Tensor x = from_values({1, 3}, std::vector<float>{1, -2, 3});
  CHECK(chain(x).shape() == Shape{1, 2});
  CHECK(names(chain.named_parameters()) == std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"});
  CHECK(chain.named_modules()[2].module->class_name() == "ReLU");
}

TEST_CASE("layers: first values follow from the seed and lie where they should") {
  manual_seed(7);
  const nn::Linear linear(400, 300);
  const nn::Embedding embedding(1000, 64, {.padding_idx = 3});
  manual_seed(7);
  const nn::Linear again(400, 300);
  CHECK(same_bits(linear.weight, again.weight));
  double largest = 0, square = 0;
  for (int64_t i = 0; i < linear.weight.numel(); ++i) largest = std::max<double>(largest, std::abs(linear.weight.data<float>()[i]));
  CHECK(largest <= 0.05);    // 1/√400
  CHECK(largest > 0.0499);   // 120,000 draws come that near
  for (int64_t i = 0; i < embedding.weight.numel(); ++i) square += std::pow(embedding.weight.data<float>()[i], 2);
  CHECK(near(square / (999 * 64), 1, 0.03));  // five deviations of the mean of 64,000 squares, √(2/64000)
  for (int64_t c = 0; c < 64; ++c) CHECK(embedding.weight.data<float>()[3 * 64 + c] == 0);
  const nn::NoInit guard;
  CHECK_FALSE(nn::init_enabled());
}

TEST_CASE("activation: an unknown name is refused with the known ones") {
  try {
    nn::Activation a("swish2");
    FAIL_CHECK("accepted");
  } catch (const ArgumentError& e) {
    CHECK(std::string(e.what()) == "Activation: \"swish2\" is not known; known are gelu, gelu_new, relu, relu6, silu, swish, tanh.");
  }
  CHECK_THROWS_AS(nn::Dropout(1.5), ArgumentError);
  CHECK_THROWS_AS(nn::Embedding(3, 2, {.padding_idx = 3}), ArgumentError);
}

TEST_CASE("hooks: a call's inputs and outputs are shown and replaced, its gradient too, until the hook is removed") {
  manual_seed(3);
  nn::Sequential chain;
  chain.add<nn::Linear>(3, 2).add<nn::Activation>("relu");
  nn::Module& linear = *chain.named_modules()[1].module;
  std::vector<std::string> seen;
  linear.register_forward_pre_hook([&](nn::Module& m, const std::vector<Tensor>& in) { seen.push_back(m.class_name() + describe(in[0])); });
  const int64_t doubling = linear.register_forward_hook([](nn::Module&, const std::vector<Tensor>&, std::vector<Tensor>& out) { out[0] = mul(out[0], 2.0); });
  linear.register_backward_hook([&](nn::Module&, const Tensor& dy) {
    seen.push_back(describe(dy));
    return mul(dy, 0.0);
  });
  Tensor x = from_values({1, 3}, std::vector<float>{1, -2, 3});
  requires_grad(x);
  const Tensor twice = chain(x);
  backward(sum(twice));
  CHECK(seen == std::vector<std::string>{"Linearf32[1,3]", "f32[1,2]"});
  CHECK(contiguous(x.grad()).data<float>()[0] == 0);
  linear.remove_hook(doubling);
  const Tensor once = chain(x);
  for (int i = 0; i < 2; ++i) CHECK(twice.data<float>()[i] == 2 * once.data<float>()[i]);
  CHECK_THROWS_AS(linear.remove_hook(doubling), ArgumentError);
}
