// tests/trainer/curves_test.cpp — histories of runs: where they are found, their tables, curves and round axes.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "trainer/curves.h"

using namespace rote;

namespace {

const RunLogs kRun = {"out",
                      {{{"loss", 0.693147}, {"grad_norm", 1.25}, {"learning_rate", 5e-06}, {"epoch", 0.5}, {"step", 10}},
                       {{"eval_loss", 0.61234}, {"eval_accuracy", 0.75}, {"eval_runtime", 1.5}, {"epoch", 0.5}, {"step", 10}},
                       {{"loss", 0.5}, {"grad_norm", 2.0}, {"learning_rate", 0.0001}, {"epoch", 1.0}, {"step", 20}},
                       {{"train_runtime", 12.5}, {"train_loss", 0.6}, {"total_flos", 1e15}, {"epoch", 1.0}, {"step", 20}}}};

std::string text_of(const std::vector<Logs>& history) {
  TrainerState state;
  state.log_history = history;
  return state.to_json();
}

std::string fault_of(const std::string& place) {
  try {
    read_logs(place);
  } catch (const Error& fault) {
    return fault.text;
  }
  return "none";
}

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> all;
  for (int64_t i = 0; i <= axis.count; ++i) all.push_back(axis.label(i));
  return all;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("logs: a run folder, a checkpoint and the file itself give the same history") {
  const testing::TempFolder folder;
  std::filesystem::create_directories(folder.file("run/checkpoint-10"));
  std::filesystem::create_directories(folder.file("run/checkpoint-9"));
  folder.file("run/checkpoint-10/trainer_state.json", text_of(kRun.history));
  folder.file("run/checkpoint-9/trainer_state.json", text_of({kRun.history[0]}));
  CHECK(read_logs(folder.file("run")).history.size() == 4);  // the newest checkpoint's
  CHECK(read_logs(folder.file("run/checkpoint-9")).history.size() == 1);
  CHECK(read_logs(folder.file("run/checkpoint-10/trainer_state.json")).history.size() == 4);
  folder.file("run/trainer_state.json", text_of({kRun.history[0], kRun.history[1]}));
  CHECK(read_logs(folder.file("run") + "//").history.size() == 2);  // its own comes first
  CHECK(read_logs(folder.file("run") + "//").name == folder.file("run"));
}

TEST_CASE("logs: what is no run is refused in a sentence") {
  const testing::TempFolder folder;
  std::filesystem::create_directories(folder.file("run/checkpoint-10"));
  CHECK(fault_of(folder.file("none")) == folder.file("none") + " does not exist; give a run folder, a checkpoint or a trainer_state.json.");
  CHECK(fault_of(folder.file("run")) == folder.file("run") + " holds no trainer_state.json, nor does its newest checkpoint; a run writes it when it saves and when it ends.");
  CHECK(fault_of(folder.file("empty.json", text_of({}))) == folder.file("empty.json") + ": its log history is empty; a run logs every --logging_steps updates.");
  CHECK(fault_of(folder.file("list.json", "[1]")) == folder.file("list.json") + ": holds no map; it must be the trainer_state.json of a checkpoint.");
  CHECK(fault_of(folder.file("torn.json", text_of(kRun.history).substr(0, 100))).find("torn.json") != std::string::npos);
  CHECK(fault_of(folder.file("odd.json", R"({"log_history": [3]})")).find("log_history") != std::string::npos);
}

TEST_CASE("logs: keys are found in their order; speeds are no columns and train_loss is no curve") {
  const Words logged = logged_keys({kRun});
  CHECK(logged == Words{"loss", "grad_norm", "learning_rate", "eval_loss", "eval_accuracy", "eval_runtime", "train_runtime", "train_loss", "total_flos"});
  CHECK(table_keys(logged) == Words{"loss", "grad_norm", "learning_rate", "eval_loss", "eval_accuracy", "train_loss"});
  CHECK(loss_keys(logged) == Words{"loss", "eval_loss"});
  check_keys({"loss", "eval_runtime"}, {kRun});
  CHECK_THROWS_WITH_AS(check_keys({"loss", "los"}, {{"a", {kRun.history[0]}}}), "--keys: no run has logged 'los'; they have logged loss, grad_norm, learning_rate.", ArgumentError);
}

TEST_CASE("logs: the table has one line a step, aligned") {
  CHECK(log_table(kRun, {"loss", "learning_rate", "eval_loss", "train_loss"}) ==
        "step  epoch    loss  learning_rate  eval_loss  train_loss\n"
        "  10    0.5  0.6931          5e-06     0.6123\n"
        "  20      1     0.5         0.0001                    0.6\n");
  CHECK(log_table(kRun, {"eval_loss"}) == "step  epoch  eval_loss\n  10    0.5     0.6123\n");  // lines without a number are left out
}

TEST_CASE("logs: a step that was logged twice with other numbers has two lines, and one point") {
  const RunLogs resumed = {"r", {{{"loss", 2.0}, {"step", 10}}, {{"loss", 3.0}, {"step", 20}}, {{"loss", 4.0}, {"step", 20}}, {{"note", "text"}, {"step", 30}}, {{"loss", 1.0}}}};
  CHECK(log_table(resumed, {"loss"}) == "step  epoch  loss\n  10            2\n  20            3\n  20            4\n                1\n");
  const std::vector<Curve> curves = curves_of({resumed}, {"loss", "note"});
  REQUIRE(curves.size() == 1);
  CHECK(curves[0].points == std::vector<std::pair<double, double>>{{10, 2}, {20, 4}});
}

TEST_CASE("curves: one run's bear the key, several runs' the run too; numbers that no axis holds are left out") {
  const double inf = std::numeric_limits<double>::infinity();
  const RunLogs other = {"b", {{{"loss", inf}, {"step", 1}}, {{"loss", -1e301}, {"step", 2}}, {{"loss", std::nan("")}, {"step", 3}}, {{"loss", 0.25}, {"step", 4}}}};
  CHECK(curves_of({kRun}, {"loss", "eval_loss"})[1].name == "eval_loss");
  const std::vector<Curve> both = curves_of({kRun, other}, {"loss", "eval_loss"});
  REQUIRE(both.size() == 3);
  CHECK(both[0].name == "out: loss");
  CHECK(both[1].name == "out: eval_loss");
  CHECK(both[2].name == "b: loss");
  CHECK(both[2].points == std::vector<std::pair<double, double>>{{4, 0.25}});
}

TEST_CASE("axis: ticks are round and hold the data") {
  CHECK(labels(round_axis(0, 506, 8, true)) == Words{"0", "100", "200", "300", "400", "500", "600"});
  CHECK(labels(round_axis(0.3487, 0.6931, 5)) == Words{"0.3", "0.4", "0.5", "0.6", "0.7"});
  CHECK(labels(round_axis(0.6, 0.7, 1)) == Words{"0.6", "0.7"});  // ends of the data that are ticks stay the ends
  CHECK(labels(round_axis(1e-6, 2e-5, 4)) == Words{"0", "5e-06", "1e-05", "1.5e-05", "2e-05"});
  CHECK(labels(round_axis(-3, 4, 5)) == Words{"-4", "-2", "0", "2", "4"});
  CHECK(labels(round_axis(0, 3, 8, true)) == Words{"0", "1", "2", "3"});
  CHECK(labels(round_axis(0, 3e9, 3)) == Words{"0", "1e+09", "2e+09", "3e+09"});
}

TEST_CASE("axis: any two numbers have one, equal ones too") {
  for (const double low : {-1e300, -2.5, -1e-300, 0.0, 1e-12, 0.5, 0.1 + 0.2, 7e5, 1e300}) {
    for (const double high : {-1e300, -1e-300, 0.0, 1e-12, 0.3, 0.5, 8e5, 1e300}) {
      if (high < low) continue;
      CAPTURE(low);
      CAPTURE(high);
      const Axis axis = round_axis(low, high, 5);
      CHECK(axis.count >= 1);
      CHECK(axis.count <= 7);
      CHECK(axis.share(low) >= -1e-6);
      CHECK(axis.share(high) <= 1 + 1e-6);
    }
  }
  CHECK(labels(round_axis(0.5, 0.5, 5)) == Words{"0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8"});
}
