// trainer/trace.h — the trace of a run: fingerprints of what each update read, computed and wrote, for runs to be compared by. The file: trace_file.h;
// comparing: trace_difference.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/op.h"
#include "nn/model.h"
#include "trainer/trace_file.h"

namespace rote {

// Is shown each tensor of a trace when its fingerprint is taken: record `record`, from 0, of the update that makes global_step `step`. Later
// updates write into some of them: what is kept has to be a copy, and no op may make it, which would be in the trace.
using TraceWatch = std::function<void(int64_t step, size_t record, const TraceName& name, const Tensor& x)>;
// Leaves a copy of that one in `into`, which must outlive the run.
TraceWatch keep_record(Tensor& into, int64_t step, size_t record);

// Of one step in this order: begin_step; for each micro-batch batch(), then a Watch around its forward and backward; where
// there is something to learn from, update_begun and update_made; end_step.
class Tracer {
 public:
  // Behind update `keep` of the trace in the file (TraceWriter). The model must outlive it.
  Tracer(nn::Model& model, TraceLevel level, const std::string& file, const std::string& contract, int64_t keep, TraceWatch watch = {});
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // What an attempt at the step that was broken off has left is forgotten.
  void begin_step(int64_t step);
  void batch(const nn::Batch& batch);
  void update_begun(double loss);  // with the loss of the whole update and the gradients, folded and not yet clipped
  void update_made();              // with the parameters
  void end_step();                 // Throws IoError.

  // Modules and ops that run while it lives are in the trace, where its level asks for them. `tracer` may be nullptr.
  class Watch {
   public:
    explicit Watch(Tracer* tracer);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Tracer* tracer_;
    std::optional<OpObserver> observer_;
  };

 private:
  void add(std::vector<TraceName> names, const std::vector<Tensor>& tensors, uint64_t inputs = 0);
  void add_op(const Call& call);
  void add_backward(const Call& call, const std::string& path);

  nn::Model& model_;
  TraceLevel level_;
  TraceWriter writer_;
  TraceWatch watch_;
  nn::NamedTensors parameters_;
  std::vector<std::pair<nn::Module*, int64_t>> hooks_;
  bool is_watching_ = false;
  TraceStep step_;
};

}  // namespace rote
