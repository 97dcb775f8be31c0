// trainer/debug_underflow_overflow.h — DebugUnderflowOverflow: what each module took and gave, printed where Inf or NaN first shows. The origin to the
// element, and what overflows in a backward: overflow_report.h.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nn/module.h"

namespace rote {

// Stands on a model from its making to its end and makes a frame of each forward of a module: its class, its parameters, inputs and outputs with their
// smallest and largest magnitude. Where one holds Inf or NaN the last frames are printed and NonFiniteError ends the forward. Batches in
// trace_batch_nums (from 0) are printed as they run, and end no run; after abort_after_batch_num a StateError does. Only forwards are looked at.
class DebugUnderflowOverflow {
 public:
  explicit DebugUnderflowOverflow(nn::Module& model, int64_t max_frames_to_save = 21, std::vector<int64_t> trace_batch_nums = {},
                                  std::optional<int64_t> abort_after_batch_num = {}, std::function<void(const std::string&)> print = {});
  ~DebugUnderflowOverflow();
  DebugUnderflowOverflow(const DebugUnderflowOverflow&) = delete;
  DebugUnderflowOverflow& operator=(const DebugUnderflowOverflow&) = delete;

  // The last frames, each some lines.
  const std::deque<std::string>& frames() const { return frames_; }

 private:
  struct Watched {
    std::string name;
    int frames = 0;  // of one call: as many as parents that lead there
    int64_t hook = 0;
  };

  void make_frame(nn::Module& module, const Watched& watched, const std::vector<nn::CallValue>& inputs, const nn::CallValue& output);
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
  std::string frame_;  // under way: the header of a batch waits here for its first module
  int64_t batch_ = 0, shown_batch_ = 0;
  bool begun_ = false, found_ = false;
};

}  // namespace rote
