// autograd/custom.h — functions of a user with a backward of their own, and how a node that is no op enters the graph.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace rote {

// What a custom function's forward keeps for its backward. An input or an output may be kept: its derivative then is known too.
class Keeper {
 public:
  void keep(const Tensor& x) { kept_.push_back(x); }
  const std::vector<Tensor>& kept() const { return kept_; }

 private:
  std::vector<Tensor> kept_;
};

// forward computes the outputs and is not recorded; backward takes what was kept and dy of each output (zeros where none arrived) and
// gives dx of each input, undefined for none. Written in ops, backward can be differentiated again.
struct CustomFunction {
  std::string name;
  std::function<std::vector<Tensor>(Keeper& keeper, const std::vector<Tensor>& x)> forward;
  std::function<std::vector<Tensor>(const std::vector<Tensor>& kept, const std::vector<Tensor>& dy)> backward;
};

std::vector<Tensor> run(const CustomFunction& function, const std::vector<Tensor>& inputs);

}  // namespace rote
