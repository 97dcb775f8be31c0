// trainer/loop.cpp — train(): epochs, windows, micro-steps, in the order of the reference (trainer.md 2). Evaluation: evaluate.cpp.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include "autograd/backward.h"
#include "autograd/mode.h"
#include "autograd/ops.h"
#include "autograd/status.h"
#include "kernels/pool.h"
#include "nn/audit.h"
#include "nn/config.h"
#include "nn/state.h"
#include "optim/clip.h"
#include "tensor/file.h"
#include "trainer/data/sampler.h"
#include "trainer/folder_write.h"
#include "trainer/json_text.h"
#include "trainer/text_forms.h"
#include "trainer/trainer.h"

namespace rote {

namespace fs = std::filesystem;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Elements of embedding tables do no multiplications.
int64_t non_embedding_parameters(nn::Model& model) {
  std::set<const TensorImpl*> tables;  // a table may be shared by several layers
  for (const nn::NamedModule& named : model.named_modules())
    if (named.module->class_name() == "Embedding")
      for (const Tensor& x : named.module->parameters()) tables.insert(x.impl().get());
  int64_t n = 0;
  for (const Tensor& x : model.parameters())
    if (tables.count(x.impl().get()) == 0) n += x.numel();
  return n;
}

constexpr const char kArgumentsFile[] = "training_args.json";

// Every parameter from a folder that this Trainer, or another of the same model, has written.
void load_weights(nn::Model& model, const SafetensorsFolder& weights, const std::string& folder) {
  const nn::LoadReport report = nn::load_state(model, weights);
  ROTE_CHECK(report.missing.empty() && report.unexpected.empty(), StateError, folder, ": the weights do not fit the model; ", report.text(), ".");
}

}  // namespace

struct Trainer::Window {
  std::vector<nn::Batch> batches;
  std::vector<std::vector<int64_t>> rows;  // of the dataset, of each batch
  nn::TargetCounts targets;                // N: scored targets of all batches, by label key
  bool has_labels = false;

  // Labels, but none that is scored: there is nothing to learn from.
  bool is_empty() const { return has_labels && nn::total(targets) == 0; }
};

struct Trainer::Run {
  int64_t batch = 1, accumulation = 1;  // rows of a micro-batch, micro-batches of an update
  int64_t batches = 0;                  // micro-batches of an epoch
  int64_t rows_per_epoch = 0;
  int64_t updates_per_epoch = 0, total_updates = 0, epochs = 0;
  double samples = 0;                   // rows that the whole run visits
  std::vector<int64_t> lengths;         // for group_by_length

  std::vector<Tensor> leaves;           // trainable parameters in registration order
  int64_t flops_per_element = 0;
  int64_t consumed = 0;                 // rows so far, also those of earlier processes
  int64_t skip_batches = 0;             // of the first epoch after a resume
  int64_t first_epoch = 0;
  int64_t first_step = 0;               // global_step at which this process began
  int64_t first_tokens = 0;             // num_input_tokens_seen then
  int64_t epoch = 0;                    // under way
  int64_t micro = 0;                    // micro-batches of this epoch so far
  double begun = 0;

  double running_loss = 0, total_loss = 0;
  int64_t last_logged = 0;
  double grad_norm = std::numeric_limits<double>::quiet_NaN(), learning_rate = 0;
  bool updated = false;                 // in this epoch body
};

