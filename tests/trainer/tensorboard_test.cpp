// tests/trainer/tensorboard_test.cpp — the names and bytes of TensorBoard's files, and what a run writes into them.
#include "trainer/trackers/tensorboard.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "tests/trainer/small_run.h"
#include "trainer/trackers/names.h"
#include "trainer/trackers/trackers.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::vector<std::string> payloads_of(const std::string& file) {
  std::vector<std::string> payloads;
  const std::string bytes = read_text(file);
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    payloads.push_back(bytes.substr(at + 12, length));
    at += 16 + length;
  }
  return payloads;
}

std::vector<std::string> event_files(const std::string& folder) {
  std::vector<std::string> found;
  if (!fs::exists(folder)) return found;
  for (const auto& one : fs::recursive_directory_iterator(folder))
    if (one.path().filename().string().starts_with("events.out.tfevents.")) found.push_back(one.path().string());
  return found;
}

struct Variable {
  const char* name;
  Variable(const char* name, const std::string& value) : name(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name); }
};

}  // namespace

TEST_CASE("trackers: names are those of the reference's rewriting, sums of the whole run are told apart") {
  const std::pair<const char*, const char*> names[] = {{"loss", "train/loss"},           {"eval_loss", "eval/loss"}, {"test_loss", "test/loss"}, {"train_loss", "train/train_loss"},
                                                       {"eval_valid_loss", "eval/valid_loss"}, {"epoch", "train/epoch"},   {"evaluation", "train/evaluation"}};
  for (const auto& [key, name] : names) CHECK(tracker_name(key) == name);
  for (const char* key : {"train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss", "total_flos"}) CHECK(is_of_whole_run(key));
  for (const char* key : {"loss", "eval_runtime", "epoch", "train_loss_2"}) CHECK_FALSE(is_of_whole_run(key));
}

// Records of a file that TensorBoard's own reader took: written by a program without its package, at time 1767323045.25.
TEST_CASE("tensorboard: records have the bytes that its reader takes") {
  CHECK(crc32c("123456789") == 0xE3069283u);
  CHECK(crc32c("") == 0u);
  const TempFolder folder;
  EventFile file(folder.file("a/b"), {.now = [] { return 1767323045.25; }, .host = "host", .pid = 4242});
  CHECK(file.path().starts_with(folder.file("a/b/events.out.tfevents.1767323045.host.4242.")));
  file.add_text("model_config", "{\n  \"model_type\": \"gpt2\",\n  \"n_layer\": 1\n}", 0);
  file.add_scalar("train/loss", 2.5f, 2);
  file.flush();
  CHECK(read_text(file.path()) == bytes_of("1800000000000000a37f4b220900005069cd55da411a0d627261696e2e4576656e743a3205b6102e"
                                           "6800000000000000fe9c7ad40900005069cd55da412a5d0a5b0a196d6f64656c5f636f6e6669672f746578745f73756d6d61727942340807120412020801422a7b0a20"
                                           "20226d6f64656c5f74797065223a202267707432222c0a2020226e5f6c61796572223a20310a7d4a080a060a047465787494c4ccdf"
                                           "200000000000000029eda9500900005069cd55da4110022a130a110a0a747261696e2f6c6f73731500002040034b53d5"));
  const EventFile next(folder.file("a/b"), {.now = [] { return 1767323045.25; }, .host = "host", .pid = 4242});
  CHECK(next.path() != file.path());
  const EventFileOptions long_name = {.host = std::string(300, 'x')};
  CHECK_THROWS_WITH_AS(EventFile(folder.file("a/b"), long_name), doctest::Contains("File name too long"), IoError);
}

