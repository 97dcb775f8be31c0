// tests/rerun_app_test.cpp — manifest.json says what a run was made from, and `rote rerun` makes it again.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>

#include "tests/app.h"
#include "trainer/json_text.h"
#include "trainer/value.h"

namespace rote::testing {

namespace {

ValueMap manifest_of(const AppFolder& app, const std::string& run) { return *parse_json(read_text(app.file(run + "/manifest.json")), run).as_map(); }

std::string text_at(const ValueMap& map, const char* group, const char* name) { return *map.find(group)->as_map()->find(name)->as_text(); }

}  // namespace

TEST_CASE("manifest: command, inputs, machine and the hashes of start and end") {
  const AppFolder app;
  REQUIRE(app.train("run", "--validation_file test.tsv --num_threads 2 --hub_token hf_secret --push-to-hub-token=hf_other").status == 0);
  const ValueMap manifest = manifest_of(app, "run");
  const ValueList& command = *manifest.find("command")->as_list();
  CHECK(*command[0].as_text() == "--model_name_or_path");
  CHECK(*manifest.find("folder")->as_text() == std::filesystem::canonical(app.folder.path()).string());
  CHECK(*manifest.find("contract")->as_text() == "AC-1");
  CHECK(text_at(manifest, "machine", "threads") == "2");
  CHECK(text_at(manifest, "end", "hash") == app.hash("run"));
  CHECK(text_at(manifest, "start", "hash") != app.hash("run"));
  const std::string date = text_at(manifest, "end", "date");
  CHECK(date.size() == 20);
  CHECK(date >= text_at(manifest, "start", "date"));
  CHECK(text_at(manifest, "inputs", "model") == app.hash("model"));
  CHECK(text_at(manifest, "inputs", "train.tsv") == run_command("sha256sum '" + app.file("train.tsv") + "'").output.substr(0, 64));
  for (const char* file : {"test.tsv", "model/config.json", "model/tokenizer.json"}) CHECK(text_at(manifest, "inputs", file).size() == 64);
  double rate = 0;
  CHECK(manifest.find("arguments")->as_map()->find("training")->as_map()->find("learning_rate")->number(rate));
  CHECK(rate == 1e-2);
  const std::string text = read_text(app.file("run/manifest.json"));
  CHECK_FALSE(contains(text, "hf_"));
  CHECK(contains(text, "\"--push-to-hub-token=<TOKEN>\""));
}

TEST_CASE("manifest: faults of arguments leave none") {
  const AppFolder app;
  CHECK(app.train("run", "--resume_from_checkpoint nowhere").status == 2);
  CHECK_FALSE(std::filesystem::exists(app.file("run/manifest.json")));
}

TEST_CASE("rote rerun: the run is made again, elsewhere and with other threads, to the same hash") {
  const AppFolder app;
  REQUIRE(app.train("run", "--num_threads 1").status == 0);
  const AppResult again = app.rote("rerun run/");
  CHECK(again.status == 0);
  CHECK(lines_of(again.out).back() == "equal: " + app.hash("run"));
  CHECK(app.hash("run-rerun") == app.hash("run"));
  const AppResult there = app.rote("rerun run"), elsewhere = app.rote("rerun '" + app.file("run") + "' --output_dir '" + app.file("third") + "'", "cd /");
  CHECK(there.status == 2);
  CHECK(there.err == "rote rerun: --output_dir: run-rerun is there already; name a new folder.\n");
  CHECK(elsewhere.status == 0);
}

TEST_CASE("rote rerun: what has changed since is named with both hashes, and another result is exit code 1") {
  const AppFolder app;
  REQUIRE(app.train("run").status == 0);
  const std::string rows = read_text(app.file("train.tsv")), manifest = read_text(app.file("run/manifest.json"));
  const std::string before = text_at(manifest_of(app, "run"), "inputs", "train.tsv");
  app.folder.file("train.tsv", tiny_rows(23));
  const AppResult changed = app.rote("rerun run");
  CHECK(changed.status == 2);
  CHECK(changed.err == "rote rerun: train.tsv has changed since the run: its hash was " + before + ", it is " +
                           run_command("sha256sum '" + app.file("train.tsv") + "'").output.substr(0, 64) + "; put it back as it was.\n");
  CHECK_FALSE(std::filesystem::exists(app.file("run-rerun")));
  app.folder.file("train.tsv", rows);

  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = manifest;
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    app.folder.file("run/manifest.json", text.replace(at, from.size(), to));
  };
  with("\"AC-1\"", "\"AC-0\"");
  const AppResult retired = app.rote("rerun run");
  CHECK(retired.status == 2);
  CHECK(retired.err == "rote rerun: run was made under the contract AC-0 by rote 0.1.0, this one keeps AC-1; check out the tag v0.1.0 and make it again with that.\n");
  const std::string hash = app.hash("run"), other(64, '0');
  with("\"hash\": \"" + hash + "\"", "\"hash\": \"" + other + "\"");
  const AppResult differ = app.rote("rerun run");
  CHECK(differ.status == 1);
  CHECK(lines_of(differ.out).back() == "differ: " + other + " in run, " + hash + " in run-rerun");
  for (const char* broken : {"", "[]", "{}", "{\"folder\": 1}"}) {
    app.folder.file("run/manifest.json", broken);
    CHECK(app.rote("rerun run --output_dir new").status == 2);
  }
  CHECK(app.rote("rerun model").err == "rote rerun: " + std::filesystem::canonical(app.file("model")).string() + " holds no manifest.json; give the --output_dir of a run of rote train.\n");
}

TEST_CASE("manifest: a run that goes on keeps its beginning and adds what has changed") {
  const AppFolder app;
  REQUIRE(app.train("run", "--save_strategy steps --save_steps 4 --num_threads 1").status == 0);
  const ValueMap first = manifest_of(app, "run");
  std::filesystem::remove_all(app.file("run/checkpoint-12"));
  REQUIRE(app.train("run", "--save_strategy steps --save_steps 4 --num_threads 2 --resume_from_checkpoint true").status == 0);
  const ValueMap second = manifest_of(app, "run");
  for (const char* kept : {"command", "machine", "start", "inputs", "arguments"}) CHECK(*second.find(kept) == *first.find(kept));
  const ValueMap& resumed = *(*second.find("resumed")->as_list())[0].as_map();
  CHECK(text_at(resumed, "machine", "threads") == "2");
  CHECK(resumed.find("command") != nullptr);
  CHECK(resumed.find("inputs") == nullptr);
  CHECK(text_at(second, "end", "hash") == text_at(first, "end", "hash"));
  CHECK(app.rote("rerun run").status == 0);
}

}  // namespace rote::testing
