// trainer/trainer.cpp — what a Trainer is made of: checks, optimizer and schedule, batches, logging. The loop: loop.cpp; checkpoints: resume.cpp.
#include "trainer/trainer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "autograd/backward.h"
#include "autograd/ops/pointwise.h"
#include "kernels/pool.h"
#include "nn/config.h"
#include "nn/loss.h"
#include "optim/registry.h"
#include "tensor/alloc.h"
#include "tensor/generator.h"
#include "trainer/callbacks.h"
#include "trainer/jit_checkpoint.h"
#include "trainer/json_text.h"
#include "trainer/progress.h"
#include "trainer/trackers/trackers.h"

namespace rote {

namespace fs = std::filesystem;

namespace {

// By name alone, lower-cased: `bias` or a norm's own names anywhere, a component `norm` or one that ends in `_norm`.
bool named_without_decay(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"bias", "layernorm", "rmsnorm"})
    if (lower.find(word) != std::string::npos) return true;
  for (size_t first = 0; first <= lower.size();) {
    const size_t last = std::min(lower.find('.', first), lower.size());
    const std::string component = lower.substr(first, last - first);
    if (component == "norm" || (component.size() >= 5 && component.compare(component.size() - 5, 5, "_norm") == 0)) return true;
    first = last + 1;
  }
  return false;
}

void create_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  ROTE_CHECK(!error, IoError, "output_dir: cannot create ", folder, ": ", error.message(), ".");
  ROTE_CHECK(::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0, IoError, "output_dir: cannot write into ", folder, ": ", std::strerror(errno), ".");
}

std::shared_ptr<optim::Optimizer> make_optimizer(const TrainingArguments& args, std::vector<optim::Group> groups) {
  if (groups.empty()) groups.push_back({.params = {}, .lr = args.learning_rate, .weight_decay = args.weight_decay});
  const optim::AdamArguments adam{.betas = {.first = args.adam_beta1, .second = args.adam_beta2}, .eps = args.adam_epsilon};
  return optim::make_optimizer(args.optimizer_name(), std::move(groups), adam, optim::parse_optim_args(args.optim_args.value_or("")));
}

}  // namespace

std::vector<optim::Group> decay_groups(nn::Model& model, double lr, double weight_decay) {
  std::vector<const void*> norm_params;
  for (const nn::NamedModule& named : model.named_modules())
    if (named.module->class_name() == "LayerNorm")
      for (const Tensor& param : named.module->parameters()) norm_params.push_back(param.impl().get());
  std::vector<optim::Group> groups = {{.params = {}, .lr = lr, .weight_decay = weight_decay}, {.params = {}, .lr = lr, .weight_decay = 0}};
  for (const auto& [name, param] : model.named_parameters()) {
    if (!param.requires_grad()) continue;
    const bool in_norm = std::find(norm_params.begin(), norm_params.end(), param.impl().get()) != norm_params.end();
    groups[in_norm || named_without_decay(name) ? 1 : 0].params.emplace_back(name, param);
  }
  return groups;
}

