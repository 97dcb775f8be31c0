// tests/trainer/traced_run.h — a small run with a trace, in whose op outputs one ulp can be planted.
#pragma once

#include <cmath>
#include <cstring>
#include <optional>

#include "autograd/op.h"
#include "tests/trainer/small_run.h"
#include "trainer/trace_difference.h"

namespace rote::testing {

// The next number in element `element` of the first output of an op, the first of its name in that step and module.
struct Plant {
  int64_t step = 0;
  const char* op = "";
  std::string module;
  int64_t element = 0;
};

class PlantingTrainer : public Trainer {
 public:
  PlantingTrainer(nn::Model& model, const TrainingArguments& args, TrainerOptions options, std::optional<Plant> plant)
      : Trainer(model, args, std::move(options)), plant_(std::move(plant)) {}

 protected:
  double training_step(nn::Model& model, const nn::Batch& batch) override {
    bool is_due = plant_ && state().global_step + 1 == plant_->step;
    const OpObserver planter([&](const Call& call) {
      if (!is_due || std::strcmp(call.op->row.name, plant_->op) != 0 || module_path() != plant_->module) return;
      float& x = call.out[0].data<float>()[plant_->element];
      x = std::nextafter(x, INFINITY);
      is_due = false;
      plant_.reset();
    });
    return Trainer::training_step(model, batch);
  }

 private:
  std::optional<Plant> plant_;
};

struct TracedRun {
  TraceLevel level = TraceLevel::ops;
  std::optional<Plant> plant = {};
  TraceWatch watch = {};
  int64_t num_threads = 0;
  std::string resume = {};
};

// Twenty rows, in updates of two micro-batches of two; the model's weights hashed.
inline std::string run_traced(TrainingArguments args, const TracedRun& options) {
  args.gradient_accumulation_steps = 2;
  const std::unique_ptr<nn::Model> model = small_classifier();
  data::ListDataset rows = small_rows(20);
  TrainerOptions trainer_options{.train_dataset = &rows, .data_collator = pad};
  trainer_options.rote.trace_hashes = options.level;
  trainer_options.rote.num_threads = options.num_threads;
  trainer_options.trace_watch = options.watch;
  PlantingTrainer trainer(*model, args, std::move(trainer_options), options.plant);
  SmallRun::silence(trainer);
  trainer.train({.resume_from_checkpoint = options.resume});
  return hash_tensors(nn::state_dict(*model));
}

inline std::string traced_file(const std::string& folder) { return folder + "/" + kTraceFile; }

}  // namespace rote::testing
