// tests/logs_app_test.cpp — `rote logs` from the shell: tables, plots and SVG of runs that were made, and what it refuses.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/app.h"

namespace rote::testing {

namespace {

constexpr const char* kHistory =
    R"({"log_history": [{"loss": 1.0, "learning_rate": 5e-05, "epoch": 0.5, "step": 10}, {"eval_loss": 0.75, "epoch": 0.5, "step": 10}, {"loss": 0.5, "learning_rate": 0.0, "epoch": 1.0, "step": 20}]})";

}  // namespace

TEST_CASE("rote logs: the table of a run that was just made") {
  const AppFolder app;
  REQUIRE(app.train("out", "--validation_file test.tsv --logging_steps 5 --eval_strategy epoch --disable_tqdm true").status == 0);
  const AppResult table = app.rote("logs out");
  CHECK(table.status == 0);
  CHECK(table.err == "");
  const std::vector<std::string> lines = lines_of(table.out);
  REQUIRE(lines.size() == 5);  // steps 5, 6, 10, 12 of 12 updates
  for (const char* column : {"step", "epoch", "loss", "grad_norm", "learning_rate", "eval_loss", "eval_accuracy", "train_loss"}) CHECK(contains(lines[0], column));
  CHECK_FALSE(contains(table.out, "_per_second"));
  CHECK(lines[1].rfind("   5 ", 0) == 0);
  CHECK(lines[4].rfind("  12 ", 0) == 0);
}

TEST_CASE("rote logs: --keys chooses columns, several runs have a table each") {
  const AppFolder app;
  app.folder.file("a.json", kHistory);
  CHECK(app.rote("logs --keys loss,eval_loss a.json").out == "step  epoch  loss  eval_loss\n  10    0.5     1       0.75\n  20      1   0.5\n");
  CHECK(app.rote("logs a.json a.json --keys eval_loss").out == "a.json:\nstep  epoch  eval_loss\n  10    0.5       0.75\n\na.json:\nstep  epoch  eval_loss\n  10    0.5       0.75\n");
}

TEST_CASE("rote logs: --plot draws the losses of all runs; the width is given or 80") {
  const AppFolder app;
  app.folder.file("a.json", kHistory);
  const AppResult plot = app.rote("logs a.json --plot");
  CHECK(plot.status == 0);
  const std::vector<std::string> lines = lines_of(plot.out);
  REQUIRE(lines.size() == 20);
  CHECK(lines[16].size() == 80);
  CHECK(contains(lines[18], "* loss"));
  CHECK(contains(lines[19], "o eval_loss"));
  CHECK(lines_of(app.rote("logs a.json --plot --width 50").out)[16].size() == 50);
  const AppResult two = app.rote("logs a.json out.json --plot --keys loss", "cp a.json out.json");
  CHECK(contains(two.out, "* a.json: loss\n"));
  CHECK(contains(two.out, "o out.json: loss\n"));
}

TEST_CASE("rote logs: --svg writes one file and says nothing") {
  const AppFolder app;
  app.folder.file("a.json", kHistory);
  const AppResult drawn = app.rote("logs --svg curves.svg a.json");
  CHECK(drawn.status == 0);
  CHECK(drawn.out == "");
  const std::string svg = read_text(app.file("curves.svg"));
  CHECK(svg.rfind("<svg ", 0) == 0);
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(contains(svg, ">eval_loss</text>"));
}

TEST_CASE("rote logs: a flag before a run leaves the run alone, and names move no cursor") {
  const AppFolder app;
  app.folder.file("a.json", kHistory);
  const std::string curves = app.rote("logs a.json --plot --width 60").out;
  CHECK(curves != "");
  CHECK(app.rote("logs --width 60 --plot a.json").out == curves);
  CHECK(app.rote("logs --width 60 --plot yes a.json").out == curves);
  CHECK(app.rote("logs --plot no a.json").out == app.rote("logs a.json").out);
  CHECK(app.rote("hash --all model").out == app.rote("hash model --all").out);
  app.folder.file("odd.json", "{\"log_history\": [{\"lo\\u001b[2Jss\\u007f\": 0.5, \"step\": 1}]}");
  const AppResult odd = app.rote("logs odd.json");
  CHECK_MESSAGE(contains(odd.out, "lo?[2Jss?"), odd.err);
}

TEST_CASE("rote logs: what cannot be shown ends with exit code 2 and one sentence; no file is made") {
  const AppFolder app;
  app.folder.file("a.json", kHistory);
  app.folder.file("none.json", R"({"log_history": [{"eval_accuracy": 0.5, "step": 1}]})");
  app.folder.file("torn.json", R"({"log_history": [{"loss")");
  struct Row {
    std::string words, part;
  };
  const Row table[] = {
      {"", "no run; give a run folder, a checkpoint or a trainer_state.json."},
      {"missing", "missing does not exist; give a run folder, a checkpoint or a trainer_state.json."},
      {"model", "model holds no trainer_state.json, nor does its newest checkpoint; a run writes it when it saves and when it ends."},
      {"torn.json", "torn.json: "},
      {"--keys los a.json", "--keys: no run has logged 'los'; they have logged loss, learning_rate, eval_loss."},
      {"none.json --plot", "no curve: none.json has logged no finite loss with its step; --keys names other numbers."},
      {"a.json --plot --width 10", "--width: is 10; it must be at least 40 and below 1001."},
      {"--svg none/curves.svg a.json", "write none/curves.svg: No such file or directory."},
  };
  for (const Row& row : table) {
    CAPTURE(row.words);
    const AppResult refused = app.rote("logs --svg x.svg " + row.words);
    CHECK(refused.status == 2);
    CHECK(refused.out == "");
    CHECK(lines_of(refused.err).size() == 1);
    CHECK_MESSAGE(contains(refused.err, "rote logs: " + row.part), refused.err);
    CHECK_FALSE(std::filesystem::exists(app.file("x.svg")));
  }
}

}  // namespace rote::testing
