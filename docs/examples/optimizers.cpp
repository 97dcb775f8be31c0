// docs/examples/optimizers.cpp — AdamW as it is and as transformers 4 had it, groups with rates of their own, state: `optimizers`.
#include <iostream>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "nn/linear.h"
#include "optim/adamw.h"
#include "optim/adamw_hf.h"
#include "optim/sgd.h"
#include "trainer/parser.h"

using namespace rote;

int main(int, char**) {
  return run_program([&] {
    // AdamW takes one eps; the pair (1e-30, 1e-3) is Adafactor's.
    nn::Linear layer(3, 2);
    optim::AdamW adamw(layer.named_parameters(), {.lr = 1e-3, .eps = 1e-6, .weight_decay = 0.0});
    for (const optim::NamedParameter& param : adamw.groups()[0].params) std::cout << param.first << " " << describe(param.second) << "\n";

    // The listing of the documents: eps beside the uncorrected root, decay last, a closure that gives loss and gradients.
    Tensor p = from_values({4}, std::vector<double>{1, -2, .5, 3});
    const Tensor g = from_values({4}, std::vector<double>{.1, -.2, .3, 0});
    requires_grad(p);
    optim::AdamWHf hf({{"p", p}}, {.lr = 0.1, .weight_decay = 0.01, .correct_bias = false});
    const Tensor loss = hf.step([&] {
      Tensor sum_of_products = sum(p * g);  // its gradient is g
      backward(sum_of_products);
      return sum_of_products;
    });
    std::cout << "loss " << loss << "\np " << p << "\n";

    // Groups with options of their own. State is made by the first step, and parameters are not in it.
    const auto weights = [] {
      std::vector<optim::NamedParameter> w;
      for (int i = 0; i < 4; ++i) requires_grad(w.emplace_back("w" + std::to_string(i), full({2}, i)).second);
      return w;
    };
    const auto make = [](const std::vector<optim::NamedParameter>& w) {
      return optim::Sgd({{.params = {w[0]}, .lr = 0.01}, {.params = {w[1], w[2], w[3]}, .lr = 0.001, .weight_decay = 0.5}}, {.momentum = 0.9});
    };
    const std::vector<optim::NamedParameter> w = weights();
    optim::Sgd sgd = make(w);
    std::cout << sgd.state_tensors().size() << " tensors of state before the first step\n";
    for (const auto& [name, x] : w) backward(sum(x * x));
    sgd.step();
    for (const auto& [name, x] : sgd.state_tensors()) std::cout << name << " " << x << "\n";
    for (const optim::Group& group : sgd.groups()) std::cout << group.params.size() << " parameters, lr " << group.lr << ", weight_decay " << group.weight_decay << "\n";

    // State goes into a file by name, and is checked by name and shape where it comes back.
    optim::Sgd fresh = make(weights());
    fresh.load_state(sgd.state_tensors(), sgd.state_steps());
    optim::Sgd smaller({{.params = {w[0]}, .lr = 0.01}}, {.momentum = 0.9});
    try {
      smaller.load_state(sgd.state_tensors(), sgd.state_steps());
    } catch (const StateError& e) {
      std::cout << e.what() << "\n";
    }
    return 0;
  });
}

// prints:
//   weight f32[2,3]
//   bias f32[2]
//   loss 0.65 f64[]
//   p [0.6832, -1.682, 0.1836,  2.997] f64[4]
//   0 tensors of state before the first step
//   w0.momentum_buffer [0, 0] f32[2]
//   w1.momentum_buffer [2.5, 2.5] f32[2]
//   w2.momentum_buffer [5, 5] f32[2]
//   w3.momentum_buffer [7.5, 7.5] f32[2]
//   1 parameters, lr 0.01, weight_decay 0
//   3 parameters, lr 0.001, weight_decay 0.5
//   load_state: the file holds 4 tensors, the optimizer takes 1; the state belongs to another model or optimizer.
