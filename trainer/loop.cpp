// trainer/loop.cpp — train(): epochs, windows, micro-steps, in the order of the reference (trainer.md 2). Evaluation: evaluate.cpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <set>

#include "autograd/backward.h"
#include "autograd/ops/loss.h"
#include "autograd/status.h"
#include "kernels/blas.h"
#include "kernels/pool.h"
#include "nn/audit.h"
#include "nn/recompute.h"
#include "optim/clip.h"
#include "tensor/generator.h"
#include "trainer/callbacks.h"
#include "trainer/jit_checkpoint.h"
#include "trainer/run.h"

namespace rote {

namespace {

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

// arithmetic.md 9: an exponent from 0 to 24.
optim::GradScalerOptions scaler_options(const RoteArguments& rote) {
  return {.init_scale = std::ldexp(1.0, static_cast<int>(rote.initial_scale_power)),
          .growth_interval = rote.loss_scale_window,
          .min_scale = 1,
          .max_scale = 0x1p24,
          .hysteresis = rote.hysteresis};
}

}  // namespace

Trainer::Run Trainer::plan_run() {
  Run run;
  run.batch = args_.per_device_train_batch_size;
  run.accumulation = args_.gradient_accumulation_steps;
  if (options_.train_dataset.stream != nullptr) {
    run.total_updates = run.updates_per_epoch = args_.max_steps;
    run.batches = args_.max_steps * run.accumulation;
    run.epochs = std::numeric_limits<int64_t>::max();
    run.samples = static_cast<double>(run.batches * run.batch);
    return run;
  }
  const data::Dataset& dataset = *options_.train_dataset.rows;
  const int64_t rows = dataset.size();
  if (data::is_rebalanced(args_.train_sampling_strategy)) {
    const data::Rebalance rebalance = rebalance_of(run);
    run.batches = rebalance.updates(rows) * run.accumulation;
    run.rows_per_epoch = rebalance.epoch_rows(rows);
  } else {
    run.batches = args_.dataloader_drop_last ? rows / run.batch : ceil_div(rows, run.batch);
    run.rows_per_epoch = std::min(run.batches * run.batch, rows);
  }
  ROTE_CHECK(run.batches > 0, ArgumentError, "train: ", rows, " rows make no batch of ", run.batch,
             " with --dataloader_drop_last; give a smaller --per_device_train_batch_size.");
  run.updates_per_epoch = ceil_div(run.batches, run.accumulation);
  if (args_.max_steps > 0) {
    run.total_updates = args_.max_steps;
    run.epochs = ceil_div(args_.max_steps, run.updates_per_epoch);
    run.samples = static_cast<double>(args_.max_steps * run.batch * run.accumulation);
  } else {
    const double epochs = args_.num_train_epochs;
    run.total_updates = static_cast<int64_t>(std::ceil(epochs * static_cast<double>(run.updates_per_epoch)));
    run.epochs = static_cast<int64_t>(std::ceil(epochs));
    run.samples = static_cast<double>(rows) * epochs;
  }
  if (data::is_by_length(args_.train_sampling_strategy)) lengths_ = data::lengths_of(dataset, args_.length_column_name, model_->signature().main);
  return run;
}

// Micro-batches of that many rows, as many more of them an update: the rows of an update stay. REQUIRES: it divides run.batch.
void Trainer::split_batches(Run& run, int64_t rows) const {
  const int64_t parts = run.batch / rows;
  run.batch = rows;
  run.accumulation *= parts;
  run.batches = run.rows_per_epoch ? ceil_div(*run.rows_per_epoch, run.batch) : run.batches * parts;
}

// What is about to run, for --log_level info and those that say more. A stream goes on for as many epochs as it takes.
void Trainer::tell_plan(const Run& run) const {
  if (args_.log_level > LogLevel::info) return;
  const data::Dataset* rows = options_.train_dataset.rows;
  std::vector<std::pair<const char*, int64_t>> lines = {{"Num examples", rows != nullptr ? rows->size() : static_cast<int64_t>(run.samples)}};
  if (rows != nullptr) lines.insert(lines.end(), {{"Num Epochs", run.epochs}, {"Num update steps per epoch", run.updates_per_epoch}});
  lines.insert(lines.end(), {{"Instantaneous batch size per device", run.batch},
                             {"Total train batch size (w. parallel, distributed & accumulation)", run.batch * run.accumulation},
                             {"Gradient Accumulation steps", run.accumulation},
                             {"Total optimization steps", run.total_updates},
                             {"Number of trainable parameters", get_num_trainable_parameters()}});
  std::fprintf(stderr, "***** Running training *****\n");
  for (const auto& [name, value] : lines) std::fprintf(stderr, "  %s = %lld\n", name, static_cast<long long>(value));
}

TrainOutput Trainer::train(const TrainCall& call) {
  TrainOutput output;
  try {
    with_default_control([&] {
      const ArithmeticGuard arithmetic(options_.rote.arithmetic);
      output = run_training(call);
    });
  } catch (...) {
    is_training_ = false;
    throw;
  }
  return output;
}

TrainOutput Trainer::run_training(const TrainCall& call) {
  ROTE_CHECK(options_.train_dataset, ArgumentError, "train: no train_dataset; give one in the TrainerOptions.");
  ROTE_CHECK(options_.train_dataset.rows == nullptr || options_.train_dataset.rows->size() > 0, ArgumentError, "train: the train_dataset has no rows; it needs at least one.");
  use_machine();
  memory_.begin("train");
  if (model_init_) {
    manual_seed(static_cast<uint64_t>(args_.seed));
    optimizer_.reset();
    own_model_ = model_init_();
    model_ = own_model_.get();
  }
  Run run = plan_run();
  if (options_.rote.profiling_steps > 0)
    run.profile = std::make_unique<Profile>(
        args_.output_dir + "/profile/train.json",
        ProfileWindow{options_.rote.profiling_warmup_steps, options_.rote.profiling_steps, options_.rote.profiling_record_shapes});
  if (args_.debugs_overflow()) run.debug = std::make_unique<DebugUnderflowOverflow>(*model_);
  if (options_.rote.debug_backward) run.debug->watch_backward(!args_.fp16);
  if (args_.neftune_noise_alpha) run.neftune = std::make_unique<Neftune>(*model_, *args_.neftune_noise_alpha);
  state_ = TrainerState{};
  state_.max_steps = run.total_updates;
  state_.num_train_epochs = run.epochs;
  state_.train_batch_size = run.batch;
  state_.compute_steps(args_, run.total_updates);
  ignore_keys_for_eval_ = call.ignore_keys_for_eval;
  applied_steps_ = 0;
  nonfinite_ = {};
  if (!optimizer_) create_optimizer();
  scaler_.reset();
  if (args_.fp16) scaler_.emplace(scaler_options(options_.rote));
  create_scheduler(run.total_updates);
  written_checkpoints_.clear();
  if (!call.resume_from_checkpoint.empty()) resume_from(call.resume_from_checkpoint, run);
  if (options_.rote.trace_hashes != TraceLevel::no)
    run.tracer = std::make_unique<Tracer>(*model_, options_.rote.trace_hashes, args_.output_dir + "/" + kTraceFile, contract_of(options_.rote.arithmetic), state_.global_step,
                                          options_.trace_watch);
  if (options_.rote.log_numerics)
    run.numerics = std::make_unique<NumericsLog>(*model_, args_.output_dir + "/" + kNumericsFile, args_.autocast_dtype(), state_.global_step);
  for (const auto& [name, param] : model_->named_parameters())
    if (param.requires_grad()) run.leaves.push_back(param);
  run.flops_per_element = 6 * non_embedding_parameters(*model_);
  run.first_step = run.last_logged = state_.global_step;
  run.first_tokens = state_.num_input_tokens_seen;
  run.watch = Stopwatch();
  const int64_t leaves = (run.batch + options_.rote.sample_leaf - 1) / options_.rote.sample_leaf;
  if (run.accumulation > 1 && data::is_rebalanced(args_.train_sampling_strategy))
    std::fprintf(stderr, "batch_rebalance cuts an update into micro-batches of unlike size: the bits of this run are those of this split alone\n");
  else if (run.accumulation > 1 && std::any_of(run.leaves.begin(), run.leaves.end(), [](const Tensor& leaf) { return size_of(leaf.dtype()) == 2; }))
    std::fprintf(stderr, "gradients of 16-bit weights are rounded after each micro-batch: the bits of this run are those of this split alone\n");
  else if (run.accumulation > 1 && (run.batch % options_.rote.sample_leaf != 0 || !std::has_single_bit(static_cast<uint64_t>(leaves))))
    std::fprintf(stderr, "micro-batches of %lld rows are no power of two of sample leaves: the bits of this run are those of this split alone\n",
                 static_cast<long long>(run.batch));
  if (options_.rote.arithmetic == Arithmetic::fast)
    std::fprintf(stderr, "arithmetic: fast, matrix products by %s: the bits of this run are those of this library, machine and thread count alone\n", blas_name().c_str());
  if (!handler_.has<DefaultFlowCallback>())
    std::fprintf(stderr, "callbacks: there is no DefaultFlowCallback; nothing but the other callbacks asks for logs, evaluations and saves, or ends the run\n");
  tell_plan(run);
  optimizer_->zero_grad();
  control_ = TrainerControl{};
  is_training_ = true;
  fire(Event::train_begin);
  if (args_.eval_on_start && has_eval_dataset()) evaluate_within_training();
  for (int64_t epoch = run.first_epoch; epoch < run.epochs && state_.global_step < run.total_updates; ++epoch)
    if (!run_epoch(run, epoch)) break;
  is_training_ = false;
  const bool interrupted = args_.enable_jit_checkpoint && JitCheckpointCallback::was_asked() && state_.global_step < run.total_updates;

  if (run.profile) run.profile->finish();
  run.total_loss += run.running_loss;
  Metrics metrics = train_metrics(run);
  memory_.end("train", metrics);
  log(metrics);
  metrics.set("epoch", state_.epoch);
  // What is to be gone on with is neither the best model nor all that is left of the run.
  if (!interrupted) {
    if (args_.load_best_model_at_end && state_.best_model_checkpoint) load_best_model();
    if (const std::optional<std::string> best = best_of_output_dir(); args_.save_total_limit == 1 && best) keep_one_checkpoint(args_.output_dir, *best);
  }
  fire(Event::train_end);
  double train_loss = 0;
  metrics.find("train_loss")->number(train_loss);
  return {state_.global_step, train_loss, metrics, interrupted};
}

// Losses and rates are of this call's updates only, as are the tokens.
Metrics Trainer::train_metrics(const Run& run) const {
  const double updates = static_cast<double>(state_.global_step - run.first_step);
  const double done = updates / static_cast<double>(std::max<int64_t>(run.total_updates, 1));
  const int64_t warmup = run.watch.is_marked() ? options_.rote.throughput_warmup_steps : 0;
  Speed speed{.seconds = run.watch.seconds(),
              .samples = run.samples * done - static_cast<double>(warmup * run.batch * run.accumulation),
              .steps = updates - static_cast<double>(warmup),
              .left_out = run.watch.left_out()};
  if (options_.rote.include_tokens_per_second) speed.tokens = static_cast<double>(run.tokens);
  if (args_.include_num_input_tokens_seen != TokenCount::no) speed.tokens = static_cast<double>(state_.num_input_tokens_seen - run.first_tokens);
  Metrics metrics = speed_metrics("train", speed);
  metrics.set("total_flos", state_.total_flos);
  metrics.set("train_loss", run.total_loss / std::max(updates, 0.001));
  return metrics;
}

int64_t Trainer::floating_point_ops(const nn::Batch& batch) const { return 6 * non_embedding_parameters(*model_) * batch.at(model_->signature().main).numel(); }

// What a micro-batch draws, in its collator or in the model, is a function of its samples' places in the run.
RunScope Trainer::scope_of(int64_t first_sample, int64_t samples) const {
  return {.seed = static_cast<uint64_t>(args_.seed), .first_sample = static_cast<uint64_t>(first_sample), .samples = samples, .sample_leaf = options_.rote.sample_leaf};
}

data::Rebalance Trainer::rebalance_of(const Run& run) const {
  return {.batch = run.batch, .accumulation = run.accumulation, .drop_last = args_.dataloader_drop_last};
}

// The rows of each micro-batch of the epoch.
std::vector<std::vector<int64_t>> Trainer::epoch_batches(const Run& run) const {
  std::vector<int64_t> order = train_order(run.epoch);
  const bool is_rebalanced = data::is_rebalanced(args_.train_sampling_strategy);
  const int64_t wanted = is_rebalanced ? options_.train_dataset.rows->size() : *run.rows_per_epoch;
  ROTE_CHECK(static_cast<int64_t>(order.size()) >= wanted, ArgumentError, "train_order: gave ", order.size(), " rows for an epoch of ", wanted,
             "; it must name as many.");
  order.resize(static_cast<size_t>(wanted));
  if (is_rebalanced) return data::rebalanced_batches(order, lengths_, rebalance_of(run));
  std::vector<std::vector<int64_t>> batches;
  for (int64_t first = 0; first < wanted; first += run.batch) batches.emplace_back(order.begin() + first, order.begin() + std::min(first + run.batch, wanted));
  return batches;
}

// The loader of what is left of the epoch behind run.epoch_rows, which are read and dropped of a stream.
void Trainer::begin_epoch(Run& run) const {
  data::NextRows next_rows;
  run.loader.reset();
  run.stream_is_over = false;
  if (data::Stream* stream = options_.train_dataset.stream) {
    stream->restart(run.epoch);
    for (int64_t row = 0; row < run.epoch_rows; ++row)
      ROTE_CHECK(stream->next(), StateError, "train_dataset: pass ", run.epoch + 1, " of the stream ends after ", row, " rows, but the run stands behind row ",
                 run.epoch_rows, " of it; give the stream that it began with.");
    run.micro = ceil_div(run.epoch_rows, run.batch);
    next_rows = data::in_order(*stream, {.batch = run.batch, .first = run.epoch_rows, .drop_last = args_.dataloader_drop_last});
  } else {
    std::vector<std::vector<int64_t>> batches = epoch_batches(run);
    size_t done = 0;
    for (int64_t rows = 0; rows < run.epoch_rows && done < batches.size(); ++done) rows += static_cast<int64_t>(batches[done].size());
    batches.erase(batches.begin(), batches.begin() + static_cast<std::ptrdiff_t>(done));
    run.micro = static_cast<int64_t>(done);
    next_rows = data::in_order(std::move(batches));
  }
  const auto make = [this, begun = run.consumed](data::BatchRows& rows) {
    const RunScopeGuard scope(scope_of(begun + rows.first, static_cast<int64_t>(rows.rows.size())));
    return options_.train_dataset.stream != nullptr ? stream_batch(std::move(rows.examples)) : train_batch(rows.rows);
  };
  run.loader = std::make_unique<data::Loader>(std::move(next_rows), make, loader_options());
}

// The micro-batches of the next update, all of them up front: each is divided by the targets of all. REQUIRES: there is one.
Trainer::Window Trainer::next_window(const Run& run) const {
  const nn::Signature signature = model_->signature();
  const std::vector<std::string> labels = signature.label_names();
  Window window;
  window.targets.resize(labels.size());
  for (int64_t i = 0; i < run.accumulation && run.loader->has_next(); ++i) {
    const Profile::Part part(run.profile.get(), "batch");
    data::Loader::Loaded loaded = run.loader->next();
    const nn::TargetCounts targets = nn::count_targets(signature, loaded.batch);
    for (size_t key = 0; key < labels.size(); ++key) {
      window.targets[key] += targets[key];
      if (signature.scored != nn::Scored::none && loaded.batch.contains(labels[key])) window.has_labels = true;
    }
    window.batches.push_back(std::move(loaded.batch));
    window.rows.push_back(std::move(loaded.rows));
  }
  return window;
}

std::vector<int64_t> Trainer::train_order(int64_t epoch) const {
  return data::epoch_order({.strategy = args_.train_sampling_strategy,
                            .rows = options_.train_dataset.rows->size(),
                            .base_seed = args_.sampler_seed(),
                            .epoch = epoch,
                            .lengths = &lengths_,
                            .block = args_.per_device_train_batch_size * args_.gradient_accumulation_steps});
}

bool Trainer::run_epoch(Run& run, int64_t epoch) {
  fire(Event::epoch_begin);
  run.updated = false;
  run.epoch = epoch;
  run.epoch_rows = std::exchange(run.skip_rows, 0);
  begin_epoch(run);
  while (run.loader->has_next()) {
    if (options_.rote.throughput_warmup_steps > 0 && state_.global_step - run.first_step == options_.rote.throughput_warmup_steps) run.watch.mark();
    Window window;
    if (run.profile) run.profile->begin_step();
    const std::optional<double> loss = forward_and_backward(run, window);
    if (!loss) break;
    update(run, window, *loss);
    if (run.tracer) run.tracer->end_step();
    if (run.profile) run.profile->end_step();
    state_.epoch = static_cast<double>(epoch) + static_cast<double>(run.micro) / static_cast<double>(run.batches);
    fire(Event::step_end);
    log_evaluate_save(run);
    if (is_stopped()) break;
  }
  run.stream_is_over = options_.train_dataset.stream != nullptr && !is_stopped();
  if (run.stream_is_over) end_of_stream(run);
  run.loader.reset();
  fire(Event::epoch_end);
  log_evaluate_save(run);
  return !control_.should_training_stop;
}

// A stream that begins anew does so in the open; one without a row would for ever.
void Trainer::end_of_stream(const Run& run) {
  if (run.epoch_rows > 0) {
    std::fprintf(stderr, "train_dataset: the stream ends after %lld rows of pass %lld, at step %lld of %lld; pass %lld begins\n", static_cast<long long>(run.epoch_rows),
                 static_cast<long long>(run.epoch + 1), static_cast<long long>(state_.global_step), static_cast<long long>(run.total_updates), static_cast<long long>(run.epoch + 2));
    return;
  }
  std::fprintf(stderr, "train_dataset: pass %lld of the stream gives no batch; training stops at step %lld of %lld\n", static_cast<long long>(run.epoch + 1),
               static_cast<long long>(state_.global_step), static_cast<long long>(run.total_updates));
  control_.should_training_stop = true;
}

// The losses of the next window, whose gradients are then there; none where a callback stops the epoch within. With --auto_find_batch_size it
// begins again in smaller micro-batches where memory does not reach: the same rows, and where it is a power of two that is left, the same bits.
std::optional<double> Trainer::forward_and_backward(Run& run, Window& window) {
  const int64_t consumed = run.consumed, epoch_rows = run.epoch_rows, tokens = run.tokens, seen = state_.num_input_tokens_seen;
  const Number flos = state_.total_flos;
  bool has_begun = false;
  while (true) {
    std::string fault;
    try {
      window = next_window(run);
      if (!std::exchange(has_begun, true)) fire(Event::step_begin);
      return run_window(run, window);
    } catch (const MemoryError& error) {
      if (!args_.auto_find_batch_size) throw;
      fault = error.what();
    }
    window = {};
    run.consumed = consumed;
    run.epoch_rows = epoch_rows;
    run.tokens = tokens;
    state_.num_input_tokens_seen = seen;
    state_.total_flos = flos;
    optimizer_->zero_grad();
    shrink_batch(run, fault);
    begin_epoch(run);
  }
}

void Trainer::shrink_batch(Run& run, const std::string& fault) {
  ROTE_CHECK(run.batch > 1, MemoryError, "auto_find_batch_size: memory does not reach for one row at a time; ", fault);
  const int64_t power = run.batch & -run.batch;  // the largest that divides it
  const int64_t rows = power == run.batch ? run.batch / 2 : power;
  std::fprintf(stderr, "auto_find_batch_size: %s From here on micro-batches have %lld rows in place of %lld, an update %lld times as many\n", fault.c_str(),
               static_cast<long long>(rows), static_cast<long long>(run.batch), static_cast<long long>(run.batch / rows));
  split_batches(run, rows);
  state_.train_batch_size = run.batch;
}

// None where a callback stops the epoch in the middle of the window: its gradients and losses are dropped.
std::optional<double> Trainer::run_window(Run& run, const Window& window) {
  started_ = true;
  clear_status();
  micro_batches_ = static_cast<int64_t>(window.batches.size());
  if (run.tracer) run.tracer->begin_step(state_.global_step + 1);
  if (run.numerics) run.numerics->begin_step();
  if (options_.rote.on_nonfinite != NonFinitePolicy::stop) run.buffers = copied_buffers();
  NumericsLog* numerics = is_to_be_logged(run) ? run.numerics.get() : nullptr;
  double loss = 0;
  for (size_t i = 0; i < window.batches.size(); ++i) {
    const Profile::Part part(run.profile.get(), "forward and backward");
    if (run.tracer) run.tracer->batch(window.batches[i]);
    const Tracer::Watch traced(run.tracer.get());
    const NumericsLog::Watch looked_at(numerics);
    if (!window.is_empty()) loss += micro_step(run, window, i, run.consumed);
    count_tokens(run, window.batches[i]);
    run.consumed += static_cast<int64_t>(window.rows[i].size());
    run.epoch_rows += static_cast<int64_t>(window.rows[i].size());
    ++run.micro;
    if (i + 1 == window.batches.size()) break;
    fire(Event::substep_end);
    if (is_stopped()) {
      optimizer_->zero_grad();
      return {};
    }
  }
  return loss;
}

// Whether the update under way will be, unless a callback has it otherwise.
bool Trainer::is_to_be_logged(const Run& run) const {
  const int64_t step = state_.global_step + 1;
  return is_logged_by_step(args_, state_, step) || (args_.logging_strategy == IntervalStrategy::epoch && (!run.loader->has_next() || step == run.total_updates));
}

// The loss of one micro-batch whose first row is row `first` of the run, and its gradients.
double Trainer::micro_step(const Run& run, const Window& window, size_t i, int64_t first) {
  const std::string main = model_->signature().main;
  nn::Batch batch = window.batches[i];
  batch.num_items = window.targets;
  if (run.neftune) run.neftune->expect(batch.at(main), window.longest(main));
  const RunScopeGuard scope(scope_of(first, static_cast<int64_t>(window.rows[i].size())));
  const nn::RecomputeLayers recompute(args_.checkpointed_layers());
  return audited_ ? training_step(*model_, batch) : audited_step(batch);
}

void Trainer::count_tokens(Run& run, const nn::Batch& batch) {
  const int64_t elements = batch.at(model_->signature().main).numel();
  run.tokens += elements;
  state_.total_flos = static_cast<double>(state_.total_flos) + static_cast<double>(run.flops_per_element) * static_cast<double>(elements);
  if (args_.include_num_input_tokens_seen == TokenCount::no) return;
  const Tensor mask = batch.find("attention_mask");
  const bool counts_padding = args_.include_num_input_tokens_seen == TokenCount::all || !mask.defined();
  state_.num_input_tokens_seen += counts_padding ? elements : count_targets(mask, 0);
}

// The first forward and backward, watched: what will not train, or not as meant, is said before the first update.
double Trainer::audited_step(const nn::Batch& batch) {
  nn::Auditor auditor(*model_);
  const nn::RecomputeLayers recompute(args_.checkpointed_layers());
  const double loss = training_step(*model_, batch);
  ROTE_CHECK(args_.checkpointed_layers() == 0 || recompute.layers() > 0, ArgumentError, "activation_checkpointing: ", model_->class_name(),
             " has no stack of layers that can run again; leave it out.");
  for (const std::string& line : auditor.finish(has_gradient).lines()) std::fprintf(stderr, "%s\n", line.c_str());
  audited_ = true;
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
  if (scaler_) scaler_->unscale_(*optimizer_);
  if (run.tracer) run.tracer->update_begun(loss);
  run.grad_norm = optim::global_norm(run.leaves);
  const bool is_finite = std::isfinite(loss) && (scaler_ || std::isfinite(run.grad_norm));
  // Of a loss that is left out the mean of those before is taken (trainer.md 2.7).
  run.running_loss += std::isfinite(loss) || !args_.logging_nan_inf_filter ? loss : run.running_loss / static_cast<double>(1 + state_.global_step - run.last_logged);
  fire(Event::pre_optimizer_step);
  if (schedule_) {
    optimizer_->set_rates(*schedule_, applied_steps_);
    for (optim::Group& group : optimizer_->groups()) group.lr *= nonfinite_.rate_factor;
  }
  run.learning_rate = optimizer_->groups()[0].lr;
  if (!is_finite) give_up_step(run, window, loss);
  else if (make_step(run, window)) {
    ++applied_steps_, nonfinite_.in_a_row = 0;
    // After the first update, when all that a step keeps is there.
    const bool is_told = !optimizer_->precision().is_plain() || args_.log_level <= LogLevel::info;
    if (!std::exchange(run.told_memory, true) && is_told) std::fprintf(stderr, "%s\n", describe(optimizer_->memory()).c_str());
  }
  run.updated = true;
  fire(Event::optimizer_step);
  optimizer_->zero_grad();
  if (run.tracer) run.tracer->update_made();
  ++state_.global_step;
}

void Trainer::log_evaluate_save(Run& run) {
  const Stopwatch::Pause pause(run.watch, options_.rote.adjust_throughput);
  if (control_.should_log && state_.global_step > run.last_logged) {
    Logs logs;
    logs.set("loss", run.running_loss / static_cast<double>(state_.global_step - run.last_logged));
    if (run.updated) logs.set("grad_norm", run.grad_norm);
    logs.set("learning_rate", run.learning_rate);
    if (scaler_) {
      logs.set("loss_scale", static_cast<double>(scaler_->get_scale()));
      logs.set("skipped_steps", state_.global_step - applied_steps_);
    }
    if (options_.rote.on_nonfinite != NonFinitePolicy::stop) logs.set("nonfinite_steps", nonfinite_.total);
    if (options_.rote.on_nonfinite == NonFinitePolicy::halve) logs.set("learning_rate_factor", nonfinite_.rate_factor);
    run.total_loss += run.running_loss;
    run.running_loss = 0;
    run.last_logged = state_.global_step;
    if (run.numerics) run.numerics->write(state_.global_step, scaler_ ? static_cast<double>(scaler_->get_scale()) : 1);
    log(std::move(logs), Speed{.seconds = run.watch.seconds(), .tokens = static_cast<double>(state_.num_input_tokens_seen - run.first_tokens)});
  }
  if (control_.should_evaluate) {
    track_best(evaluate_within_training());
  }
  if (control_.should_save) {
    save_checkpoint(run);
    fire(Event::save);
  }
}

Metrics Trainer::evaluate_within_training() {
  try {
    return options_.eval_datasets.empty() ? evaluate(options_.eval_dataset, "eval", ignore_keys_for_eval_) : evaluate(options_.eval_datasets, "eval", ignore_keys_for_eval_);
  } catch (const MemoryError& error) {
    throw MemoryError(str("evaluate: with --per_device_eval_batch_size ", args_.per_device_eval_batch_size, ": ", error.what()));
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

}  // namespace rote
