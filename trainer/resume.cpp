// trainer/resume.cpp — the Trainer's checkpoints: what it writes into a folder and how it goes on from one. Files and rotation: checkpoint.h.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "nn/config.h"
#include "nn/pretrained.h"
#include "nn/state.h"
#include "tensor/file.h"
#include "trainer/argument_text.h"
#include "trainer/folder_write.h"
#include "trainer/json_text.h"
#include "trainer/run.h"

namespace rote {

namespace fs = std::filesystem;

namespace {

constexpr const char kArgumentsFile[] = "training_args.json";

// Every parameter from a folder that this Trainer, or another of the same model, has written.
void load_weights(nn::Model& model, const SafetensorsFolder& weights, const std::string& folder) {
  const nn::LoadReport report = nn::load_state(model, weights);
  ROTE_CHECK(report.missing.empty() && report.unexpected.empty(), StateError, folder, ": the weights do not fit the model; ", report.text(), ".");
}

std::string fingerprint_of(const data::AnyDataset& dataset) { return dataset.stream != nullptr ? dataset.stream->fingerprint() : ""; }

}  // namespace

void Trainer::write_model(const std::string& folder) const {
  nn::save_pretrained(*model_, folder);
  if (!options_.processing_class) return;
  for (const auto& [name, bytes] : options_.processing_class->files) write_file((fs::path(folder) / name).string(), bytes);
}

void Trainer::save_model(const std::string& folder) const {
  write_files_into(folder, [this](const fs::path& temporary) { write_model(temporary.string()); });
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
  // After an epoch that a callback cuts short the next one follows, though rows of it are left; so it does once a stream has ended.
  const bool is_cut = control_.should_epoch_stop && !control_.should_training_stop, is_over = is_cut || run.stream_is_over;
  const int64_t epoch = is_over ? run.epoch + 1 : run.epoch, epoch_consumed = is_over ? 0 : run.epoch_rows;
  if (!args_.save_only_model)
    save_training_state(write.folder(), *optimizer_, {applied_steps_, metric_schedule_ ? metric_schedule_->state() : std::map<std::string, double>(), nonfinite_},
                        {.seed = args_.seed, .data_seed = args_.sampler_seed(), .global_step = state_.global_step, .consumed_samples = run.consumed, .epoch_samples = run.rows_per_epoch,
                         .update_samples = run.batch * run.accumulation, .epoch = epoch, .epoch_consumed = epoch_consumed, .sample_leaf = options_.rote.sample_leaf,
                         .contract = contract_of(options_.rote.arithmetic), .stream = fingerprint_of(options_.train_dataset)},
                        scaler_ ? std::optional(scaler_->state_dict()) : std::nullopt);
  write_file((write.folder() / kArgumentsFile).string(), training_args_file(args_, options_.rote));
  state_.stateful_callbacks = handler_.exported(control_);
  state_.save_to_json((write.folder() / "trainer_state.json").string());
  write.commit();
  std::erase(written_checkpoints_, name);
  written_checkpoints_.push_back(name);
  rotate_checkpoints(args_.output_dir, {.limit = args_.save_total_limit.value_or(0), .written = written_checkpoints_, .best = best_of_output_dir()});
}

void Trainer::load_best_model() {
  std::fprintf(stderr, "loading the best model, %s\n", state_.best_model_checkpoint->c_str());
  load_weights(*model_, SafetensorsFolder::open(*state_.best_model_checkpoint), *state_.best_model_checkpoint);
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
                           "num_train_epochs", "max_steps", "train_sampling_strategy", "bf16", "fp16", "optim", "optim_args"})
    if (!(*before.find(name) == *now.find(name)))
      std::fprintf(stderr, "resume_from_checkpoint: %s was %s, from here on it is %s\n", name, json_text(*before.find(name)).c_str(), json_text(*now.find(name)).c_str());
  if (model_->config() != nullptr) {
    const std::string config = (root / "config.json").string();
    const Value saved = parse_json(read_file(config), config), own = parse_json(nn::config_text(*model_->config()), "the model's config");
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
  const std::string contract = contract_of(options_.rote.arithmetic);
  ROTE_CHECK(saved.contract == contract, StateError, "resume_from_checkpoint: ", folder, " was written under the contract ", saved.contract, ", this run is of ", contract,
             "; its bits would differ from here on.");
  ROTE_CHECK(saved.sample_leaf == options_.rote.sample_leaf, StateError, "resume_from_checkpoint: ", folder, " was written with --sample_leaf ",
             saved.sample_leaf, ", this run has ", options_.rote.sample_leaf, "; its bits would differ from here on.");
  const auto length = [](const std::optional<int64_t>& rows, const char* unit) { return rows ? str(*rows, unit) : std::string("a stream"); };
  ROTE_CHECK(args_.ignore_data_skip || saved.epoch_samples == run.rows_per_epoch, StateError, "resume_from_checkpoint: ", folder,
             " was written with epochs of ", length(saved.epoch_samples, " rows"), ", this run has ", length(run.rows_per_epoch, ""), "; give the same rows, or --ignore_data_skip.");
  const std::string stream = fingerprint_of(options_.train_dataset);
  ROTE_CHECK(args_.ignore_data_skip || saved.stream == stream, StateError, "resume_from_checkpoint: ", folder, " was written with the stream \"", saved.stream,
             "\", this run has \"", stream, "\"; give the same file and --shuffle_buffer_size, or --ignore_data_skip.");
  ROTE_CHECK(args_.ignore_data_skip || saved.update_samples == run.batch * run.accumulation, StateError, "resume_from_checkpoint: ", folder,
             " was written with updates of ", saved.update_samples, " rows, those of this run have ", run.batch * run.accumulation,
             "; give the same batch size times accumulation, or --ignore_data_skip.");
  ROTE_CHECK(args_.ignore_data_skip || !run.rows_per_epoch || saved.epoch_consumed % saved.update_samples == 0 || saved.epoch_consumed == run.rows_per_epoch, StateError,
             "resume_from_checkpoint: ", folder, " stands at row ", saved.epoch_consumed, " of its epoch, inside an update of ", saved.update_samples,
             " rows; the checkpoint is torn, resume from an older one.");
}

