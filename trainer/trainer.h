// trainer/trainer.h — class Trainer: trains, evaluates and predicts with the semantics of the Hugging Face Trainer. The loop: loop.cpp; checkpoints:
// resume.cpp; evaluation: evaluate.cpp.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nn/model.h"
#include "optim/grad_scaler.h"
#include "optim/metric_schedule.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "trainer/arguments.h"
#include "trainer/callback.h"
#include "trainer/checkpoint.h"
#include "trainer/data/collate.h"
#include "trainer/data/dataset.h"
#include "trainer/data/loader.h"
#include "trainer/data/rebalance.h"
#include "trainer/evaluation.h"
#include "trainer/rote_arguments.h"
#include "trainer/speed.h"
#include "trainer/state.h"
#include "trainer/text_forms.h"
#include "trainer/trace.h"

namespace rote {

struct PredictionOutput {
  std::vector<Tensor> predictions;
  Tensor label_ids;  // undefined where the rows have none
  Metrics metrics;
  int64_t num_samples = 0;
  std::vector<EvalPrediction> batches = {};  // in place of the first two where --eval_do_concat_batches is false
};

struct TrainOutput {
  int64_t global_step = 0;
  double training_loss = 0;
  Metrics metrics;
  bool interrupted = false;  // by SIGTERM, with --enable_jit_checkpoint: a checkpoint holds where it stood
};

using NamedDatasets = std::vector<std::pair<std::string, data::AnyDataset>>;
using ModelInit = std::function<std::unique_ptr<nn::Model>()>;
// A loss in place of the model's own, which sees no labels then. num_items: the scored targets of the window, by label key, by which a sum
// of losses is to be divided.
using ComputeLoss = std::function<Tensor(const nn::ModelOutput& outputs, const Tensor& labels, const nn::TargetCounts& num_items)>;
using MakeOptimizer = std::function<std::shared_ptr<optim::Optimizer>(std::vector<optim::Group> groups)>;

struct TrainerOptions {
  data::AnyDataset train_dataset = {};  // must outlive the Trainer, as must the eval datasets. A stream begins anew, pass after pass, until max_steps
  data::AnyDataset eval_dataset = {};
  NamedDatasets eval_datasets = {};  // in place of eval_dataset: evaluated one after another, their metrics are eval_<name>_…
  data::Collator data_collator = {};                      // default: pads where a tokenizer is given, else stacks
  std::vector<std::string> collator_columns = {};         // that it takes beside the model's inputs
  std::optional<ProcessingClass> processing_class = {};   // saved with every model
  ComputeMetrics compute_metrics = {};
  ComputeBatchMetrics compute_batch_metrics = {};         // in place of it, with --batch_eval_metrics
  PreprocessLogits preprocess_logits_for_metrics = {};    // what evaluation keeps of each batch's outputs; default: all
  ComputeLoss compute_loss_func = {};
  std::shared_ptr<optim::Optimizer> optimizer = {};       // default: what args.optim names, by the groups of decay_groups()
  std::optional<optim::Schedule> lr_scheduler = {};       // default: what args.lr_scheduler_type names
  MakeOptimizer make_optimizer = {};                      // in place of args.optim, by the same groups
  std::vector<std::shared_ptr<TrainerCallback>> callbacks = {};
  RoteArguments rote = {};
  TraceWatch trace_watch = {};                            // is shown what --trace_hashes takes the fingerprints of
};

struct TrainCall {
  // Empty: from the start. "true": the newest good checkpoint in output_dir. Else the folder of a checkpoint.
  std::string resume_from_checkpoint = {};
  std::vector<std::string> ignore_keys_for_eval = {};  // outputs that the metrics of evaluations do not see
};

class Trainer {
 public:
  // Checks the arguments, seeds the process and creates output_dir. Throws ArgumentError or IoError before anything else is written.
  Trainer(nn::Model& model, const TrainingArguments& args, TrainerOptions options);
  // Of a model that is made here, and made anew, from the same seed, by each train().
  Trainer(ModelInit model_init, const TrainingArguments& args, TrainerOptions options);
  virtual ~Trainer() = default;

  // Trains for the epochs or steps of the arguments, from a checkpoint on if asked. Throws StateError for a checkpoint that does not fit and
  // NonFiniteError when a loss or gradient is not finite: nothing is updated by that step.
  TrainOutput train(const TrainCall& call = {});
  // `<prefix>_loss`, the metrics of compute_metrics, runtime and rates, logged and shown to callbacks. Without a dataset: that of the options,
  // or all of the named ones. ignore_keys: outputs that metrics do not see.
  Metrics evaluate(const data::AnyDataset& dataset = {}, const std::string& prefix = "eval", const std::vector<std::string>& ignore_keys = {});
  // The one of the options' named datasets, as <prefix>_<name>. ArgumentError where there is none of the name.
  Metrics evaluate(const std::string& name, const std::string& prefix = "eval", const std::vector<std::string>& ignore_keys = {});
  // Each in turn as <prefix>_<name>; the metrics of all.
  Metrics evaluate(const NamedDatasets& datasets, const std::string& prefix = "eval", const std::vector<std::string>& ignore_keys = {});
  PredictionOutput predict(const data::AnyDataset& dataset, const std::string& prefix = "test", const std::vector<std::string>& ignore_keys = {});