TEST_CASE("tensorboard: a run has its arguments, its model and each log in one file, and the bits that it has without") {
  const TempFolder folder, plain;
  TrainingArguments args = quiet_args(folder.path());
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  args.report_to = {"tensorboard"};
  args.hub_token = "hf_secret";
  SmallRun run(args);
  run.trainer->train();
  run.trainer->evaluate();
  const std::vector<std::string> files = event_files(folder.path());
  REQUIRE(files.size() == 1);
  CHECK(files[0].find(folder.path() + "/runs/") == 0);
  std::map<std::string, int> seen;
  for (const std::string& payload : payloads_of(files[0])) {
    CHECK(payload.find("hf_secret") == std::string::npos);
    for (const char* part : {"brain.Event:2", "args/text_summary", "\"learning_rate\": ", "<HUB_TOKEN>", "model_config/text_summary", "\"model_type\": \"bert\"", "train/loss", "train/grad_norm",
                             "train/learning_rate", "train/train_loss", "train/total_flos", "eval/loss", "eval/runtime"})
      if (payload.find(part) != std::string::npos) ++seen[part];
  }
  const int64_t steps = run.trainer->state().global_step;
  CHECK(seen["brain.Event:2"] == 1);
  CHECK(seen["args/text_summary"] == 1);
  CHECK(seen["<HUB_TOKEN>"] == 1);
  CHECK(seen["\"model_type\": \"bert\""] == 1);
  CHECK(seen["train/loss"] == steps);
  CHECK(seen["train/learning_rate"] == steps);
  CHECK(seen["train/train_loss"] == 1);
  CHECK(seen["eval/loss"] == 1);

  args.report_to = {};
  args.output_dir = plain.path();
  SmallRun without(args);
  without.trainer->train();
  CHECK(run.hash() == without.hash());
  CHECK(event_files(plain.path()).empty());
}

TEST_CASE("tensorboard: the folder is that of the variable, then of --logging_dir; one that cannot be made costs no run") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.file("out"));
  args.report_to = {"tensorboard"};
  args.logging_dir = folder.file("by argument");
  SmallRun(args).trainer->train();
  CHECK(event_files(folder.file("by argument")).size() == 1);
  {
    const Variable variable("TENSORBOARD_LOGGING_DIR", folder.file("by variable"));
    SmallRun(args).trainer->train();
    CHECK(event_files(folder.file("by variable")).size() == 1);
    CHECK(event_files(folder.file("by argument")).size() == 1);
  }
  args.logging_dir = folder.file("file", "no folder") + "/below";
  SmallRun run(args);
  CHECK(run.trainer->train().global_step > 0);
}

TEST_CASE("tensorboard: numbers, words and truths stand at the step of their log, what is none of these is left out") {
  const TempFolder folder;
  const TrainingArguments args = quiet_args(folder.path());
  const TrainerState state{.global_step = 5};
  Logs logs = {{"loss", 2.5}, {"eval_note", "fine"}, {"is_last", true}, {"list", ValueList{}}};
  TrainerControl control;
  TensorBoardCallback callback;
  callback.on_log({.args = args, .state = state, .logs = &logs}, control);
  const std::vector<std::string> files = event_files(folder.path());
  REQUIRE(files.size() == 1);
  const std::vector<std::string> payloads = payloads_of(files[0]);  // the first two: the file's version, the arguments
  REQUIRE(payloads.size() == 5);
  const char* tags[] = {"train/loss", "eval/note/text_summary", "train/is_last"};
  for (size_t i = 0; i < 3; ++i) {
    CAPTURE(tags[i]);
    CHECK(payloads[i + 2].find(tags[i]) != std::string::npos);
    CHECK(payloads[i + 2].substr(9, 2) == std::string("\x10\x05"));  // field 2, step 5, behind the time
  }
}

TEST_CASE("report_to: all means TensorBoard, and trackio where it is set up") {
  using T = TrainingArguments;
  CHECK(resolved(T{.report_to = {"all"}}).report_to == std::vector<std::string>{"tensorboard"});
  {
    const Variable variable("TRACKIO_DIR", "/tmp");
    CHECK(resolved(T{.report_to = {"all", "tensorboard"}}).report_to == std::vector<std::string>{"tensorboard", "trackio"});
  }
  CHECK(resolved(T{.report_to = {"none"}}).report_to.empty());
  CHECK_THROWS_WITH_AS(tracker_callback("wandb"), "report_to: there is no wandb; choose tensorboard or trackio.", ArgumentError);
}

}  // namespace rote::testing