Trainer::Run Trainer::plan_run() const {
  const data::Dataset& dataset = *options_.train_dataset;
  Run run;
  run.batch = args_.per_device_train_batch_size;
  run.accumulation = args_.gradient_accumulation_steps;
  run.batches = args_.dataloader_drop_last ? dataset.size() / run.batch : ceil_div(dataset.size(), run.batch);
  ROTE_CHECK(run.batches > 0, ArgumentError, "train: ", dataset.size(), " rows make no batch of ", run.batch,
             " with --dataloader_drop_last; give a smaller --per_device_train_batch_size.");
  run.rows_per_epoch = std::min(run.batches * run.batch, dataset.size());
  run.updates_per_epoch = ceil_div(run.batches, run.accumulation);
  if (args_.max_steps > 0) {
    run.total_updates = args_.max_steps;
    run.epochs = ceil_div(args_.max_steps, run.updates_per_epoch);
    run.samples = static_cast<double>(args_.max_steps * run.batch * run.accumulation);
  } else {
    const double epochs = args_.num_train_epochs;
    run.total_updates = static_cast<int64_t>(std::ceil(epochs * static_cast<double>(run.updates_per_epoch)));
    run.epochs = static_cast<int64_t>(std::ceil(epochs));
    run.samples = static_cast<double>(dataset.size()) * epochs;
  }
  if (args_.train_sampling_strategy == data::SamplingStrategy::group_by_length)
    run.lengths = data::lengths_of(dataset, args_.length_column_name, model_.signature().main);
  return run;
}

TrainOutput Trainer::train(const TrainCall& call) {
  TrainOutput output;
  with_default_control([&] { output = run_training(call); });
  return output;
}

TrainOutput Trainer::run_training(const TrainCall& call) {
  ROTE_CHECK(options_.train_dataset != nullptr, ArgumentError, "train: no train_dataset; give one in the TrainerOptions.");
  ROTE_CHECK(options_.train_dataset->size() > 0, ArgumentError, "train: the train_dataset has no rows; it needs at least one.");
  set_num_threads(static_cast<int>(options_.rote.num_threads));
  Run run = plan_run();
  state_ = TrainerState{};
  state_.max_steps = run.total_updates;
  state_.num_train_epochs = run.epochs;
  state_.train_batch_size = run.batch;
  state_.compute_steps(args_, run.total_updates);
  applied_steps_ = 0;
  if (!optimizer_) create_optimizer();
  create_scheduler(run.total_updates);
  written_checkpoints_.clear();
  if (!call.resume_from_checkpoint.empty()) resume(checkpoint_to_resume(call.resume_from_checkpoint, args_.output_dir).string(), run);
  for (const auto& [name, param] : model_.named_parameters())
    if (param.requires_grad()) run.leaves.push_back(param);
  run.flops_per_element = 6 * non_embedding_parameters(model_);
  run.first_step = run.last_logged = state_.global_step;
  run.first_tokens = state_.num_input_tokens_seen;
  run.begun = now();
  const int64_t leaves = (run.batch + options_.rote.sample_leaf - 1) / options_.rote.sample_leaf;
  if (run.accumulation > 1 && (run.batch % options_.rote.sample_leaf != 0 || !std::has_single_bit(static_cast<uint64_t>(leaves))))
    std::fprintf(stderr, "micro-batches of %lld rows are no power of two of sample leaves: the bits of this run are those of this split alone\n",
                 static_cast<long long>(run.batch));
  optimizer_->zero_grad();
  control_ = TrainerControl{};
  fire(Event::train_begin);
  if (args_.eval_on_start && options_.eval_dataset != nullptr) evaluate();
  for (int64_t epoch = run.first_epoch; epoch < run.epochs && state_.global_step < run.total_updates; ++epoch)
    if (!run_epoch(run, epoch)) break;

  run.total_loss += run.running_loss;
  Metrics metrics = train_metrics(run);
  log(metrics);
  metrics.set("epoch", state_.epoch);
  if (args_.load_best_model_at_end && state_.best_model_checkpoint) {
    std::fprintf(stderr, "loading the best model, %s\n", state_.best_model_checkpoint->c_str());
    load_weights(model_, SafetensorsFolder::open(*state_.best_model_checkpoint), *state_.best_model_checkpoint);
  }
  if (const std::optional<std::string> best = best_of_output_dir(); args_.save_total_limit == 1 && best) keep_one_checkpoint(args_.output_dir, *best);
  fire(Event::train_end);
  double train_loss = 0;
  metrics.find("train_loss")->number(train_loss);
  return {state_.global_step, train_loss, metrics};
}

