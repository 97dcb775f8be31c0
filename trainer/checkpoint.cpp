#include "trainer/checkpoint.h"

#include <algorithm>
#include <cctype>

#include "kernels/blas.h"
#include "tensor/file.h"
#include "tensor/safetensors.h"
#include "tensor/sort_stably.h"
#include "trainer/json_text.h"
#include "trainer/value.h"

namespace rote {

namespace fs = std::filesystem;

std::string contract_of(Arithmetic kind) { return kind == Arithmetic::ac1 ? kContract : kNoContract + blas_name(); }

namespace {

constexpr const char kPrefix[] = "checkpoint-";
constexpr const char kDoomed[] = "-deleted";

// The parameters of the arithmetic contract that a run's bits depend on.
ValueMap contract(const RandomState& random) {
  return {{"id", random.contract}, {"gemm_leaf", 1024}, {"lanes", 64}, {"sum_leaf", 4096}, {"key_tile", 64}, {"sample_leaf", random.sample_leaf}};
}

void write_json(const fs::path& path, const ValueMap& map) { write_file(path.string(), json_text(map) + "\n"); }

ValueMap read_json(const fs::path& path) {
  const Value value = parse_json(read_file(path.string()), path.string());
  const ValueMap* map = value.as_map();
  ROTE_CHECK(map != nullptr, StateError, path.string(), ": holds no JSON object; the checkpoint is torn, resume from an older one.");
  return *map;
}

int64_t whole(const ValueMap& map, const std::string& key, const fs::path& path) {
  const Value* value = map.find(key);
  ROTE_CHECK(value != nullptr && value->as_int() != nullptr, StateError, path.string(), ": ", key, " is missing; the checkpoint is torn, resume from an older one.");
  return *value->as_int();
}

// Steps and rows of a run stay below this.
constexpr int64_t kMostSteps = int64_t{1} << 48;

int64_t count(const ValueMap& map, const std::string& key, const fs::path& path, int64_t most) {
  const int64_t value = whole(map, key, path);
  ROTE_CHECK(value >= 0 && value <= most, StateError, path.string(), ": ", key, " is ", value, "; it must lie in 0…", most,
             ", the checkpoint is torn, resume from an older one.");
  return value;
}

ValueMap group_options(const optim::Group& g) {
  ValueList names;
  for (const auto& [name, param] : g.params) names.push_back(name);
  return {{"lr", g.lr},   {"initial_lr", g.initial_lr}, {"betas", ValueList{g.betas.first, g.betas.second}},
          {"eps", g.eps}, {"weight_decay", g.weight_decay}, {"params", names}};
}

void check_groups(const ValueMap& file, const optim::Optimizer& optimizer, const fs::path& path) {
  const Value* groups = file.find("param_groups");
  ROTE_CHECK(groups != nullptr && groups->as_list() != nullptr, StateError, path.string(), ": param_groups is missing; the checkpoint is torn, resume from an older one.");
  const size_t count = groups->as_list()->size();
  ROTE_CHECK(count == optimizer.groups().size(), StateError, path.string(), ": ", count, " parameter groups, this optimizer has ", optimizer.groups().size(), ".");
  for (size_t i = 0; i < count; ++i) {
    const ValueMap* group = (*groups->as_list())[i].as_map();
    const Value* params = group != nullptr ? group->find("params") : nullptr;
    ROTE_CHECK(params != nullptr && *params == *group_options(optimizer.groups()[i]).find("params"), StateError, path.string(), ": group ", i,
               " holds other parameters than this model's; the checkpoint belongs to another model.");
  }
}

// Renamed first: a crash in the middle leaves no folder that a resume would take for whole.
void delete_checkpoint(const fs::path& folder) {
  const fs::path doomed = folder.parent_path() / (".tmp-" + folder.filename().string() + kDoomed);
  std::error_code error;
  fs::rename(folder, doomed, error);
  fs::remove_all(error ? folder : doomed, error);
}

// What a kill in the middle of a write or of delete_checkpoint() has left.
void finish_deletions(const fs::path& output_dir) {
  std::error_code error;
  std::vector<fs::path> doomed;
  for (const auto& entry : fs::directory_iterator(output_dir, error)) {
    const std::string name = entry.path().filename().string();
    // Halves of a write that a kill has cut, and folders whose deletion it has cut; what a rename was to replace stays.
    if (name.starts_with(std::string(".tmp-") + kPrefix) && !name.ends_with("-replaced")) doomed.push_back(entry.path());
  }
  for (const fs::path& folder : doomed) fs::remove_all(folder, error);
}

std::vector<std::pair<std::string, int64_t>> steps_of(const ValueMap& file, const fs::path& path) {
  const Value* map = file.find("steps");
  ROTE_CHECK(map != nullptr && map->as_map() != nullptr, StateError, path.string(), ": steps is missing; the checkpoint is torn, resume from an older one.");
  std::vector<std::pair<std::string, int64_t>> steps;
  for (const auto& [name, step] : *map->as_map()) {
    ROTE_CHECK(step.as_int() != nullptr, StateError, path.string(), ": the step of ", name, " is no whole number; the checkpoint is torn, resume from an older one.");
    steps.emplace_back(name, *step.as_int());
  }
  return steps;
}

// The names of torch's state.
ValueMap scaler_file(const optim::GradScalerState& s) {
  return {{"enabled", true},
          {"scale", static_cast<double>(s.scale)},
          {"growth_factor", s.growth_factor},
          {"backoff_factor", s.backoff_factor},
          {"growth_interval", s.growth_interval},
          {"_growth_tracker", s.growth_tracker},
          {"_bad_tracker", s.bad_tracker}};
}

std::optional<optim::GradScalerState> scaler_of(const ValueMap& file, const fs::path& path) {
  const Value* enabled = file.find("enabled");
  ROTE_CHECK(enabled != nullptr && enabled->as_bool() != nullptr, StateError, path.string(), ": enabled is missing; the checkpoint is torn, resume from an older one.");
  if (!*enabled->as_bool()) return {};
  const auto number = [&](const char* name) {
    double value = 0;
    const Value* found = file.find(name);
    ROTE_CHECK(found != nullptr && found->number(value), StateError, path.string(), ": ", name, " is missing; the checkpoint is torn, resume from an older one.");
    return value;
  };
  return optim::GradScalerState{.scale = static_cast<float>(number("scale")),
                                .growth_factor = number("growth_factor"),
                                .backoff_factor = number("backoff_factor"),
                                .growth_interval = count(file, "growth_interval", path, kMostSteps),
                                .growth_tracker = count(file, "_growth_tracker", path, kMostSteps),
                                .bad_tracker = count(file, "_bad_tracker", path, kMostSteps)};
}

}  // namespace

void save_training_state(const fs::path& folder, const optim::Optimizer& optimizer, const ScheduleState& schedule, const RandomState& random,
                         const std::optional<optim::GradScalerState>& scaler) {
  save_safetensors((folder / "optimizer.safetensors").string(), optimizer.state_tensors());
  ValueMap steps;
  for (const auto& [name, step] : optimizer.state_steps()) steps.set(name, step);
  ValueList groups, rates;
  for (const optim::Group& group : optimizer.groups()) {
    groups.push_back(group_options(group));
    rates.push_back(group.lr);
  }
  write_json(folder / "optimizer.json", {{"param_groups", groups}, {"steps", steps}});
  ValueMap scheduler{{"last_epoch", schedule.applied_steps}, {"_last_lr", rates}};
  if (!schedule.counters.empty()) {
    ValueMap counters;
    for (const auto& [name, value] : schedule.counters) counters.set(name, value);
    scheduler.set("counters", counters);
  }
  if (const NonFiniteSteps& steps = schedule.nonfinite; steps.total > 0)
    scheduler.set("nonfinite_steps", ValueMap{{"total", steps.total}, {"in_a_row", steps.in_a_row}, {"rate_factor", steps.rate_factor}});
  write_json(folder / "scheduler.json", scheduler);
  write_json(folder / "scaler.json", scaler ? scaler_file(*scaler) : ValueMap{{"enabled", false}});
  ValueMap place{{"contract", contract(random)},
                 {"seed", random.seed},
                 {"data_seed", random.data_seed},
                 {"global_step", random.global_step},
                 {"consumed_samples", random.consumed_samples},
                 {"epoch_samples", random.epoch_samples ? Value(*random.epoch_samples) : Value()},
                 {"update_samples", random.update_samples},
                 {"epoch", random.epoch},
                 {"epoch_consumed", random.epoch_consumed}};
  if (!random.stream.empty()) place.set("stream", random.stream);
  write_json(folder / "rng_state.json", place);
}

std::optional<TrainingState> read_training_state(const fs::path& folder, const optim::Optimizer& optimizer) {
  const fs::path tensors = folder / "optimizer.safetensors", groups = folder / "optimizer.json", scheduler = folder / "scheduler.json",
                 rng = folder / "rng_state.json";
  if (!fs::exists(tensors) && !fs::exists(groups) && !fs::exists(scheduler) && !fs::exists(rng)) return {};
  TrainingState state;
  const ValueMap random = read_json(rng);
  const Value* saved = random.find("contract");
  const ValueMap* saved_contract = saved != nullptr ? saved->as_map() : nullptr;
  const Value* id = saved_contract != nullptr ? saved_contract->find("id") : nullptr;
  ROTE_CHECK(id != nullptr && id->as_text() != nullptr, StateError, rng.string(), ": names no arithmetic contract; the checkpoint is torn, resume from an older one.");
  state.random.sample_leaf = whole(*saved_contract, "sample_leaf", rng);
  state.random.contract = id->as_text()->starts_with(kNoContract) ? *id->as_text() : kContract;
  ROTE_CHECK(*saved_contract == contract(state.random), StateError, rng.string(), ": was written under the contract ", *id->as_text(), ", this program keeps ",
             kContract, "; its bits would differ from here on.");
  state.random.seed = whole(random, "seed", rng);
  state.random.data_seed = whole(random, "data_seed", rng);
  state.random.global_step = count(random, "global_step", rng, kMostSteps);
  state.random.consumed_samples = count(random, "consumed_samples", rng, kMostSteps);
  const Value* epoch_samples = random.find("epoch_samples");
  if (epoch_samples != nullptr && epoch_samples->is_null()) state.random.epoch_samples.reset();
  else state.random.epoch_samples = count(random, "epoch_samples", rng, kMostSteps);
  state.random.update_samples = count(random, "update_samples", rng, kMostSteps);
  state.random.epoch = count(random, "epoch", rng, state.random.global_step + 1);
  state.random.epoch_consumed = count(random, "epoch_consumed", rng, state.random.epoch_samples.value_or(kMostSteps));
  if (const Value* stream = random.find("stream")) {
    ROTE_CHECK(stream->as_text() != nullptr, StateError, rng.string(), ": stream is no text; the checkpoint is torn, resume from an older one.");
    state.random.stream = *stream->as_text();
  }
  const ValueMap schedule = read_json(scheduler);
  state.schedule.applied_steps = count(schedule, "last_epoch", scheduler, state.random.global_step);
  const auto torn = [&](const char* what) { return str(scheduler.string(), ": ", what, "; the checkpoint is torn, resume from an older one."); };
  if (const Value* counters = schedule.find("counters")) {
    ROTE_CHECK(counters->as_map() != nullptr, StateError, torn("counters is no map"));
    for (const auto& [name, value] : *counters->as_map()) ROTE_CHECK(value.number(state.schedule.counters[name]), StateError, torn("a counter is no number"));
    const Value* rates = schedule.find("_last_lr");
    ROTE_CHECK(rates != nullptr && rates->as_list() != nullptr && rates->as_list()->size() == optimizer.groups().size(), StateError,
               torn("_last_lr is no list of a rate a group"));
    for (const Value& rate : *rates->as_list()) ROTE_CHECK(rate.number(state.rates.emplace_back()), StateError, torn("a rate is no number"));
  }
  if (const Value* steps = schedule.find("nonfinite_steps")) {
    ROTE_CHECK(steps->as_map() != nullptr, StateError, torn("nonfinite_steps is no map"));
    NonFiniteSteps& read = state.schedule.nonfinite;
    read.total = count(*steps->as_map(), "total", scheduler, state.random.global_step);
    read.in_a_row = count(*steps->as_map(), "in_a_row", scheduler, read.total);
    const Value* factor = steps->as_map()->find("rate_factor");
    ROTE_CHECK(factor != nullptr && factor->number(read.rate_factor) && read.rate_factor > 0 && read.rate_factor <= 1, StateError, torn("rate_factor is not above 0 and at most 1"));
  }
  state.scaler = scaler_of(read_json(folder / "scaler.json"), folder / "scaler.json");
  const ValueMap optimizer_file = read_json(groups);
  check_groups(optimizer_file, optimizer, groups);
  state.steps = steps_of(optimizer_file, groups);
  int64_t most = 0;
  for (const auto& [name, step] : state.steps) {
    ROTE_CHECK(step >= 0 && step <= state.schedule.applied_steps, StateError, groups.string(), ": ", name, " is at step ", step, ", the schedule at ",
               state.schedule.applied_steps, "; the files are of different checkpoints, resume from another one.");
    most = std::max(most, step);
  }
  ROTE_CHECK(most == state.schedule.applied_steps, StateError, groups.string(), ": the furthest parameter is at step ", most, ", the schedule at ",
             state.schedule.applied_steps, "; the files are of different checkpoints, resume from another one.");
  const std::map<std::string, Tensor> moments = load_safetensors(tensors.string());
  state.moments.assign(moments.begin(), moments.end());
  return state;
}

int64_t checkpoint_step(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (name.rfind(kPrefix, 0) != 0 || name.size() == sizeof kPrefix - 1 || name.size() > sizeof kPrefix + 17) return -1;
  const std::string digits = name.substr(sizeof kPrefix - 1);
  return std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c) != 0; }) ? std::stoll(digits) : -1;
}

