// trainer/checkpoint.h — the files of a checkpoint folder beside the model: optimizer, schedule, random state; finding and rotating folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "autograd/arithmetic.h"
#include "optim/grad_scaler.h"

namespace rote {

inline constexpr const char* kContract = "AC-1";
inline constexpr const char* kNoContract = "fast: ";  // then the library that multiplies
std::string contract_of(Arithmetic kind);

// Where a run's randomness and data stand: all that a stateless generator leaves to be saved.
struct RandomState {
  int64_t seed = 0;
  int64_t data_seed = 0;
  int64_t global_step = 0;
  int64_t consumed_samples = 0;
  std::optional<int64_t> epoch_samples = 0;  // rows of one epoch, none with a stream
  int64_t update_samples = 0;  // rows of one whole update
  int64_t epoch = 0;           // the epoch that goes on, and its rows so far
  int64_t epoch_consumed = 0;
  int64_t sample_leaf = 1;
  std::string contract = kContract;
  std::string stream = {};     // its fingerprint, empty without one
};

// optimizer.safetensors (`<parameter>.exp_avg` …), optimizer.json (groups, steps), scheduler.json, scaler.json, rng_state.json.
// applied_steps: what a schedule of the step counts; counters: of one that follows a metric.
struct NonFiniteSteps {
  int64_t total = 0, in_a_row = 0;  // skipped ones (--on_nonfinite), and those since the last update
  double rate_factor = 1;           // of the learning rates, halved by each where so asked
};
struct ScheduleState {
  int64_t applied_steps = 0;
  std::map<std::string, double> counters = {};
  NonFiniteSteps nonfinite = {};
};
// scaler: none where the loss is not scaled.
void save_training_state(const std::filesystem::path& folder, const optim::Optimizer& optimizer, const ScheduleState& schedule, const RandomState& random,
                         const std::optional<optim::GradScalerState>& scaler = {});

struct TrainingState {
  ScheduleState schedule;
  std::vector<double> rates;  // of the groups, where the schedule has counters
  RandomState random;
  std::optional<optim::GradScalerState> scaler;
  std::vector<std::pair<std::string, Tensor>> moments;  // for Optimizer::load_state, as are:
  std::vector<std::pair<std::string, int64_t>> steps;
};
// Reads them back; absent where the folder holds a model only. Changes nothing. Throws IoError or StateError where a file is missing or torn,
// or belongs to another contract or to other groups than the optimizer's.
std::optional<TrainingState> read_training_state(const std::filesystem::path& folder, const optim::Optimizer& optimizer);

// The step of a folder called `checkpoint-<digits>`, -1 for any other name.
int64_t checkpoint_step(const std::filesystem::path& folder);
// Such folders below output_dir by step, smallest first.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& output_dir);
// The checkpoint with the highest step, absent where there is none.
std::optional<std::filesystem::path> get_last_checkpoint(const std::filesystem::path& output_dir);
// What --resume_from_checkpoint asks for: the folder that it names, for `true` those of output_dir, newest first. Throws where there is none.
std::vector<std::filesystem::path> checkpoints_to_resume(const std::string& wanted, const std::filesystem::path& output_dir);

struct Rotation {
  int64_t limit = 0;                      // folders to keep; 0 or less: all
  std::vector<std::string> written = {};  // names written by this run, oldest first
  std::optional<std::string> best = {};   // never deleted, nor is the newest
};
// Deletes the oldest folders beyond the limit; folders that this run did not write count as older, among themselves by step.
void rotate_checkpoints(const std::filesystem::path& output_dir, const Rotation& rotation);
// Deletes every checkpoint but one: what a limit of 1 comes to at the end of a run whose best is known.
void keep_one_checkpoint(const std::filesystem::path& output_dir, const std::string& name);

}  // namespace rote
