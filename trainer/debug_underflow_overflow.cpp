#include "trainer/debug_underflow_overflow.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "kernels/check.h"

namespace rote {

namespace {

constexpr const char* kColumns = "abs min  abs max  metadata";
const std::string kMargin(17, ' ');

std::string right(const char* word) {
  const std::string text = word;
  return std::string(kMargin.size() - text.size(), ' ') + text + " ";
}

std::string column(double magnitude) {
  char text[32];
  if (std::isnan(magnitude)) return "     nan";
  std::snprintf(text, sizeof text, "%8.2e", magnitude);
  return std::string(8 - std::min<size_t>(8, std::string(text).size()), ' ') + text;
}

struct Magnitudes {
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  bool has_nan = false, has_inf = false;
};

Magnitudes magnitudes_of(const Tensor& x) {
  Magnitudes found;
  const Tensor plain = contiguous(x);
  visit(x.dtype(), [&](auto t) {
    const auto* values = plain.data<decltype(t)>();
    for (int64_t i = 0; i < plain.numel(); ++i) {
      const double magnitude = std::abs(convert<double>(values[i]));
      found.has_nan = found.has_nan || std::isnan(magnitude);
      found.has_inf = found.has_inf || std::isinf(magnitude);
      found.least = std::min(found.least, magnitude);
      found.largest = std::max(found.largest, magnitude);
    }
  });
  if (found.has_nan) found.least = found.largest = std::numeric_limits<double>::quiet_NaN();
  return found;
}

}  // namespace

DebugUnderflowOverflow::DebugUnderflowOverflow(nn::Module& model, int64_t max_frames_to_save, std::vector<int64_t> trace_batch_nums,
                                               std::optional<int64_t> abort_after_batch_num, std::function<void(const std::string&)> print)
    : model_(model),
      max_frames_(static_cast<size_t>(std::max<int64_t>(max_frames_to_save, 0))),
      trace_(std::move(trace_batch_nums)),
      abort_after_(abort_after_batch_num),
      print_(std::move(print)) {
  ROTE_CHECK(max_frames_to_save > 0, ArgumentError, "DebugUnderflowOverflow: max_frames_to_save is ", max_frames_to_save, "; it must be at least 1.");
  for (const nn::NamedModule& one : model.named_modules()) watched_[one.module].name = one.name;
  // Each parent hooks its children: one that is reached in two ways has two frames a call.
  const std::function<void(nn::Module&)> count = [&](nn::Module& module) {
    ++watched_[&module].frames;
    for (const nn::NamedModule& child : module.named_children()) count(*child.module);
  };
  count(model);
  for (auto& [module, watched] : watched_)
    watched.hook = module->register_call_hook([this, of = &watched](nn::Module& called, const std::vector<nn::CallValue>& inputs, const nn::CallValue& output) {
      for (int i = 0; i < of->frames; ++i) make_frame(called, *of, inputs, output);
    });
}

DebugUnderflowOverflow::~DebugUnderflowOverflow() {
  for (const auto& [module, watched] : watched_) module->remove_hook(watched.hook);
}

void DebugUnderflowOverflow::print(const std::string& text) const {
  if (print_) print_(text + "\n");
  else std::printf("%s\n", text.c_str());
}

void DebugUnderflowOverflow::begin_batch() { header_ = str("\n\n", kMargin, " *** Starting batch number=", batch_, " ***\n", kColumns, "\n"); }

bool DebugUnderflowOverflow::is_traced() const { return std::find(trace_.begin(), trace_.end(), shown_batch_) != trace_.end(); }

void DebugUnderflowOverflow::begin_frame(const std::string& title) { frame_ = str(kMargin, " ", title); }

void DebugUnderflowOverflow::keep_frame() {
  if (is_traced()) frames_.clear();
  frames_.push_back(std::move(frame_));
  if (frames_.size() > max_frames_) frames_.pop_front();
  if (!is_traced()) return;
  for (const std::string& frame : frames_) print(frame);
  frames_.clear();
}

void DebugUnderflowOverflow::end_frame(bool ends_run) {
  if (!found_ || is_traced()) return;
  found_ = false;
  if (told_batch_ != shown_batch_) dump();
  if (!ends_run) {
    told_batch_ = shown_batch_;
    return;
  }
  throw NonFiniteError(
      "DebugUnderflowOverflow: inf/nan detected, aborting as there is no point running further. Please scroll up above this traceback to see the activation values prior to "
      "this event.");
}

void DebugUnderflowOverflow::make_frame(nn::Module& module, const Watched& watched, const std::vector<nn::CallValue>& inputs, const nn::CallValue& output) {
  if (!begun_) begin_batch();
  begun_ = true;
  shown_batch_ = batch_;
  const bool is_last = &module == &model_;
  if (is_last) ++batch_;

  if (!header_.empty()) found_ = false;  // what a traced batch has shown ends no other
  const std::string title = watched.name + " " + module.class_name();
  begin_frame(title);
  frame_ = std::exchange(header_, "") + frame_;
  for (const auto& [name, param] : module.own_parameters()) add_tensor(param, name);
  for (size_t i = 0; i < inputs.size(); ++i) add_tensors(inputs[i], str("input[", i, "]"), 0);
  add_tensors(output, "output", 2);
  keep_frame();
  if (is_last) begin_batch();
  if (watches_backward_) watch_gradients(output, title + " backward", "grad_output");
  end_frame(true);
  if (abort_after_ && batch_ > *abort_after_)
    throw StateError(str("DebugUnderflowOverflow: aborting after ", batch_, " batches due to `abort_after_batch_num=", *abort_after_, "` arg"));
}

void DebugUnderflowOverflow::watch_backward(bool ends_run) {
  backward_ends_run_ = ends_run;
  if (std::exchange(watches_backward_, true)) return;
  for (const auto& [name, param] : model_.named_parameters()) watch_gradient(param, name + " Parameter backward", "grad");
}

void DebugUnderflowOverflow::watch_gradients(const nn::CallValue& value, const std::string& title, const std::string& context) {
  if (value.kind == nn::CallValue::Kind::tensor) watch_gradient(value.tensor, title, context);
  for (size_t i = 0; i < value.items.size(); ++i) watch_gradients(value.items[i], title, str(context, "[", i, "]"));
}

void DebugUnderflowOverflow::watch_gradient(const Tensor& x, const std::string& title, const std::string& context) {
  if (!needs_gradient(x)) return;
  register_hook(x, [this, alive = std::weak_ptr(alive_), title, context](const Tensor& dx) {
    if (alive.expired()) return Tensor();
    begin_frame(title);
    add_tensor(dx, context);
    keep_frame();
    end_frame(backward_ends_run_);
    return Tensor();
  });
}

void DebugUnderflowOverflow::look_at_update(const optim::Optimizer& optimizer) {
  const optim::NamedState state = optimizer.state_tensors();
  for (const optim::Group& group : optimizer.groups())
    for (const auto& [name, param] : group.params) {
      if (!param.grad().defined()) continue;
      begin_frame(name + " Parameter update");
      add_tensor(param, "parameter");
      add_tensor(param.grad(), "grad");
      for (const auto& [key, tensor] : state)
        if (key.starts_with(name + ".")) add_tensor(tensor, key.substr(name.size() + 1));
      keep_frame();
      end_frame(true);
    }
}

// depth: how many levels of tuples are looked into.
void DebugUnderflowOverflow::add_tensors(const nn::CallValue& value, const std::string& context, int depth) {
  switch (value.kind) {
    case nn::CallValue::Kind::tensor: return add_tensor(value.tensor, context);
    case nn::CallValue::Kind::none: frame_ += "\n" + right("None") + context; return;
    case nn::CallValue::Kind::tuple:
      if (depth > 0) {
        for (size_t i = 0; i < value.items.size(); ++i) add_tensors(value.items[i], str(context, "[", i, "]"), depth - 1);
        return;
      }
      [[fallthrough]];
    case nn::CallValue::Kind::other: frame_ += "\n" + right("not a tensor") + context;
  }
}

void DebugUnderflowOverflow::add_tensor(const Tensor& x, const std::string& context) {
  if (x.numel() == 0) {
    frame_ += "\n" + right("not applicable") + context;
    return;
  }
  const Magnitudes found = magnitudes_of(x);
  frame_ += "\n" + column(found.least) + " " + column(found.largest) + " " + context;
  const bool is_told = told_batch_ == shown_batch_;
  if (found.has_nan && !is_told) print(context + " has nans");
  if (found.has_inf && !is_told) print(context + " has infs");
  found_ = found_ || found.has_nan || found.has_inf;
}

void DebugUnderflowOverflow::dump() {
  print(str("\nDetected inf/nan during batch_number=", shown_batch_));
  print(str("Last ", frames_.size(), watches_backward_ ? " frames:" : " forward frames:"));
  print(kColumns);
  for (const std::string& frame : frames_) print(frame);
  print("\n\n");
  frames_.clear();
}

}  // namespace rote