namespace {

std::unique_ptr<nn::Model> seeded(const ModelInit& model_init, int64_t seed) {
  ROTE_CHECK(model_init, ArgumentError, "Trainer: model_init is empty; give a function that makes the model, or a model.");
  manual_seed(static_cast<uint64_t>(seed));
  std::unique_ptr<nn::Model> model = model_init();
  ROTE_CHECK(model != nullptr, ArgumentError, "Trainer: model_init gave no model; it must return a new one.");
  return model;
}

void check_options(nn::Model& model, const TrainingArguments& args, const TrainerOptions& options) {
  ROTE_CHECK(model.config() == nullptr || !model.class_name().ends_with("Model") || !model.signature().label_names().empty(), ArgumentError, "Trainer: ", model.class_name(),
             " gives hidden states and takes no labels; train a class with a head, as AutoModelForSequenceClassification makes.");
  const bool evaluates = options.eval_dataset || !options.eval_datasets.empty();
  ROTE_CHECK(!options.eval_dataset || options.eval_datasets.empty(), ArgumentError, "Trainer: eval_dataset and eval_datasets are both given; give one.");
  ROTE_CHECK(args.eval_strategy == IntervalStrategy::no || evaluates, ArgumentError,
             "eval_strategy: evaluations are asked for but there is no eval_dataset; give one or leave --eval_strategy at no.");
  ROTE_CHECK(args.save_strategy != SaveStrategy::best || evaluates, ArgumentError,
             "save_strategy: best needs evaluations; give an eval_dataset and an --eval_strategy.");
  ROTE_CHECK(!options.optimizer || !options.make_optimizer, ArgumentError, "Trainer: optimizer and make_optimizer are both given; give one.");
  ROTE_CHECK(!args.batch_eval_metrics || !options.compute_metrics || options.compute_batch_metrics, ArgumentError,
             "batch_eval_metrics: compute_metrics sees a whole evaluation; give compute_batch_metrics, which is told of each batch and when to give its result.");
  ROTE_CHECK(args.batch_eval_metrics || !options.compute_batch_metrics, ArgumentError,
             "Trainer: compute_batch_metrics is given without --batch_eval_metrics; set it, or give compute_metrics.");
  ROTE_CHECK(!data::is_rebalanced(args.train_sampling_strategy) || !args.auto_find_batch_size, ArgumentError,
             "auto_find_batch_size: the batches of --train_sampling_strategy batch_rebalance have no one size to be halved; give one of the two.");
  ROTE_CHECK(!options.rote.debug_backward || args.debugs_overflow(), ArgumentError,
             "debug_backward: adds to the frames of --debug underflow_overflow, which is not given; give both.");
  const ArithmeticGuard found(options.rote.arithmetic);
  ROTE_CHECK(options.rote.arithmetic == Arithmetic::ac1 || !args.full_determinism, ArgumentError,
             "arithmetic: fast is asked for with --full_determinism, but its bits depend on the library, the machine and the threads; leave out one of the two.");
  if (options.train_dataset.stream == nullptr) return;
  ROTE_CHECK(args.max_steps > 0, ArgumentError, "max_steps: is ", args.max_steps, ", but the train_dataset is a stream, whose length is not known; give --max_steps.");
  ROTE_CHECK(!data::is_by_length(args.train_sampling_strategy), ArgumentError, "train_sampling_strategy: ",
             word_of(args.train_sampling_strategy), " needs the lengths of all rows, which a stream does not give; leave it out.");
  bool is_shared = options.eval_dataset.stream == options.train_dataset.stream;
  for (const auto& [name, dataset] : options.eval_datasets) is_shared = is_shared || dataset.stream == options.train_dataset.stream;
  ROTE_CHECK(!is_shared, ArgumentError, "Trainer: one stream is given to train on and to evaluate on, which would begin it anew; give two.");
}

}  // namespace

Trainer::Trainer(nn::Model& model, const TrainingArguments& args, TrainerOptions options) : Trainer(nullptr, &model, args, std::move(options)) {}

Trainer::Trainer(ModelInit model_init, const TrainingArguments& args, TrainerOptions options)
    : Trainer(seeded(model_init, args.seed), nullptr, args, std::move(options)) {
  ROTE_CHECK(!options_.optimizer && !options_.lr_scheduler, ArgumentError,
             "Trainer: an optimizer or schedule belongs to one model, model_init makes a new one for each run; override create_optimizer and create_scheduler.");
  model_init_ = std::move(model_init);
}

Trainer::Trainer(std::unique_ptr<nn::Model> own, nn::Model* model, const TrainingArguments& args, TrainerOptions options)
    : own_model_(std::move(own)), model_(own_model_ ? own_model_.get() : model), args_(resolved(args)), options_(std::move(options)),
      memory_(!args_.skip_memory_metrics), optimizer_(options_.optimizer), schedule_(options_.lr_scheduler) {
  memory_.begin("init");
  options_.rote = resolved(options_.rote);
  check_options(*model_, args_, options_);
  if (args_.label_smoothing_factor > 0) {
    nn::Config* config = model_->config();
    ROTE_CHECK(config != nullptr, ArgumentError, "label_smoothing_factor: the model has no config, which says what its labels are; override compute_loss.");
    if (config->problem_type == "multi_label_classification") {
      std::fprintf(stderr, "label_smoothing_factor: is off, the labels of a multi-label classifier are no classes\n");
      args_.label_smoothing_factor = 0.0;
    }
  }
  if (!options_.data_collator) {
    if (options_.processing_class && options_.processing_class->tokenizer) options_.data_collator = data::PadCollator(*options_.processing_class->tokenizer);
    else options_.data_collator = data::default_collate;
  }
  if (!optimizer_ && !options_.make_optimizer) make_optimizer(args_, {});  // refuses its options before a folder is made
  manual_seed(static_cast<uint64_t>(args_.seed));
  if (nn::Config* config = model_->config(); config != nullptr && config->others.count("use_cache") != 0)
    config->others["use_cache"] = args_.use_cache ? "true" : "false";
  handler_.add(std::make_shared<DefaultFlowCallback>());
  for (const std::string& name : args_.report_to) handler_.add(tracker_callback(name));
  create_folder(args_.output_dir);
  if (args_.enable_jit_checkpoint) handler_.add(std::make_shared<JitCheckpointCallback>());
  for (const auto& callback : options_.callbacks) handler_.add(callback);
  const bool tells_errors_only = args_.log_level == LogLevel::error || args_.log_level == LogLevel::critical;
  if (args_.disable_tqdm.value_or(false) || tells_errors_only) handler_.add(std::make_shared<PrinterCallback>());
  else handler_.add(std::make_shared<ProgressCallback>());
  fire(Event::init_end);
  memory_.end_init();
}

