// trainer/apps/rote/replay.cpp — `rote replay`: makes one update of a run again, op by op, and compares it with the run's trace, or with that of
// another run made again likewise. Exit code 0: nothing differs, 1: something does.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "tensor/difference.h"
#include "tensor/file.h"
#include "trainer/apps/rote/manifest.h"
#include "trainer/apps/rote/train.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/checkpoint.h"
#include "trainer/parser.h"
#include "trainer/trace_difference.h"

namespace rote::app {

namespace fs = std::filesystem;

namespace {

struct ReplayArguments {
  int64_t step = 0;
  std::optional<std::string> against = {};

  static const ArgumentTable<ReplayArguments>& table() {
    static const ArgumentTable<ReplayArguments> rows = {
        "arguments",
        {
            field(&ReplayArguments::step, {.name = "step", .help = "the update to make again, from 1", .at_least = 1, .below = int64_t{1} << 48, .required = true}),
            field(&ReplayArguments::against, {.name = "against", .help = "another run, made again up to the same step, in place of the trace of RUN: values are then at hand"}),
        }};
    return rows;
  }
};

// A folder of this process, removed with all it holds.
struct Scratch {
  std::string path = (fs::absolute(fs::temp_directory_path()) / str("rote-replay-", ::getpid())).string();
  Scratch() { fs::create_directories(path); }
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

// The newest checkpoint of the run behind which update `step` still lies, with the state of its training; empty: none.
std::string checkpoint_before(const std::string& run, int64_t step) {
  std::string best;
  for (const fs::path& folder : checkpoints_in(run))
    if (checkpoint_step(folder) < step && is_file((folder / "rng_state.json").string())) best = folder.string();
  return best;
}

// Leaves the trace of the run from its nearest checkpoint up to the step in `folder`.
std::string replayed(const std::string& run, int64_t step, const std::string& folder, const TraceWatch& watch = {}) {
  const Manifest manifest = read_manifest(run);
  check_contract(manifest, run);
  go_to_folder_of(manifest);
  std::vector<std::string> words = manifest.words;
  for (const char* word : {"--output_dir", folder.c_str(), "--trace_hashes", "ops", "--save_strategy", "no", "--load_best_model_at_end", "false", "--logging_strategy", "no",
                           "--profiling_steps", "0", "--disable_tqdm", "true"})
    words.emplace_back(word);
  if (const std::string checkpoint = checkpoint_before(run, step); !checkpoint.empty()) words.insert(words.end(), {"--resume_from_checkpoint", checkpoint});
  fs::remove_all(folder);
  train_by_words(words, {.last_step = step, .watch = watch});
  return folder + "/" + kTraceFile;
}

void check_step(const std::string& trace, int64_t step) {
  TraceReader reader(trace);
  int64_t last = 0;
  while (const std::optional<TraceStep> one = reader.next()) {
    last = one->step;
    if (last == step) return;
  }
  throw ArgumentError(str("--step: ", trace, " holds no step ", step, ", its last one is ", last, "; give one that it holds."));
}

// The first element that differs, of a tensor that both computed on their way to the step.
void show_values(const TraceDifference& d, const std::string& run, const std::string& other, int64_t step, const Scratch& scratch) {
  Tensor left, right;
  replayed(run, step, scratch.path + "/a", keep_record(left, d.step, d.record));
  replayed(other, step, scratch.path + "/b", keep_record(right, d.step, d.other_record));
  if (!left.defined() || !right.defined()) return;
  if (left.dtype() != right.dtype() || !(left.shape() == right.shape())) std::printf("%s and %s\n", describe(left).c_str(), describe(right).c_str());
  else if (const std::optional<Difference> found = difference(left, right)) std::printf("%s\n", describe(*found, left).c_str());
}

}  // namespace

int replay(int argc, char** argv) {
  const auto parsed = parse_command(
      argc, argv, Usage{"rote replay", "Makes one update of a run again from its nearest checkpoint, op by op, and says where it parts from the run's trace.", "RUN"}, ReplayArguments{});
  const ReplayArguments& args = std::get<0>(parsed.values);
  ROTE_CHECK(parsed.positional.size() == 1, ArgumentError, parsed.positional.size(), " paths; give the folder of one run.");
  const std::string run = fs::absolute(parsed.positional[0]).string(), other = args.against ? fs::absolute(*args.against).string() : "";
  const std::string trace = run + "/" + kTraceFile;
  ROTE_CHECK(args.against || is_file(trace), ArgumentError, parsed.positional[0], " holds no ", kTraceFile, "; make the run with --trace_hashes, or give another one by --against.");
  if (!args.against) check_step(trace, args.step);
  const Scratch scratch;
  const std::string again = replayed(run, args.step, scratch.path + "/a");
  check_step(again, args.step);
  const std::string beside = args.against ? replayed(other, args.step, scratch.path + "/b") : trace;
  const TraceComparison comparison = args.against ? compare_traces(again, beside, args.step) : compare_traces(beside, again, args.step);
  std::fputs(describe(comparison, parsed.positional[0], args.against.value_or("the replay")).c_str(), stdout);
  if (args.against && comparison.first && comparison.first->is_of_one_tensor()) show_values(*comparison.first, run, other, args.step, scratch);
  return comparison.is_equal() ? 0 : 1;
}

}  // namespace rote::app