// Losses and rates are of this call's updates only, as are the tokens.
Metrics Trainer::train_metrics(const Run& run) const {
  const double updates = static_cast<double>(state_.global_step - run.first_step);
  const double done = updates / static_cast<double>(std::max<int64_t>(run.total_updates, 1));
  Speed speed{.seconds = now() - run.begun, .samples = run.samples * done, .steps = updates};
  if (args_.include_num_input_tokens_seen != TokenCount::no) speed.tokens = static_cast<double>(state_.num_input_tokens_seen - run.first_tokens);
  Metrics metrics = speed_metrics("train", speed);
  metrics.set("total_flos", state_.total_flos);
  metrics.set("train_loss", run.total_loss / std::max(updates, 0.001));
  return metrics;
}

// What a micro-batch draws, in its collator or in the model, is a function of its samples' places in the run.
RunScope Trainer::scope_of(int64_t first_sample, int64_t samples) const {
  return {.seed = static_cast<uint64_t>(args_.seed), .first_sample = static_cast<uint64_t>(first_sample), .samples = samples, .sample_leaf = options_.rote.sample_leaf};
}

// The micro-batches of the next update, all of them up front: each is divided by the targets of all.
Trainer::Window Trainer::next_window(const Run& run, const std::vector<int64_t>& order) const {
  const data::Dataset& dataset = *options_.train_dataset;
  const nn::Signature signature = model_.signature();
  const std::vector<std::string> labels = signature.label_names();
  Window window;
  window.targets.resize(labels.size());
  const int64_t count = std::min(run.accumulation, run.batches - run.micro);
  int64_t first_sample = run.consumed;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = (run.micro + i) * run.batch, last = std::min(first + run.batch, dataset.size());
    window.rows.emplace_back(order.begin() + first, order.begin() + last);
    const RunScopeGuard scope(scope_of(first_sample, last - first));
    first_sample += last - first;
    window.batches.push_back(collate(dataset, window.rows.back()));
    const nn::TargetCounts targets = nn::count_targets(signature, window.batches.back());
    for (size_t key = 0; key < labels.size(); ++key) {
      window.targets[key] += targets[key];
      if (signature.scored != nn::Scored::none && window.batches.back().contains(labels[key])) window.has_labels = true;
    }
  }
  return window;
}

bool Trainer::run_epoch(Run& run, int64_t epoch) {
  fire(Event::epoch_begin);
  const std::vector<int64_t> order = data::epoch_order({.strategy = args_.train_sampling_strategy,
                                                        .rows = options_.train_dataset->size(),
                                                        .base_seed = args_.sampler_seed(),
                                                        .epoch = epoch,
                                                        .lengths = &run.lengths,
                                                        .block = run.batch * run.accumulation});
  run.updated = false;
  run.epoch = epoch;
  for (run.micro = std::exchange(run.skip_batches, 0); run.micro < run.batches;) {
    const Window window = next_window(run, order);
    fire(Event::step_begin);
    if (!run_window(run, window)) break;
    state_.epoch = static_cast<double>(epoch) + static_cast<double>(run.micro) / static_cast<double>(run.batches);
    fire(Event::step_end);
    log_evaluate_save(run);
    if (is_stopped()) break;
  }
  fire(Event::epoch_end);
  log_evaluate_save(run);
  return !control_.should_training_stop;
}