  // Weights, configuration and tokenizer files into a folder that transformers can load. They are written beside and named when all are whole, the
  // weights last; where writing fails, none appears.
  virtual void save_model(const std::string& folder) const;
  void save_state() const;  // output_dir/trainer_state.json
  // Into the history, with epoch and step, and to the callbacks. `speed`: of training so far, logged where tokens are counted.
  virtual void log(Logs logs, const std::optional<Speed>& speed = {});
  void log_metrics(const std::string& split, const Metrics& metrics) const;   // printed, on the main process
  void save_metrics(const std::string& split, const Metrics& metrics) const;  // <split>_results.json and all_results.json in output_dir

  // A callback as its class, as an object, or as a function of the state or the context.
  template <std::default_initializable C>
  void add_callback() { handler_.add(std::make_shared<C>()); }
  template <std::derived_from<TrainerCallback> C>
  void add_callback(C callback) { handler_.add(std::make_shared<C>(std::move(callback))); }
  void add_callback(std::shared_ptr<TrainerCallback> callback) { handler_.add(std::move(callback)); }
  void on(Event event, CallbackHandler::StateFunction function) { handler_.on(event, std::move(function)); }
  void on(Event event, CallbackHandler::ContextFunction function) { handler_.on(event, std::move(function)); }
  template <class C>
  std::shared_ptr<C> pop_callback() { return handler_.pop<C>(); }
  template <class C>
  void remove_callback() { handler_.remove<C>(); }
  void remove_callback(const TrainerCallback* callback) { handler_.remove(callback); }

  const TrainingArguments& args() const { return args_; }
  const TrainerState& state() const { return state_; }
  nn::Model& model() const { return *model_; }
  optim::Optimizer* optimizer() { return optimizer_.get(); }
  CallbackHandler& callbacks() { return handler_; }
  // True once the first window of train() has begun: what fails from then on is the run, not its arguments.
  bool has_started() const { return started_; }
  bool is_world_process_zero() const { return state_.is_world_process_zero; }
  bool is_local_process_zero() const { return state_.is_local_process_zero; }
  static int64_t num_examples(const data::Dataset& dataset) { return dataset.size(); }
  int64_t get_num_trainable_parameters() const;
  std::vector<std::string> get_decay_parameter_names() const;
  std::vector<double> get_learning_rates() const;  // of each group; StateError before there is an optimizer
  // The group that holds the parameter. ArgumentError where none does.
  const optim::Group& get_optimizer_group(const std::string& parameter) const;
  int64_t floating_point_ops(const nn::Batch& batch) const;  // of one forward and backward

  void create_optimizer_and_scheduler(int64_t total_steps);

 protected:
  // The model's own loss, divided by batch.num_items, or what the arguments and options put in its place.
  virtual LossOutput compute_loss(nn::Model& model, const nn::Batch& batch);
  // What backward() takes in training_step: the loss, with --fp16 times the loss scale.
  Tensor scaled(const Tensor& loss) const { return scaler_ ? scaler_->scale(loss) : loss; }
  // Forward and backward of one micro-batch inside its RunScope; returns the loss.
  virtual double training_step(nn::Model& model, const nn::Batch& batch);
  // Loss, outputs and labels of one batch without gradients. loss_only: the outputs are not needed.
  virtual Prediction prediction_step(nn::Model& model, const nn::Batch& batch, bool loss_only, const std::vector<std::string>& ignore_keys);
  // One pass over the rows, of a stream its pass 0: evaluate() and predict() go through it.
  struct EvaluationCall {
    std::string prefix = "eval";  // begins error texts
    bool loss_only = false;       // no outputs are looked at
    bool keeps_outputs = false;   // also where metrics are computed batch by batch
    std::vector<std::string> ignore_keys = {};
  };
  virtual EvaluationOutput evaluation_loop(const data::AnyDataset& dataset, const EvaluationCall& call);
  virtual void create_optimizer();
  virtual void create_scheduler(int64_t total_steps);
  // What a data loader is elsewhere: the order of an epoch's rows, rows by number, batches of them. With dataloader_num_workers all but the first run
  // on other threads, several at a time.
  virtual std::vector<int64_t> train_order(int64_t epoch) const;
  virtual std::vector<data::Example> fetch(const data::Dataset& dataset, const std::vector<int64_t>& rows) const;
  virtual nn::Batch train_batch(const std::vector<int64_t>& rows) const;
  virtual nn::Batch eval_batch(const data::Dataset& dataset, const std::vector<int64_t>& rows) const;
  virtual nn::Batch stream_batch(std::vector<data::Example> rows) const;  // in training and evaluation

