// nn/module.h — Module, the tree of layers with their parameters, and Layer, what makes one callable. Holds no layer.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "autograd/backward.h"
#include "autograd/mode.h"
#include "tensor/tensor.h"

namespace rote::nn {

class Module;

// The name of a class without namespaces and template arguments.
std::string short_type_name(const std::type_info& type);

struct NamedModule {
  std::string name;  // dotted, empty for the root
  Module* module;
};
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// What a call was given or gave, as its type says: a Tensor, none (an undefined one, an empty optional), a tuple (also a struct whose parts()
// gives one) or something else.
struct CallValue {
  enum class Kind { other, none, tensor, tuple };
  Kind kind = Kind::other;
  Tensor tensor = {};
  std::vector<CallValue> items = {};  // of a tuple

  static CallValue of(const Tensor& x) { return {x.defined() ? Kind::tensor : Kind::none, x}; }
  template <class T>
  static CallValue of(const std::optional<T>& x) { return x ? of(*x) : CallValue{Kind::none}; }
  template <class A, class B>
  static CallValue of(const std::pair<A, B>& x) { return {Kind::tuple, {}, {of(x.first), of(x.second)}}; }
  template <class... T>
  static CallValue of(const std::tuple<T...>& x) {
    return std::apply([](const auto&... item) { return CallValue{Kind::tuple, {}, {of(item)...}}; }, x);
  }
  template <class T>
  static CallValue of(const T& x) {
    if constexpr (requires { x.parts(); }) return of(x.parts());
    else return {};
  }
};
// After each call, when the other hooks have run: what its arguments were that are Tensors, and its result. Other arguments are what keyword
// arguments are in the reference, and not shown.
using CallHook = std::function<void(Module& module, const std::vector<CallValue>& inputs, const CallValue& output)>;

// Before and after each call of a module, with the tensors among its arguments and those that it gave. What a ForwardHook puts in the place
// of a layer's one Tensor goes on; of other results the tensors are shown only.
using ForwardPreHook = std::function<void(Module& module, const std::vector<Tensor>& inputs)>;
using ForwardHook = std::function<void(Module& module, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs)>;
// With the whole gradient of the layer's one Tensor; gives the one to go on with, undefined: the same.
using BackwardHook = std::function<Tensor(Module& module, const Tensor& dy)>;

// 1. Sub-modules and tensors are members of the user's struct; a Module knows them by reference and is therefore never copied or moved.
// 2. Names are unique among the children and tensors of one module; order is that of registration.
class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // The name of the user's struct, without namespaces, or the one that rename_classes gave.
  virtual std::string class_name() const;

  // Own parameters first, then those of the children in order; a tensor reached twice is named once, by its first name.
  NamedTensors named_parameters() const;
  NamedTensors named_buffers() const;
  NamedTensors saved_buffers() const;        // those that belong to the weights
  std::vector<NamedModule> named_modules();  // the root first, parents before their children
  std::vector<NamedModule> named_children() const;  // each once, by its first name
  NamedTensors own_parameters() const;              // those of no child
  std::vector<Tensor> parameters() const;
  int64_t num_parameters() const;  // elements, shared ones once

  void train(bool on = true);
  void eval() { train(false); }
  bool training() const { return training_; }
  void zero_grad() const { rote::zero_grad(parameters()); }
  // Converts all floating parameters and buffers; gradients are dropped.
  void to(DType dtype);

  // Hooks run in order of registration; remove_hook takes what registering gave.
  int64_t register_forward_pre_hook(ForwardPreHook hook);
  int64_t register_forward_hook(ForwardHook hook);
  int64_t register_call_hook(CallHook hook);
  int64_t register_backward_hook(BackwardHook hook);
  void remove_hook(int64_t id);

  // Draws those of its own parameters anew for which `takes` holds, where they do not start as every model's do; `name` is the module's own,
  // `std` the deviation of the model's matrices.
  virtual void init_own(const std::function<bool(const char*)>& takes, const std::string& name, double std);

  // All names of all parameters, those of shared ones too: f(name, tensor, first), first: this name is the one that is kept.
  void each_parameter(const std::function<void(const std::string&, Tensor&, bool first)>& f) const;