// False where a callback stops the epoch in the middle of the window: its gradients and losses are dropped.
bool Trainer::run_window(Run& run, const Window& window) {
  started_ = true;
  clear_status();
  double loss = 0;
  for (size_t i = 0; i < window.batches.size(); ++i) {
    nn::Batch batch = window.batches[i];
    batch.num_items = window.targets;
    const RunScopeGuard scope(scope_of(run.consumed, static_cast<int64_t>(window.rows[i].size())));
    if (!window.is_empty()) loss += audited_ ? training_step(model_, batch) : audited_step(batch);
    const int64_t elements = batch.at(model_.signature().main).numel();
    state_.total_flos = static_cast<double>(state_.total_flos) + static_cast<double>(run.flops_per_element) * static_cast<double>(elements);
    if (args_.include_num_input_tokens_seen != TokenCount::no) {
      const Tensor mask = batch.find("attention_mask");
      const bool counts_padding = args_.include_num_input_tokens_seen == TokenCount::all || !mask.defined();
      state_.num_input_tokens_seen += counts_padding ? elements : count_targets(mask, 0);
    }
    run.consumed += static_cast<int64_t>(window.rows[i].size());
    ++run.micro;
    if (i + 1 == window.batches.size()) break;
    fire(Event::substep_end);
    if (is_stopped()) {
      optimizer_->zero_grad();
      return false;
    }
  }
  update(run, window, loss);
  return true;
}

// The first forward and backward, watched: what will not train, or not as meant, is said before the first update.
double Trainer::audited_step(const nn::Batch& batch) {
  audited_ = true;
  nn::Auditor auditor(model_);
  const double loss = training_step(model_, batch);
  for (const std::string& line : auditor.finish(has_gradient).lines()) std::fprintf(stderr, "%s\n", line.c_str());
  return loss;
}

void Trainer::update(Run& run, const Window& window, double loss) {
  if (window.is_empty()) {
    // Weights, moments and schedule stay, the cursor moves.
    std::string rows;
    for (const auto& batch : window.rows)
      for (const int64_t row : batch) rows += str(rows.empty() ? "" : ", ", row);
    std::fprintf(stderr, "step %lld: skipped, no label of the rows %s is scored\n", static_cast<long long>(state_.global_step + 1), rows.c_str());
    ++state_.global_step;
    return;
  }
  fold_gradients(run.leaves);
  run.grad_norm = optim::global_norm(run.leaves);
  if (!std::isfinite(loss) || !std::isfinite(run.grad_norm)) stop_non_finite(loss, run.grad_norm);
  run.running_loss += loss;
  fire(Event::pre_optimizer_step);
  if (schedule_) optimizer_->set_rates(*schedule_, applied_steps_);
  run.learning_rate = optimizer_->groups()[0].lr;
  optimizer_->step({.max_norm = args_.max_grad_norm, .norm = run.grad_norm});
  ++applied_steps_;
  run.updated = true;
  fire(Event::optimizer_step);
  optimizer_->zero_grad();
  ++state_.global_step;
}

void Trainer::stop_non_finite(double loss, double norm) const {
  const std::optional<StatusRecord> first = first_non_finite();
  const std::string what = first ? describe(*first) : std::isfinite(loss) ? str("the gradient norm is ", norm) : str("the loss is ", loss);
  throw NonFiniteError(str("non-finite: step ", state_.global_step + 1, ", ", what,
                           "; the step was not applied. A lower --learning_rate, or a look at the rows of this step, helps."));
}

void Trainer::log_evaluate_save(Run& run) {
  if (control_.should_log && state_.global_step > run.last_logged) {
    Logs logs;
    logs.set("loss", run.running_loss / static_cast<double>(state_.global_step - run.last_logged));
    if (run.updated) logs.set("grad_norm", run.grad_norm);
    logs.set("learning_rate", run.learning_rate);
    run.total_loss += run.running_loss;
    run.running_loss = 0;
    run.last_logged = state_.global_step;
    log(std::move(logs), Speed{.seconds = now() - run.begun, .tokens = static_cast<double>(state_.num_input_tokens_seen - run.first_tokens)});
  }
  if (control_.should_evaluate) {
    const Metrics metrics = evaluate();
    track_best(metrics);
  }
  if (control_.should_save) {
    save_checkpoint(run);
    fire(Event::save);
  }
}

