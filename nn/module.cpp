#include "nn/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <typeinfo>
#include <unordered_set>

#include "autograd/ops/view.h"

namespace rote::nn {

namespace {

std::string joined(const std::string& prefix, const std::string& name) { return prefix.empty() ? name : prefix + "." + name; }

}  // namespace

std::string short_type_name(const std::type_info& type) {
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr);
  std::string name = text != nullptr ? text : type.name();
  std::free(text);
  name.resize(std::min(name.size(), name.find('<')));
  const size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

std::string Module::class_name() const { return class_name_.empty() ? short_type_name(typeid(*this)) : class_name_; }

void Module::rename_classes(const std::string& from, const std::string& to) {
  walk("", [&](const std::string&, Module& module) {
    if (const std::string name = module.class_name(); name.starts_with(from)) module.class_name_ = to + name.substr(from.size());
  });
}

struct Module::Hooks {
  struct One {
    int64_t id = 0;
    ForwardPreHook before = nullptr;
    ForwardHook after = nullptr;
    BackwardHook backward = nullptr;
    CallHook shown = nullptr;
  };
  std::vector<One> all;
  int64_t next_id = 0;

  int64_t add(One one) {
    one.id = next_id++;
    all.push_back(std::move(one));
    return all.back().id;
  }
};

int64_t Module::register_forward_pre_hook(ForwardPreHook hook) {
  if (!hooks_) hooks_ = std::make_shared<Hooks>();
  return hooks_->add({.before = std::move(hook)});
}
int64_t Module::register_forward_hook(ForwardHook hook) {
  if (!hooks_) hooks_ = std::make_shared<Hooks>();
  return hooks_->add({.after = std::move(hook)});
}
int64_t Module::register_backward_hook(BackwardHook hook) {
  if (!hooks_) hooks_ = std::make_shared<Hooks>();
  return hooks_->add({.backward = std::move(hook)});
}
int64_t Module::register_call_hook(CallHook hook) {
  if (!hooks_) hooks_ = std::make_shared<Hooks>();
  return hooks_->add({.shown = std::move(hook)});
}

void Module::remove_hook(int64_t id) {
  const size_t removed = hooks_ ? std::erase_if(hooks_->all, [&](const Hooks::One& one) { return one.id == id; }) : 0;
  ROTE_CHECK(removed == 1, ArgumentError, class_name(), ": there is no hook ", id, "; remove_hook takes what registering gave, once.");
}

void Module::init_own(const std::function<bool(const char*)>&, const std::string&, double) {}

// A hook may remove itself: each list is walked as it was when the call came.
namespace {

std::vector<CallValue> call_values(const std::vector<Tensor>& tensors) {
  std::vector<CallValue> values;
  for (const Tensor& x : tensors) values.push_back(CallValue::of(x));
  return values;
}

}  // namespace

void Module::before_call(const std::vector<Tensor>& inputs) {
  for (const Hooks::One& one : std::vector<Hooks::One>(hooks_->all))
    if (one.before) one.before(*this, inputs);
}

void Module::after_call(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  for (const Hooks::One& one : std::vector<Hooks::One>(hooks_->all)) {
    if (one.after) one.after(*this, inputs, outputs);
    if (!one.backward || outputs.size() != 1 || !needs_gradient(outputs[0])) continue;
    // A layer that hands its input on gives a tensor of its own, so that the hook sees what comes through this layer alone.
    for (const Tensor& x : inputs)
      if (x.impl() == outputs[0].impl()) outputs[0] = reshape(x, {x.shape().begin(), x.shape().end()});
    register_hook(outputs[0], [this, hook = one.backward](const Tensor& dy) { return hook(*this, dy); });
  }
}

void Module::show_call(const std::vector<CallValue>& inputs, const CallValue& output) {
  for (const Hooks::One& one : std::vector<Hooks::One>(hooks_->all))
    if (one.shown) one.shown(*this, inputs, output);
}

void Module::end_call(const std::vector<Tensor>& inputs, Tensor& result) {
  std::vector<Tensor> outputs{result};
  after_call(inputs, outputs);
  result = outputs.at(0);
  show_call(call_values(inputs), CallValue::of(result));
}

void Module::end_call(const std::vector<Tensor>& inputs, const CallValue& result) {
  std::vector<Tensor> none;
  after_call(inputs, none);
  show_call(call_values(inputs), result);
}

void Module::check_name(const std::string& name) const {
  bool taken = name.empty() || name.find('.') != std::string::npos;
  for (const Child& child : children_) taken |= child.name == name;
  for (const std::vector<Leaf>* leaves : {&parameters_, &buffers_})
    for (const Leaf& leaf : *leaves) taken |= leaf.name == name;
  ROTE_CHECK(!taken, ArgumentError, class_name(), ": \"", name, "\" cannot name a part; a name is not empty, has no dot and is used once.");
}

void Module::add_parameters(std::initializer_list<TensorRef> tensors) {
  for (const TensorRef& one : tensors) {
    if (!one.tensor.defined()) continue;
    check_name(one.name);
    requires_grad(one.tensor);
    parameters_.push_back({one.name, &one.tensor});
  }
}

void Module::add_buffers(std::initializer_list<TensorRef> tensors) {
  for (const TensorRef& one : tensors) {
    check_name(one.name);
    buffers_.push_back({one.name, &one.tensor, false});
  }
}

void Module::add_saved_buffers(std::initializer_list<TensorRef> tensors) {
  for (const TensorRef& one : tensors) {
    check_name(one.name);
    buffers_.push_back({one.name, &one.tensor, true});
  }
}

void Module::add_module(const std::string& name, Module& module) {
  check_name(name);
  children_.push_back({name, &module});
  module.set_component(is_called() ? name : joined(component_, name));
}

void Module::set_component(const std::string& component) {
  component_ = component;
  if (is_called()) return;
  for (const Child& child : children_) child.module->set_component(joined(component_, child.name));
}

void Module::add_modules(std::initializer_list<ModuleRef> modules) {
  for (const ModuleRef& one : modules) add_module(one.name, one.module);
}

void Module::walk(const std::string& prefix, const std::function<void(const std::string&, Module&)>& f) {
  f(prefix, *this);
  for (const Child& child : children_) child.module->walk(joined(prefix, child.name), f);
}

std::vector<NamedModule> Module::named_modules() {
  std::vector<NamedModule> modules;
  std::unordered_set<const Module*> seen;
  walk("", [&](const std::string& name, Module& module) {
    if (seen.insert(&module).second) modules.push_back({name, &module});
  });
  return modules;
}

std::vector<NamedModule> Module::named_children() const {
  std::vector<NamedModule> children;
  std::unordered_set<const Module*> seen;
  for (const Child& child : children_)
    if (seen.insert(child.module).second) children.push_back({child.name, child.module});
  return children;
}

NamedTensors Module::own_parameters() const {
  NamedTensors own;
  for (const Leaf& leaf : parameters_) own.emplace_back(leaf.name, *leaf.tensor);
  return own;
}

void Module::each_parameter(const std::function<void(const std::string&, Tensor&, bool)>& f) const {
  std::unordered_set<const TensorImpl*> seen;
  // The walk hands out modules to callers that may change them; this one only reads the tree.
  const_cast<Module*>(this)->walk("", [&](const std::string& prefix, Module& module) {
    for (const Leaf& leaf : module.parameters_) f(joined(prefix, leaf.name), *leaf.tensor, seen.insert(leaf.tensor->impl().get()).second);
  });
}

NamedTensors Module::named_parameters() const {
  NamedTensors named;
  each_parameter([&](const std::string& name, Tensor& tensor, bool first) {
    if (first) named.emplace_back(name, tensor);
  });
  return named;
}

NamedTensors Module::named_buffers() const { return collect_buffers(false); }
NamedTensors Module::saved_buffers() const { return collect_buffers(true); }

NamedTensors Module::collect_buffers(bool saved_only) const {
  NamedTensors named;
  std::unordered_set<const TensorImpl*> seen;
  const_cast<Module*>(this)->walk("", [&](const std::string& prefix, Module& module) {
    for (const Leaf& leaf : module.buffers_)
      if ((leaf.saved || !saved_only) && seen.insert(leaf.tensor->impl().get()).second) named.emplace_back(joined(prefix, leaf.name), *leaf.tensor);
  });
  return named;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> tensors;
  for (auto& [name, tensor] : named_parameters()) tensors.push_back(tensor);
  return tensors;
}

int64_t Module::num_parameters() const {
  int64_t n = 0;
  for (const Tensor& tensor : parameters()) n += tensor.numel();
  return n;
}

void Module::train(bool on) {
  walk("", [on](const std::string&, Module& module) { module.training_ = on; });
}

void Module::to(DType dtype) { cast(dtype); }

CastGuard::~CastGuard() {
  for (auto& [slot, before] : casts_) *slot = std::move(before);
}

Module::Casts Module::cast(DType dtype) {
  ROTE_CHECK(is_floating(dtype), DTypeError, "to: a module cannot become ", name(dtype), "; its parameters need a floating dtype.");
  Casts casts;  // the old tensors live until the end, so that no address is used twice
  walk("", [&](const std::string&, Module& module) {
    for (std::vector<Leaf>* leaves : {&module.parameters_, &module.buffers_})
      for (Leaf& leaf : *leaves) {
        Tensor& x = *leaf.tensor;
        if (!is_floating(x.dtype()) || x.dtype() == dtype) continue;
        // Shared tensors stay shared: every handle to one gets the same new tensor.
        const auto found = std::find_if(casts.begin(), casts.end(), [&](const auto& one) { return one.second.impl() == x.impl(); });
        Tensor y = found != casts.end() ? *found->first : converted(x, dtype);
        if (found == casts.end() && x.requires_grad()) requires_grad(y);
        casts.emplace_back(&x, std::exchange(x, std::move(y)));
      }
  });
  return casts;
}

}  // namespace rote::nn
