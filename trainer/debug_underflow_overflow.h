// trainer/debug_underflow_overflow.h — DebugUnderflowOverflow: what each module took and gave, printed where Inf or NaN first shows. The origin to the
// element: overflow_report.h.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/module.h"
#include "optim/optimizer.h"

namespace rote {

// Stands on a model from its making to its end and makes a frame of each forward of a module: its class, its parameters, inputs and outputs with their
// smallest and largest magnitude. Where one holds Inf or NaN the last frames are printed and NonFiniteError ends the forward. Batches in
// trace_batch_nums (from 0) are printed as they run, and end no run; after abort_after_batch_num a StateError does. Only forwards are looked at, as in the reference, unless watch_backward asks for more.
class DebugUnderflowOverflow {
 public:
  explicit DebugUnderflowOverflow(nn::Module& model, int64_t max_frames_to_save = 21, std::vector<int64_t> trace_batch_nums = {},
                                  std::optional<int64_t> abort_after_batch_num = {}, std::function<void(const std::string&)> print = {});
  ~DebugUnderflowOverflow();
  DebugUnderflowOverflow(const DebugUnderflowOverflow&) = delete;
  DebugUnderflowOverflow& operator=(const DebugUnderflowOverflow&) = delete;

  // From here on also a frame of each gradient, of a module's output and of a parameter, as the backward reaches it. The first that is not finite ends
  // the run, or where ends_run is false, as a loss scale answers it, is printed with the frames before it, once a batch.
  void watch_backward(bool ends_run = true);
  // After an update: a frame of each parameter with its gradient and state.
  void look_at_update(const optim::Optimizer& optimizer);

  // The last frames, each some lines.
  const std::deque<std::string>& frames() const { return frames_; }

 private:
  struct Watched {
    std::string name;
    int frames = 0;  // of one call: as many as parents that lead there
    int64_t hook = 0;
  };

  void make_frame(nn::Module& module, const Watched& watched, const std::vector<nn::CallValue>& inputs, const nn::CallValue& output);
  void watch_gradients(const nn::CallValue& value, const std::string& title, const std::string& context);
  void watch_gradient(const Tensor& x, const std::string& title, const std::string& context);
  void begin_frame(const std::string& title);
  void keep_frame();
  void end_frame(bool ends_run);
  bool is_traced() const;
  void add_tensors(const nn::CallValue& value, const std::string& context, int depth);
  void add_tensor(const Tensor& x, const std::string& context);
  void begin_batch();
  void print(const std::string& text) const;
  void dump();

  nn::Module& model_;
  const size_t max_frames_;
  const std::vector<int64_t> trace_;
  const std::optional<int64_t> abort_after_;
  const std::function<void(const std::string&)> print_;
  std::map<nn::Module*, Watched> watched_;
  std::deque<std::string> frames_;
  std::string header_;  // of a batch, for its first module
  std::string frame_;   // under way
  int64_t batch_ = 0, shown_batch_ = 0, told_batch_ = -1;
  bool begun_ = false, found_ = false, watches_backward_ = false, backward_ends_run_ = true;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);  // a graph and its hooks may live longer
};

}  // namespace rote