// The arguments of this run hold, whatever the checkpoint's were.
void Trainer::warn_of_changes(const TrainerState& saved) const {
  const std::pair<const char*, std::pair<double, double>> values[] = {
      {"logging_steps", {saved.logging_steps, state_.logging_steps}},
      {"eval_steps", {saved.eval_steps, state_.eval_steps}},
      {"save_steps", {saved.save_steps, state_.save_steps}},
      {"per_device_train_batch_size", {saved.train_batch_size.value_or(args_.per_device_train_batch_size), *state_.train_batch_size}},
  };
  for (const auto& [name, pair] : values)
    if (pair.first != pair.second) std::fprintf(stderr, "resume_from_checkpoint: %s was %g, from here on it is %g\n", name, pair.first, pair.second);
}

// The newest checkpoint that can be gone on from; what is wrong with a newer one is said.
void Trainer::resume_from(const std::string& wanted, Run& run) {
  const std::vector<fs::path> folders = checkpoints_to_resume(wanted, args_.output_dir);
  std::exception_ptr first_fault;
  for (size_t i = 0; i < folders.size(); ++i) {
    try {
      return resume(folders[i].string(), run);
    } catch (const MemoryError&) {
      throw;
    } catch (const Error& fault) {
      if (!first_fault) first_fault = std::current_exception();
      if (i + 1 < folders.size()) std::fprintf(stderr, "%s\nresume_from_checkpoint: trying %s in its place\n", fault.what(), folders[i + 1].c_str());
    }
  }
  std::rethrow_exception(first_fault);
}

