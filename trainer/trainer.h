// trainer/trainer.h — class Trainer: trains, evaluates and predicts with the semantics of the Hugging Face Trainer. The loop: loop.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/model.h"
#include "optim/metric_schedule.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "trainer/arguments.h"
#include "trainer/callback.h"
#include "trainer/checkpoint.h"
#include "trainer/data/collate.h"
#include "trainer/data/dataset.h"
#include "trainer/evaluation.h"
#include "trainer/rote_arguments.h"
#include "trainer/state.h"
#include "trainer/text_forms.h"

namespace rote {

struct PredictionOutput {
  std::vector<Tensor> predictions;
  Tensor label_ids;  // undefined where the rows have none
  Metrics metrics;
  int64_t num_samples = 0;
};

struct TrainOutput {
  int64_t global_step = 0;
  double training_loss = 0;
  Metrics metrics;
};

struct TrainerOptions {
  const data::Dataset* train_dataset = nullptr;  // must outlive the Trainer, as must the eval dataset
  const data::Dataset* eval_dataset = nullptr;
  data::Collator data_collator = {};                      // default: pads where a tokenizer is given, else stacks
  std::vector<std::string> collator_columns = {};         // that it takes beside the model's inputs
  std::optional<ProcessingClass> processing_class = {};   // saved with every model
  ComputeMetrics compute_metrics = {};
  PreprocessLogits preprocess_logits_for_metrics = {};    // what evaluation keeps of each batch's outputs; default: all
  std::shared_ptr<optim::Optimizer> optimizer = {};       // default: what args.optim names, by the groups of decay_groups()
  std::optional<optim::Schedule> lr_scheduler = {};       // default: what args.lr_scheduler_type names
  std::vector<std::shared_ptr<TrainerCallback>> callbacks = {};
  RoteArguments rote = {};
};

struct TrainCall {
  // Empty: from the start. "true": the newest checkpoint in output_dir. Else the folder of a checkpoint.
  std::string resume_from_checkpoint = {};
};

class Trainer {
 public:
  // Checks the arguments, seeds the process and creates output_dir. Throws ArgumentError or IoError before anything else is written.
  Trainer(nn::Model& model, const TrainingArguments& args, TrainerOptions options);
  virtual ~Trainer() = default;

  // Trains for the epochs or steps of the arguments, from a checkpoint on if asked. Throws StateError for a checkpoint that does not fit and
  // NonFiniteError when a loss or gradient is not finite: nothing is updated by that step.
  TrainOutput train(const TrainCall& call = {});
  // `<prefix>_loss`, the metrics of compute_metrics, runtime and rates, logged and shown to callbacks.
  Metrics evaluate(const data::Dataset* dataset = nullptr, const std::string& prefix = "eval");
  PredictionOutput predict(const data::Dataset& dataset, const std::string& prefix = "test");

  // Weights, configuration and tokenizer files into a folder that transformers can load. They are written beside and named when all are whole, the
  // weights last; where writing fails, none appears.
  void save_model(const std::string& folder) const;
  void save_state() const;  // output_dir/trainer_state.json
  // Into the history, with epoch and step, and to the callbacks. `speed`: of training so far, logged where tokens are counted.
  void log(Logs logs, const std::optional<Speed>& speed = {});

  void add_callback(std::shared_ptr<TrainerCallback> callback) { handler_.add(std::move(callback)); }
  void on(Event event, CallbackHandler::StateFunction function) { handler_.on(event, std::move(function)); }

  const TrainingArguments& args() const { return args_; }
  const TrainerState& state() const { return state_; }
  nn::Model& model() { return model_; }
  optim::Optimizer* optimizer() { return optimizer_.get(); }
  CallbackHandler& callbacks() { return handler_; }
  // True once the first window of train() has begun: what fails from then on is the run, not its arguments.
  bool has_started() const { return started_; }

 protected:
  // The model's own loss, divided by batch.num_items.
  virtual LossOutput compute_loss(nn::Model& model, const nn::Batch& batch);
  // Forward and backward of one micro-batch inside its RunScope; returns the loss.
  virtual double training_step(nn::Model& model, const nn::Batch& batch);
  virtual void create_optimizer();
  virtual void create_scheduler(int64_t total_steps);
  virtual std::vector<data::Example> fetch(const data::Dataset& dataset, const std::vector<int64_t>& rows) const;

 private:
  struct Run;     // counts and cursors of one train()
  struct Window;  // the micro-batches of one update

  nn::Batch collate(const data::Dataset& dataset, const std::vector<int64_t>& rows) const;
  TrainOutput run_training(const TrainCall& call);
  Run plan_run() const;
  void resume(const std::string& folder, Run& run);
  void check_saved_files(const std::string& folder) const;
  void check_position(const std::string& folder, const RandomState& saved, const Run& run) const;
  void warn_of_changes(const TrainerState& saved) const;
  RunScope scope_of(int64_t first_sample, int64_t samples) const;
  Window next_window(const Run& run, const std::vector<int64_t>& order) const;
  bool run_epoch(Run& run, int64_t epoch);
  bool run_window(Run& run, const Window& window);
  double audited_step(const nn::Batch& batch);
  void update(Run& run, const Window& window, double loss);
  void log_evaluate_save(Run& run);
  double best_metric_of(const Metrics& metrics) const;
  void track_best(const Metrics& metrics);
  void save_checkpoint(Run& run);
  std::optional<std::string> best_of_output_dir() const;
  void write_model(const std::string& folder) const;
  Metrics train_metrics(const Run& run) const;
  bool is_stopped() const { return control_.should_epoch_stop || control_.should_training_stop; }
  EvaluationOutput evaluation_loop(const data::Dataset& dataset, const std::string& prefix, bool keep_outputs);
  CallbackContext context() { return {args_, state_}; }
  void fire(Event event);
  [[noreturn]] void stop_non_finite(double loss, double norm) const;

  nn::Model& model_;
  TrainingArguments args_;
  TrainerOptions options_;
  TrainerState state_;
  TrainerControl control_;
  CallbackHandler handler_;
  std::shared_ptr<optim::Optimizer> optimizer_;
  std::optional<optim::Schedule> schedule_;
  std::unique_ptr<optim::MetricSchedule> metric_schedule_;  // in place of schedule_
  std::vector<std::string> written_checkpoints_;  // by this run, in the order of writing
  int64_t applied_steps_ = 0;                     // updates made; what the schedule counts
  bool started_ = false;
  bool audited_ = false;
};

// Group 0: parameters with weight decay; group 1: those without (biases, weights of LayerNorm modules and of norms by name, trainer.md 5.2).
std::vector<optim::Group> decay_groups(nn::Model& model, double lr, double weight_decay);

}  // namespace rote