double Trainer::best_metric_of(const Metrics& metrics) const {
  const std::string key = args_.best_metric_key();
  double value = 0;
  const Value* found = metrics.find(key);
  if (found == nullptr || !found->number(value)) {
    std::string names;
    for (const auto& [name, metric] : metrics) names += (names.empty() ? "" : ", ") + name;
    throw ArgumentError(str("metric_for_best_model: the evaluation gives no ", key, "; it gives ", names, "."));
  }
  return value;
}

void Trainer::track_best(const Metrics& metrics) {
  if (!args_.metric_for_best_model) return;
  const double value = best_metric_of(metrics);
  if (metric_schedule_) {
    std::vector<double> rates;
    for (const optim::Group& group : optimizer_->groups()) rates.push_back(group.lr);
    metric_schedule_->step(value, rates);
    for (size_t g = 0; g < rates.size(); ++g) optimizer_->groups()[g].lr = rates[g];
  }
  const bool greater = args_.greater_is_better.value_or(false);
  const double best = state_.best_metric ? static_cast<double>(*state_.best_metric) : greater ? -INFINITY : INFINITY;
  const bool improved = greater ? value > best : value < best;
  if (improved) {
    state_.best_metric = value;
    if (args_.save_strategy != SaveStrategy::no) state_.best_global_step = state_.global_step;
  }
  if (args_.save_strategy == SaveStrategy::best) control_.should_save = improved;
  else if (improved && args_.load_best_model_at_end) control_.should_save = true;  // a best without a folder could not be loaded
}

void Trainer::save_checkpoint(Run& run) {
  const std::string name = str("checkpoint-", state_.global_step);
  const fs::path place = fs::path(args_.output_dir) / name;
  FolderWrite write(place);
  write_model(write.folder().string());
  if (state_.best_global_step) {
    const std::string best = str("checkpoint-", *state_.best_global_step);
    const bool is_there = best == name || std::find(written_checkpoints_.begin(), written_checkpoints_.end(), best) != written_checkpoints_.end();
    if (is_there) state_.best_model_checkpoint = (fs::path(args_.output_dir) / best).string();
  }
  // After an epoch that a callback cuts short the next one follows, though rows of it are left.
  const bool is_cut = control_.should_epoch_stop && !control_.should_training_stop;
  const int64_t epoch = is_cut ? run.epoch + 1 : run.epoch, epoch_consumed = is_cut ? 0 : std::min(run.micro * run.batch, run.rows_per_epoch);
  if (!args_.save_only_model)
    save_training_state(write.folder(), *optimizer_, {applied_steps_, metric_schedule_ ? metric_schedule_->state() : std::map<std::string, double>()},
                        {.seed = args_.seed, .data_seed = args_.sampler_seed(), .global_step = state_.global_step, .consumed_samples = run.consumed, .epoch_samples = run.rows_per_epoch,
                         .update_samples = run.batch * run.accumulation, .epoch = epoch, .epoch_consumed = epoch_consumed, .sample_leaf = options_.rote.sample_leaf});
  write_file((write.folder() / kArgumentsFile).string(), training_args_file(args_, options_.rote));
  state_.stateful_callbacks = handler_.exported(control_);
  state_.save_to_json((write.folder() / "trainer_state.json").string());
  write.commit();
  std::erase(written_checkpoints_, name);
  written_checkpoints_.push_back(name);
  rotate_checkpoints(args_.output_dir, {.limit = args_.save_total_limit.value_or(0), .written = written_checkpoints_, .best = best_of_output_dir()});
}

// The name of the best checkpoint, unless it lies in the folder of an earlier run.
std::optional<std::string> Trainer::best_of_output_dir() const {
  if (!state_.best_model_checkpoint) return {};
  const fs::path best = *state_.best_model_checkpoint;
  std::error_code elsewhere;
  return fs::equivalent(best.parent_path(), args_.output_dir, elsewhere) ? std::optional(best.filename().string()) : std::nullopt;
}