// Where the data stand after so many updates, all of them made as this run would. A stream is read up to there, pass after pass.
void Trainer::find_place(Run& run, int64_t updates) const {
  if (run.rows_per_epoch) {
    run.first_epoch = updates / run.updates_per_epoch;
    run.skip_rows = updates % run.updates_per_epoch * run.accumulation * run.batch;
    run.consumed = run.first_epoch * *run.rows_per_epoch + run.skip_rows;
    return;
  }
  data::Stream& stream = *options_.train_dataset.stream;
  for (int64_t done = 0; done < updates; ++run.first_epoch) {
    stream.restart(run.first_epoch);
    const data::NextRows next = data::in_order(stream, {.batch = run.batch, .drop_last = args_.dataloader_drop_last});
    run.skip_rows = 0;
    bool is_over = false;
    while (done < updates && !is_over) {
      int64_t rows = 0;
      for (int64_t i = 0; i < run.accumulation && !is_over; ++i) {
        const std::optional<data::BatchRows> batch = next();
        is_over = !batch;
        if (batch) rows += static_cast<int64_t>(batch->rows.size());
      }
      run.skip_rows += rows;
      if (rows > 0) ++done;
    }
    run.consumed += run.skip_rows;
    if (run.skip_rows == 0 || done == updates) break;
  }
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
  // A batch that was found to be too large is not tried again.
  if (const int64_t rows = saved.train_batch_size.value_or(run.batch); args_.auto_find_batch_size && rows > 0 && rows < run.batch && run.batch % rows == 0)
    split_batches(run, rows);
  if (training) {
    check_saved_files(folder);
    check_position(folder, training->random, run);
  }

  load_weights(*model_, weights, folder);
  if (training) {
    const RandomState& random = training->random;
    const bool epoch_is_over = run.rows_per_epoch && random.epoch_consumed >= *run.rows_per_epoch;
    std::optional<optim::GradScaler> scaler = scaler_;  // as it was, where the moments do not fit and an older checkpoint takes the place of this one
    if (scaler && training->scaler) scaler->load_state_dict(*training->scaler);
    optimizer_->load_state(training->moments, training->steps);
    scaler_ = std::move(scaler);
    run.consumed = random.consumed_samples;
    run.first_epoch = random.epoch + (epoch_is_over ? 1 : 0);
    run.skip_rows = epoch_is_over ? 0 : random.epoch_consumed;
  } else {
    find_place(run, saved.global_step);
    std::fprintf(stderr, "%s holds a model only: moments start anew, the schedule goes on at step %lld\n", folder.c_str(), static_cast<long long>(saved.global_step));
  }
  if (args_.ignore_data_skip) run.skip_rows = 0;
  applied_steps_ = training ? training->schedule.applied_steps : saved.global_step;
  if (training) nonfinite_ = training->schedule.nonfinite;
  if (training && metric_schedule_ && !training->rates.empty()) {
    metric_schedule_->load(training->schedule.counters);
    for (size_t g = 0; g < training->rates.size(); ++g) optimizer_->groups()[g].lr = training->rates[g];
  }
  const TrainerState planned = std::exchange(state_, saved);
  state_.max_steps = planned.max_steps;
  state_.num_train_epochs = planned.num_train_epochs;
  state_.train_batch_size = run.batch;
  state_.compute_steps(args_, run.total_updates);
  if (state_.best_model_checkpoint && !fs::exists(*state_.best_model_checkpoint)) state_.best_model_checkpoint.reset();
  warn_of_changes(saved);
  for (const std::string& name : handler_.restore(saved.stateful_callbacks, control_, {.made_as_saved = args_.restore_callback_states_from_checkpoint}))
    std::fprintf(stderr, "resume_from_checkpoint: the state of %s is left out, no such callback is here\n", name.c_str());
  std::error_code elsewhere;
  if (!fs::equivalent(fs::path(folder).lexically_normal() / "..", args_.output_dir, elsewhere)) return;
  for (const fs::path& older : checkpoints_in(args_.output_dir))  // the earlier part of this run, for the rotation
    if (checkpoint_step(older) <= saved.global_step) written_checkpoints_.push_back(older.filename().string());
}

}  // namespace rote