  TrainerOptions& options() { return options_; }

 private:
  struct Run;     // counts and cursors of one train(): run.h
  struct Window;  // the micro-batches of one update

  Trainer(std::unique_ptr<nn::Model> own, nn::Model* model, const TrainingArguments& args, TrainerOptions options);

  // loop.cpp
  TrainOutput run_training(const TrainCall& call);
  Run plan_run();
  void split_batches(Run& run, int64_t rows) const;
  data::LoaderOptions loader_options() const;
  std::vector<data::Example> used_columns(std::vector<data::Example> examples) const;
  void tell_plan(const Run& run) const;
  RunScope scope_of(int64_t first_sample, int64_t samples) const;
  void begin_epoch(Run& run) const;
  data::Rebalance rebalance_of(const Run& run) const;
  std::vector<std::vector<int64_t>> epoch_batches(const Run& run) const;
  Window next_window(const Run& run) const;
  bool run_epoch(Run& run, int64_t epoch);
  void end_of_stream(const Run& run);
  std::optional<double> forward_and_backward(Run& run, Window& window);
  std::optional<double> run_window(Run& run, const Window& window);
  double micro_step(const Run& run, const Window& window, size_t i, int64_t first);
  void count_tokens(Run& run, const nn::Batch& batch);
  double audited_step(const nn::Batch& batch);
  void shrink_batch(Run& run, const std::string& fault);
  void update(Run& run, const Window& window, double loss);
  void log_evaluate_save(Run& run);
  Metrics evaluate_within_training();
  double best_metric_of(const Metrics& metrics) const;
  void track_best(const Metrics& metrics);
  Metrics train_metrics(const Run& run) const;
  bool is_stopped() const { return control_.should_epoch_stop || control_.should_training_stop; }
  bool is_to_be_logged(const Run& run) const;

  // non_finite.cpp
  std::vector<Tensor> copied_buffers() const;
  void put_back(const std::vector<Tensor>& buffers) const;
  bool make_step(const Run& run, const Window& window);
  std::string explain(const Run& run, const Window& window);
  void give_up_step(const Run& run, const Window& window, double loss);
  void hold_step(const Run& run, const std::string& what, const std::string& seen, const std::string& advice);

  // resume.cpp
  void resume_from(const std::string& wanted, Run& run);
  void resume(const std::string& folder, Run& run);
  void find_place(Run& run, int64_t updates) const;
  void check_saved_files(const std::string& folder) const;
  void check_position(const std::string& folder, const RandomState& saved, const Run& run) const;
  void warn_of_changes(const TrainerState& saved) const;
  void save_checkpoint(Run& run);
  void load_best_model();
  std::optional<std::string> best_of_output_dir() const;
  void write_model(const std::string& folder) const;

  bool has_eval_dataset() const { return options_.eval_dataset || !options_.eval_datasets.empty(); }
  nn::Batch without_labels(const nn::Batch& batch) const;
  void use_machine() const;
  CallbackContext context();
  void fire(Event event);

  ModelInit model_init_;
  std::unique_ptr<nn::Model> own_model_;  // where model_init made it
  nn::Model* model_;
  TrainingArguments args_;
  TrainerOptions options_;
  TrainerState state_;
  TrainerControl control_;
  CallbackHandler handler_;
  MemoryWatch memory_;
  std::shared_ptr<optim::Optimizer> optimizer_;
  std::optional<optim::Schedule> schedule_;
  std::unique_ptr<optim::MetricSchedule> metric_schedule_;  // in place of schedule_
  std::optional<optim::GradScaler> scaler_;                 // with --fp16
  std::vector<int64_t> lengths_;                            // of the training rows, for strategies by length
  std::vector<std::string> ignore_keys_for_eval_;
  std::vector<std::string> written_checkpoints_;  // by this run, in the order of writing
  int64_t applied_steps_ = 0;                     // updates made; what the schedule counts
  NonFiniteSteps nonfinite_;
  int64_t micro_batches_ = 1;                     // of the window under way
  bool is_training_ = false;
  bool started_ = false;
  bool audited_ = false;
};

// Group 0: parameters with weight decay; group 1: those without (biases, weights of LayerNorm modules and of norms by name, trainer.md 5.2).
std::vector<optim::Group> decay_groups(nn::Model& model, double lr, double weight_decay);

}  // namespace rote