// The files that a resume does not need but that a whole checkpoint has: a torn one would be carried on.
void Trainer::check_saved_files(const std::string& folder) const {
  const fs::path root = folder;
  const std::string arguments = (root / kArgumentsFile).string();
  const ValueMap before = to_map(parse_training_args_file(read_file(arguments), arguments).first), now = to_map(args_);
  for (const char* name : {"learning_rate", "lr_scheduler_type", "warmup_steps", "weight_decay", "adam_beta1", "adam_beta2", "adam_epsilon", "max_grad_norm",
                           "num_train_epochs", "max_steps", "train_sampling_strategy"})
    if (!(*before.find(name) == *now.find(name)))
      std::fprintf(stderr, "resume_from_checkpoint: %s was %s, from here on it is %s\n", name, json_text(*before.find(name)).c_str(), json_text(*now.find(name)).c_str());
  if (model_.config() != nullptr) {
    const std::string config = (root / "config.json").string();
    const Value saved = parse_json(read_file(config), config), own = parse_json(nn::config_text(*model_.config()), "the model's config");
    const Value *labels = saved.as_map() ? saved.as_map()->find("id2label") : nullptr, *own_labels = own.as_map() ? own.as_map()->find("id2label") : nullptr;
    ROTE_CHECK(labels == nullptr || own_labels == nullptr || *labels == *own_labels, StateError, "resume_from_checkpoint: ", config,
               " has other labels (id2label) than the rows of this run; give the rows that it was trained on.");
  }
  if (!options_.processing_class) return;
  for (const auto& [name, bytes] : options_.processing_class->files)
    ROTE_CHECK(read_file((root / name).string()) == bytes, StateError, "resume_from_checkpoint: ", (root / name).string(),
               " is not that of this run; train with the one of the checkpoint.");
}

// Whether the same rows come next, with the same randomness.
void Trainer::check_position(const std::string& folder, const RandomState& saved, const Run& run) const {
  ROTE_CHECK(saved.seed == args_.seed && saved.data_seed == args_.sampler_seed(), StateError, "resume_from_checkpoint: ", folder, " was written with --seed ",
             saved.seed, " and data seed ", saved.data_seed, ", this run has ", args_.seed, " and ", args_.sampler_seed(), "; give the same seeds.");
  ROTE_CHECK(saved.sample_leaf == options_.rote.sample_leaf, StateError, "resume_from_checkpoint: ", folder, " was written with --sample_leaf ",
             saved.sample_leaf, ", this run has ", options_.rote.sample_leaf, "; its bits would differ from here on.");
  ROTE_CHECK(args_.ignore_data_skip || saved.epoch_samples == run.rows_per_epoch, StateError, "resume_from_checkpoint: ", folder,
             " was written with epochs of ", saved.epoch_samples, " rows, this run has ", run.rows_per_epoch, "; give the same rows, or --ignore_data_skip.");
  ROTE_CHECK(args_.ignore_data_skip || saved.update_samples == run.batch * run.accumulation, StateError, "resume_from_checkpoint: ", folder,
             " was written with updates of ", saved.update_samples, " rows, those of this run have ", run.batch * run.accumulation,
             "; give the same batch size times accumulation, or --ignore_data_skip.");
  ROTE_CHECK(args_.ignore_data_skip || saved.epoch_consumed % saved.update_samples == 0 || saved.epoch_consumed == run.rows_per_epoch, StateError,
             "resume_from_checkpoint: ", folder, " stands at row ", saved.epoch_consumed, " of its epoch, inside an update of ", saved.update_samples,
             " rows; the checkpoint is torn, resume from an older one.");
}

// The arguments of this run hold, whatever the checkpoint's were.
void Trainer::warn_of_changes(const TrainerState& saved) const {
  const std::pair<const char*, std::pair<double, double>> values[] = {
      {"logging_steps", {saved.logging_steps, state_.logging_steps}},
      {"eval_steps", {saved.eval_steps, state_.eval_steps}},
      {"save_steps", {saved.save_steps, state_.save_steps}},
      {"per_device_train_batch_size", {saved.train_batch_size.value_or(args_.per_device_train_batch_size), args_.per_device_train_batch_size}},
  };
  for (const auto& [name, pair] : values)
    if (pair.first != pair.second) std::fprintf(stderr, "resume_from_checkpoint: %s was %g, from here on it is %g\n", name, pair.first, pair.second);
}

