// tests/replay_app_test.cpp — `rote replay` makes an update again from a checkpoint or from the start, and names the op and element where two runs part.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/app.h"

namespace rote::testing {

TEST_CASE("rote replay: an update made again is equal, from its nearest checkpoint and from the start, at each level") {
  const AppFolder app;
  REQUIRE(app.train("run", "--trace_hashes ops --save_strategy steps --save_steps 4 --num_threads 1").status == 0);
  REQUIRE(app.train("coarse", "--trace_hashes steps").status == 0);
  for (const char* step : {"1", "5", "12"}) {
    const AppResult again = app.rote(str("replay run --step ", step));
    CAPTURE(step);
    CHECK(again.status == 0);
    CHECK(again.out == str("equal: ", std::string(step) == "12" ? "4 steps" : "1 step", ", by hashes of level ops\n"));
  }
  CHECK(app.rote("replay coarse --step 3").out == "equal: 3 steps, by hashes of level steps\n");
  // From another folder, and with the run named by its whole path.
  CHECK(app.rote("replay '" + app.file("run") + "' --step 6", "cd /").out == "equal: 2 steps, by hashes of level ops\n");
}

TEST_CASE("rote replay: two runs that part are told by op, element, values and distance") {
  const AppFolder app;
  REQUIRE(app.train("a", "--save_strategy steps --save_steps 4").status == 0);
  REQUIRE(app.train("b", "--save_strategy steps --save_steps 4 --weight_decay 1e-3").status == 0);
  const AppResult differ = app.rote("replay a --step 6 --against b");
  CHECK(differ.status == 1);
  CHECK(differ.out.starts_with("2 of 2 steps differ, as do the parameters that they begin with\nparameter bert.embeddings.word_embeddings.weight; the runs begin with other weights\n"
                               "f32[31,12]: "));
  CHECK(contains(differ.out, " elements differ, first at ["));
  CHECK(contains(differ.out, " ulp"));
  const AppResult equal = app.rote("replay a --step 1 --against b");
  CHECK(equal.out == "equal: 1 step, by hashes of level ops\n");
  CHECK(equal.status == 0);
}

TEST_CASE("rote replay: a trace that was not made by this run differs") {
  const AppFolder app;
  REQUIRE(app.train("a", "--trace_hashes ops").status == 0);
  REQUIRE(app.train("b", "--trace_hashes ops --data_seed 5").status == 0);
  std::filesystem::copy_file(app.file("b/trace.bin"), app.file("a/trace.bin"), std::filesystem::copy_options::overwrite_existing);
  const AppResult differ = app.rote("replay a --step 2");
  CHECK(differ.status == 1);
  CHECK(differ.out == "2 of 2 steps differ, the first is step 1\nbatch: input_ids; the data differ\n");
}

TEST_CASE("rote replay: a run without trace or manifest, and a step that there is not, are exit code 2") {
  const AppFolder app;
  REQUIRE(app.train("run", "--trace_hashes steps").status == 0);
  const AppResult late = app.rote("replay run --step 13"), none = app.rote("replay model --step 1"), lacking = app.rote("replay run");
  CHECK(late.status == 2);
  CHECK(contains(late.err, "run/trace.bin holds no step 13, its last one is 12; give one that it holds.\n"));
  CHECK(none.status == 2);
  CHECK(none.err == "rote replay: model holds no trace.bin; make the run with --trace_hashes, or give another one by --against.\n");
  CHECK(lacking.status == 2);
  std::filesystem::remove(app.file("run/manifest.json"));
  const AppResult bare = app.rote("replay run --step 1");
  CHECK(bare.status == 2);
  CHECK(contains(bare.err, "/run holds no manifest.json; give the --output_dir of a run of rote train.\n"));
}

}  // namespace rote::testing
