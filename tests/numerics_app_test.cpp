// tests/numerics_app_test.cpp — `rote train --log_numerics`, `rote numerics` and --on_nonfinite from the shell.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/app.h"

namespace rote::testing {

TEST_CASE("rote numerics: the table of a run that was just made in fp16; its weights are those without") {
  const AppFolder app;
  REQUIRE(app.train("plain", "--fp16 --logging_steps 4").status == 0);
  const AppResult made = app.train("out", "--fp16 --logging_steps 4 --log_numerics");
  REQUIRE_MESSAGE(made.status == 0, made.err);
  CHECK(app.hash("out") == app.hash("plain"));
  CHECK_FALSE(contains(made.out, "headroom"));
  const AppResult table = app.rote("numerics out");
  CHECK(table.status == 0);
  CHECK(table.err == "");
  const std::vector<std::string> lines = lines_of(table.out);
  REQUIRE(lines.size() > 20);
  for (const char* column : {"module", "what", "dtype", "amax", "headroom", "underflow", "step"}) CHECK(contains(lines[0], column));
  CHECK(contains(lines.back(), "(3 lines, of steps 4 to 12)."));
  const std::string all = app.rote("numerics out/numerics.jsonl --rows 0").out;
  for (const char* part : {"bert.encoder.layer.0.attention.self.query", "activations", "gradients", "weights", " f16 ", " f32 "}) CHECK_MESSAGE(contains(all, part), part);
  CHECK(contains(app.rote("numerics out --near 0").out, "No module comes within 0 bits"));
}

TEST_CASE("rote numerics: what it cannot show ends with exit code 2 and one sentence") {
  const AppFolder app;
  app.folder.file("torn.jsonl", "{\"step\"\n");
  struct Row {
    std::string words, part;
  };
  const Row table[] = {
      {"", "no run; give the folder of a run that was made with --log_numerics true."},
      {"model model", "more than one run; give the folder"},
      {"missing", "missing does not exist; give a run folder or its numerics.jsonl."},
      {"model", "model holds no numerics.jsonl; a run with --log_numerics true writes it."},
      {"torn.jsonl", "torn.jsonl:1: "},
      {"model --near -1", "--near: is -1.0; it must be at least 0"},
      {"model --rows x", "--rows: "},
  };
  for (const Row& row : table) {
    CAPTURE(row.words);
    const AppResult refused = app.rote("numerics " + row.words);
    CHECK(refused.status == 2);
    CHECK(refused.out == "");
    CHECK(lines_of(refused.err).size() == 1);
    CHECK_MESSAGE(contains(refused.err, "rote numerics: " + row.part), refused.err);
  }
}

TEST_CASE("rote train: --on_nonfinite from the shell, and what is wrong with it") {
  const AppFolder app;
  const AppResult wrong = app.train("none", "--on_nonfinite ignore --max_nonfinite_steps -1");
  CHECK(wrong.status == 2);
  CHECK_MESSAGE(contains(wrong.err, "--on_nonfinite: "), wrong.err);
  CHECK_MESSAGE(contains(wrong.err, "--max_nonfinite_steps: is -1; "), wrong.err);
  CHECK_FALSE(std::filesystem::exists(app.file("none")));
  const AppResult made = app.train("out", "--on_nonfinite halve --logging_steps 4 --disable_tqdm true");
  REQUIRE_MESSAGE(made.status == 0, made.err);
  CHECK_MESSAGE(contains(made.out, "'nonfinite_steps': 0, 'learning_rate_factor': '1'"), made.out);
  REQUIRE(app.train("plain").status == 0);
  CHECK(app.hash("out") == app.hash("plain"));
}

}  // namespace rote::testing