void Trainer::resume(const std::string& folder, Run& run) {
  // All of the folder is read and checked before anything of this Trainer changes.
  const LoadedState loaded = load_state_from_json((fs::path(folder) / "trainer_state.json").string());
  const TrainerState& saved = loaded.state;
  for (const std::string& key : loaded.unknown_keys)
    std::fprintf(stderr, "resume_from_checkpoint: %s/trainer_state.json has %s, which is not known here and left out\n", folder.c_str(), key.c_str());
  const SafetensorsFolder weights = SafetensorsFolder::open(folder);
  const std::optional<TrainingState> training = read_training_state(folder, *optimizer_);
  const std::string state_file = (fs::path(folder) / "trainer_state.json").string();
  ROTE_CHECK(saved.global_step >= 0 && saved.global_step < int64_t{1} << 48, StateError, state_file, ": global_step is ", saved.global_step,
             "; it must not be negative, the checkpoint is torn, resume from an older one.");
  ROTE_CHECK(!training || training->random.global_step == saved.global_step, StateError, state_file, ": global_step is ", saved.global_step, ", in rng_state.json ",
             training ? training->random.global_step : 0, "; the files are of different checkpoints, resume from another one.");
  run.first_epoch = saved.global_step / run.updates_per_epoch;
  const int64_t windows = saved.global_step % run.updates_per_epoch;
  run.skip_batches = args_.ignore_data_skip ? 0 : windows * run.accumulation;
  run.consumed = run.first_epoch * run.rows_per_epoch + run.skip_batches * run.batch;
  if (training) {
    check_saved_files(folder);
    check_position(folder, training->random, run);
  }

  load_weights(model_, weights, folder);
  if (training) {
    const RandomState& random = training->random;
    const bool epoch_is_over = random.epoch_consumed >= run.rows_per_epoch;
    optimizer_->load_state(training->moments, training->steps);
    run.consumed = random.consumed_samples;
    run.first_epoch = random.epoch + (epoch_is_over ? 1 : 0);
    run.skip_batches = args_.ignore_data_skip || epoch_is_over ? 0 : random.epoch_consumed / run.batch;
  } else {
    std::fprintf(stderr, "%s holds a model only: moments start anew, the schedule goes on at step %lld\n", folder.c_str(), static_cast<long long>(saved.global_step));
  }
  applied_steps_ = training ? training->schedule.applied_steps : saved.global_step;
  if (training && metric_schedule_ && !training->rates.empty()) {
    metric_schedule_->load(training->schedule.counters);
    for (size_t g = 0; g < training->rates.size(); ++g) optimizer_->groups()[g].lr = training->rates[g];
  }
  const TrainerState planned = std::exchange(state_, saved);
  state_.max_steps = planned.max_steps;
  state_.num_train_epochs = planned.num_train_epochs;
  state_.train_batch_size = planned.train_batch_size;
  state_.compute_steps(args_, run.total_updates);
  if (state_.best_model_checkpoint && !fs::exists(*state_.best_model_checkpoint)) state_.best_model_checkpoint.reset();
  warn_of_changes(saved);
  for (const std::string& name : handler_.restore(saved.stateful_callbacks, control_))
    std::fprintf(stderr, "resume_from_checkpoint: the state of %s is left out, no such callback is here\n", name.c_str());
  std::error_code elsewhere;
  if (!fs::equivalent(fs::path(folder).lexically_normal() / "..", args_.output_dir, elsewhere)) return;
  for (const fs::path& older : checkpoints_in(args_.output_dir))  // the earlier part of this run, for the rotation
    if (checkpoint_step(older) <= saved.global_step) written_checkpoints_.push_back(older.filename().string());
}

}  // namespace rote