CallbackContext Trainer::context() {
  CallbackContext c{args_, state_};
  c.model = model_;
  c.processing_class = options_.processing_class ? &*options_.processing_class : nullptr;
  c.optimizer = optimizer_.get();
  c.lr_scheduler = schedule_ ? &*schedule_ : nullptr;
  c.train_dataset = options_.train_dataset;
  c.eval_dataset = options_.eval_dataset;
  return c;
}

// Threads and memory, both of the process.
void Trainer::use_machine() const {
  set_num_threads(static_cast<int>(options_.rote.num_threads));
  if (options_.rote.memory_limit > 0) set_memory_limit(options_.rote.memory_limit << 20);
}

void Trainer::fire(Event event) { handler_.fire(event, context(), control_); }

// Labels from which a decoder's inputs are made stay.
nn::Batch Trainer::without_labels(const nn::Batch& batch) const {
  if (model_->config() != nullptr && model_->config()->decoder_start() && !batch.contains("decoder_input_ids")) return batch;
  nn::Batch out = batch;
  for (const std::string& label : model_->signature().label_names()) std::erase_if(out.entries, [&](const auto& entry) { return entry.first == label; });
  return out;
}

LossOutput Trainer::compute_loss(nn::Model& model, const nn::Batch& batch) {
  const nn::Signature signature = model.signature();
  const std::vector<std::string> keys = signature.label_names();
  const Tensor labels = keys.empty() ? Tensor() : batch.find(keys[0]);
  const double smoothing = args_.label_smoothing_factor;
  if (!labels.defined() || (smoothing == 0 && !options_.compute_loss_func)) {
    nn::ModelOutput outputs = model(batch);
    Tensor loss = outputs.loss;
    return {std::move(loss), std::move(outputs)};
  }
  nn::ModelOutput outputs = model(without_labels(batch));
  if (!options_.compute_loss_func) {
    Tensor loss = nn::smoothed_loss(signature, outputs.logits, batch, smoothing);
    return {std::move(loss), std::move(outputs)};
  }
  const nn::TargetCounts counts = batch.num_items.empty() ? nn::count_targets(signature, batch) : batch.num_items;
  Tensor loss = options_.compute_loss_func(outputs, labels, counts);
  return {std::move(loss), std::move(outputs)};
}

double Trainer::training_step(nn::Model& model, const nn::Batch& batch) {
  model.train();
  LossOutput result;
  {
    const AutocastGuard precision(args_.autocast_dtype());
    with_default_control([&] { result = compute_loss(model, batch); });
  }
  ROTE_CHECK(result.loss.defined(), ArgumentError, "train: the model gave no loss; its batch needs ", model.signature().labels, ".");
  Tensor loss = std::move(result.loss);
  if (result.is_mean && micro_batches_ > 1) loss = loss / static_cast<double>(micro_batches_);
  result = {};
  backward(scaled(loss));
  return loss.item();
}

int64_t Trainer::get_num_trainable_parameters() const {
  int64_t n = 0;
  for (const Tensor& param : model_->parameters()) n += param.requires_grad() ? param.numel() : 0;
  return n;
}

std::vector<std::string> Trainer::get_decay_parameter_names() const {
  std::vector<std::string> names;
  const std::vector<optim::Group> groups = decay_groups(*model_, args_.learning_rate, args_.weight_decay);
  for (const auto& [name, param] : groups[0].params) names.push_back(name);
  return names;
}

std::vector<double> Trainer::get_learning_rates() const {
  ROTE_CHECK(optimizer_, StateError, "get_learning_rates: there is no optimizer yet; train(), or create_optimizer_and_scheduler(), makes it.");
  std::vector<double> rates;
  for (const optim::Group& group : optimizer_->groups()) rates.push_back(group.lr);
  return rates;
}

const optim::Group& Trainer::get_optimizer_group(const std::string& parameter) const {
  ROTE_CHECK(optimizer_, StateError, "get_optimizer_group: there is no optimizer yet; train(), or create_optimizer_and_scheduler(), makes it.");
  for (const optim::Group& group : optimizer_->groups())
    for (const optim::NamedParameter& one : group.params)
      if (one.first == parameter) return group;
  throw ArgumentError(str("get_optimizer_group: no group has a parameter ", parameter, "; it must be a trainable one of the model."));
}

