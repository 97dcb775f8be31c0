// nn/container.h — modules that hold modules: a list, and a chain that is called as one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "nn/module.h"

namespace rote::nn {

// Modules of one type under the names 0, 1, …; not called itself.
template <class M>
class ModuleList : public Module {
 public:
  template <class... Arguments>
  M& add(Arguments&&... arguments) {
    modules_.push_back(std::make_unique<M>(std::forward<Arguments>(arguments)...));
    add_module(std::to_string(modules_.size() - 1), *modules_.back());
    return *modules_.back();
  }
  size_t size() const { return modules_.size(); }
  M& operator[](size_t i) { return *modules_[i]; }

 protected:
  bool is_called() const override { return false; }

 private:
  std::vector<std::unique_ptr<M>> modules_;
};

// Layers of one argument and one result, each fed with the result of the one before, under the names 0, 1, ….
class Sequential : public Layer<Sequential> {
 public:
  template <class M, class... Arguments>
  Sequential& add(Arguments&&... arguments) {
    auto module = std::make_unique<M>(std::forward<Arguments>(arguments)...);
    M& layer = *module;
    add_module(std::to_string(modules_.size()), layer);
    modules_.push_back(std::move(module));
    calls_.push_back([&layer](const Tensor& x) { return layer(x); });
    return *this;
  }
  // For layers made from options alone: add<DecoderBlock>({.width = 384}).
  template <class M>
  Sequential& add(typename M::Options options)
    requires std::is_constructible_v<M, typename M::Options>
  {
    return add<M, typename M::Options>(std::move(options));
  }

  Tensor forward(const Tensor& x) {
    Tensor y = x;
    for (const auto& call : calls_) y = call(y);
    return y;
  }

 private:
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<std::function<Tensor(const Tensor&)>> calls_;
};

}  // namespace rote::nn