 protected:
  bool is_hooked() const { return hooks_ != nullptr; }
  void before_call(const std::vector<Tensor>& inputs);
  void after_call(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);
  void show_call(const std::vector<CallValue>& inputs, const CallValue& output);
  // after_call and show_call of a result that is one Tensor, which hooks may replace, or anything else.
  void end_call(const std::vector<Tensor>& inputs, Tensor& result);
  void end_call(const std::vector<Tensor>& inputs, const CallValue& result);

  struct TensorRef {
    const char* name;
    Tensor& tensor;
  };
  struct ModuleRef {
    const char* name;
    Module& module;
  };
  // Marks them as leaves that collect gradients; undefined ones (a Linear without bias) are left out.
  void add_parameters(std::initializer_list<TensorRef> tensors);
  // Tensors that move with the module but do not train and are not saved.
  void add_buffers(std::initializer_list<TensorRef> tensors);
  // Buffers that are saved and loaded with the weights: running statistics.
  void add_saved_buffers(std::initializer_list<TensorRef> tensors);
  void add_modules(std::initializer_list<ModuleRef> modules);
  void add_module(const std::string& name, Module& module);
  // Here and below, classes whose names begin with `from` are called by the rest behind `to`: a family that is made of another's parts.
  void rename_classes(const std::string& from, const std::string& to);
  // A list only holds its children: whoever holds the list calls them, so that its name goes into theirs ("layer.0").
  virtual bool is_called() const { return true; }

 private:
  friend class CallGuard;
  friend class CastGuard;
  struct Child {
    std::string name;
    Module* module;
  };
  struct Leaf {
    std::string name;
    Tensor* tensor;
    bool saved = true;
  };
  // A parameter or buffer, and what it was before.
  using Casts = std::vector<std::pair<Tensor*, Tensor>>;
  Casts cast(DType dtype);
  NamedTensors collect_buffers(bool saved_only) const;
  void walk(const std::string& prefix, const std::function<void(const std::string&, Module&)>& f);
  void check_name(const std::string& name) const;
  void set_component(const std::string& component);

  struct Hooks;

  std::shared_ptr<Hooks> hooks_;  // none: a call costs nothing more
  std::vector<Leaf> parameters_, buffers_;
  std::vector<Child> children_;
  std::string class_name_;  // in place of the struct's
  std::string component_;  // what a call of this module adds to the module path
  bool training_ = true;
};

// The floating parameters and buffers in another dtype while this lives; afterwards they are the ones from before, to the bit.
class CastGuard {
 public:
  CastGuard(Module& module, DType dtype) : casts_(module.cast(dtype)) {}
  ~CastGuard();
  CastGuard(const CastGuard&) = delete;
  CastGuard& operator=(const CastGuard&) = delete;

 private:
  Module::Casts casts_;
};

// Stands around each forward: the module path of the ops inside (dropout's randomness, status words, reports).
class CallGuard {
 public:
  explicit CallGuard(const Module& module) : path_(module.component_) {}

 private:
  PathGuard path_;
};

// A Module that is called: layer(x) runs forward(x) under its name.
template <class Derived, class Base = Module>
class Layer : public Base {
 public:
  using Base::Base;
  template <class... Arguments>
  auto operator()(Arguments&&... arguments) {
    const CallGuard guard(*this);
    auto& self = static_cast<Derived&>(*this);
    using Result = decltype(self.forward(std::forward<Arguments>(arguments)...));
    if (!this->is_hooked()) return self.forward(std::forward<Arguments>(arguments)...);
    std::vector<Tensor> inputs;
    (collect(inputs, arguments), ...);
    this->before_call(inputs);
    Result result = self.forward(std::forward<Arguments>(arguments)...);
    if constexpr (std::is_same_v<Result, Tensor>) this->end_call(inputs, result);
    else this->end_call(inputs, CallValue::of(result));
    return result;
  }

 private:
  template <class T>
  static void collect(std::vector<Tensor>& tensors, const T& one) {
    if constexpr (std::is_same_v<T, Tensor>) tensors.push_back(one);
  }
};

}  // namespace rote::nn