void Trainer::create_optimizer() {
  std::vector<optim::Group> groups = decay_groups(*model_, args_.learning_rate, args_.weight_decay);
  optimizer_ = options_.make_optimizer ? options_.make_optimizer(std::move(groups)) : make_optimizer(args_, std::move(groups));
  ROTE_CHECK(optimizer_, ArgumentError, "Trainer: make_optimizer gave no optimizer; it must return one of the groups it is given.");
}

void Trainer::create_optimizer_and_scheduler(int64_t total_steps) {
  create_optimizer();
  create_scheduler(total_steps);
}

void Trainer::create_scheduler(int64_t total_steps) {
  if (options_.lr_scheduler) return;
  optim::Options options = args_.schedule_options();
  if (optim::follows_metric(args_.lr_scheduler_type)) {
    // The reference leaves the direction at "min" even for an accuracy, whose rate it then cuts while it rises.
    if (!options.count("mode")) options["mode"] = args_.greater_is_better.value_or(false) ? "max" : "min";
    std::vector<double> rates;
    for (const optim::Group& group : optimizer_->groups()) rates.push_back(group.lr);
    metric_schedule_ = optim::make_metric_schedule(args_.lr_scheduler_type, rates, options);
    return;
  }
  schedule_ = optim::make_schedule(args_.lr_scheduler_type,
                                   {.warmup_steps = args_.get_warmup_steps(total_steps), .total_steps = total_steps, .lr = args_.learning_rate}, options);
}

std::vector<data::Example> Trainer::fetch(const data::Dataset& dataset, const std::vector<int64_t>& rows) const {
  std::vector<data::Example> examples;
  for (const int64_t row : rows) examples.push_back(dataset.at(row));
  return used_columns(std::move(examples));
}

std::vector<data::Example> Trainer::used_columns(std::vector<data::Example> examples) const {
  if (!args_.remove_unused_columns) return examples;
  std::vector<std::string> kept = model_->signature().input_names();
  kept.insert(kept.end(), {"label", "label_ids"});
  kept.insert(kept.end(), options_.collator_columns.begin(), options_.collator_columns.end());
  for (const std::string& name : args_.label_names.value_or(std::vector<std::string>{})) kept.push_back(name);
  for (data::Example& example : examples) {
    std::erase_if(example, [&](const auto& feature) { return std::find(kept.begin(), kept.end(), feature.first) == kept.end(); });
    ROTE_CHECK(!example.empty(), ArgumentError, "remove_unused_columns: the model takes none of the dataset's columns; it takes ", model_->signature().inputs, ".");
  }
  return examples;
}

nn::Batch Trainer::train_batch(const std::vector<int64_t>& rows) const { return Trainer::eval_batch(*options_.train_dataset.rows, rows); }

nn::Batch Trainer::eval_batch(const data::Dataset& dataset, const std::vector<int64_t>& rows) const {
  nn::Batch batch;
  with_default_control([&] { batch = options_.data_collator(fetch(dataset, rows)); });
  return batch;
}

data::LoaderOptions Trainer::loader_options() const {
  return {.num_workers = args_.dataloader_num_workers, .prefetch_factor = args_.dataloader_prefetch_factor.value_or(data::LoaderOptions().prefetch_factor)};
}

nn::Batch Trainer::stream_batch(std::vector<data::Example> rows) const { return options_.data_collator(used_columns(std::move(rows))); }

void Trainer::save_state() const { state_.save_to_json((fs::path(args_.output_dir) / "trainer_state.json").string()); }

void Trainer::log_metrics(const std::string& split, const Metrics& metrics) const {
  if (is_world_process_zero()) std::fputs(metrics_text(split, metrics).c_str(), stdout);
}

void Trainer::save_metrics(const std::string& split, const Metrics& metrics) const {
  if (is_world_process_zero()) rote::save_metrics(args_.output_dir, split, metrics);
}

void Trainer::log(Logs logs, const std::optional<Speed>& speed) {
  logs.set("epoch", state_.epoch);
  if (args_.include_num_input_tokens_seen != TokenCount::no) {
    logs.set("num_input_tokens_seen", state_.num_input_tokens_seen);
    if (speed)
      for (const auto& [name, value] : speed_metrics("train", *speed)) logs.set(name, value);
  }
  if (options_.rote.log_memory)
    for (const auto& [name, value] : memory_in_gb(options_.rote.memory_limit << 20)) logs.set(name, value);
  Logs entry = logs;
  entry.set("step", state_.global_step);
  state_.log_history.push_back(std::move(entry));
  CallbackContext c = context();
  c.logs = &logs;
  handler_.fire(Event::log, c, control_);
}

}  // namespace rote