std::vector<fs::path> checkpoints_in(const fs::path& output_dir) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(output_dir, error))
    if (entry.is_directory() && checkpoint_step(entry.path()) >= 0) found.push_back(entry.path());
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) { return checkpoint_step(a) < checkpoint_step(b); });
  return found;
}

std::optional<fs::path> get_last_checkpoint(const fs::path& output_dir) {
  const std::vector<fs::path> all = checkpoints_in(output_dir);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

std::vector<fs::path> checkpoints_to_resume(const std::string& wanted, const fs::path& output_dir) {
  if (wanted == "true") {
    std::vector<fs::path> all = checkpoints_in(output_dir);
    ROTE_CHECK(!all.empty(), ArgumentError, "resume_from_checkpoint: ", output_dir.string(), " holds no folder checkpoint-<step>; leave the flag out to start anew.");
    std::reverse(all.begin(), all.end());
    return all;
  }
  const fs::path folder = wanted;
  ROTE_CHECK(fs::exists(folder / "trainer_state.json"), IoError, "resume_from_checkpoint: ", folder.string(), " holds no trainer_state.json; give a folder checkpoint-<step>.");
  return {folder};
}

void rotate_checkpoints(const fs::path& output_dir, const Rotation& rotation) {
  finish_deletions(output_dir);
  if (rotation.limit <= 0) return;
  const auto written_at = [&](const fs::path& folder) {
    const auto& names = rotation.written;
    return std::find(names.begin(), names.end(), folder.filename().string()) - names.begin();
  };
  const auto is_own = [&](const fs::path& folder) { return written_at(folder) < static_cast<std::ptrdiff_t>(rotation.written.size()); };
  std::vector<fs::path> order = checkpoints_in(output_dir);
  sort_stably(order, [&](const fs::path& a, const fs::path& b) {
    if (is_own(a) != is_own(b)) return is_own(b);
    return is_own(a) && written_at(a) < written_at(b);
  });
  const auto is_protected = [&](const fs::path& folder) {
    return folder == order.back() || (rotation.best && folder.filename().string() == *rotation.best);
  };
  const auto kept = std::max<int64_t>(rotation.limit, std::count_if(order.begin(), order.end(), is_protected));
  int64_t excess = static_cast<int64_t>(order.size()) - kept;
  for (const fs::path& folder : order) {
    if (excess <= 0) break;
    if (is_protected(folder)) continue;
    delete_checkpoint(folder);
    --excess;
  }
}

void keep_one_checkpoint(const fs::path& output_dir, const std::string& name) {
  for (const fs::path& folder : checkpoints_in(output_dir))
    if (folder.filename().string() != name) delete_checkpoint(folder);
}

}  // namespace rote
