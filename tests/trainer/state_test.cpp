// tests/trainer/state_test.cpp — TrainerState: its file byte for byte, reading it back, intervals.
#include <doctest/doctest.h>

#include <cmath>

#include "kernels/check.h"
#include "tests/trainer/cases.h"
#include "trainer/arguments.h"
#include "trainer/callbacks.h"
#include "trainer/state.h"

using namespace rote;
using namespace rote::testing;

TEST_CASE("state: a new one as transformers 5.24 saves it") {
  CHECK(TrainerState{}.to_json() == R"({
  "best_global_step": null,
  "best_metric": null,
  "best_model_checkpoint": null,
  "epoch": 0,
  "eval_steps": 500,
  "global_step": 0,
  "is_hyper_param_search": false,
  "is_local_process_zero": true,
  "is_world_process_zero": true,
  "log_history": [],
  "logging_steps": 500,
  "max_steps": 0,
  "num_input_tokens_seen": 0,
  "num_train_epochs": 0,
  "save_steps": 500,
  "stateful_callbacks": {},
  "total_flos": 0,
  "train_batch_size": null,
  "trial_name": null,
  "trial_params": null
}
)");
}

TEST_CASE("state: what was saved is read back, non-finite numbers too") {
  TrainerState state{.epoch = 0.1 + 0.2,
                     .global_step = 3,
                     .max_steps = 9,
                     .total_flos = 123456789.0,
                     .best_metric = 0.875,
                     .best_model_checkpoint = "out/checkpoint-3"};
  state.log_history = {{{"loss", INFINITY}, {"step", 1}}, {{"loss", 0.5}, {"epoch", 1.0}, {"step", 2}}};
  state.stateful_callbacks.set("TrainerControl", ValueMap{{"args", ValueMap{}}, {"attributes", ValueMap{}}});
  const TempFolder folder;
  const std::string path = folder.file("trainer_state.json");
  state.save_to_json(path);
  CHECK(read_text(path) == state.to_json());
  const LoadedState loaded = load_state_from_json(path);
  CHECK(loaded.state.to_json() == state.to_json());
  CHECK(loaded.unknown_keys.empty());
  CHECK(loaded.state.epoch == 0.1 + 0.2);
  CHECK(loaded.state.last("loss") == 0.5);
}

TEST_CASE("state: missing keys take defaults, unknown ones are told, wrong ones are refused") {
  const LoadedState loaded = parse_state("{\"global_step\": 7, \"new_key\": 1}", "s.json");
  CHECK(loaded.state.global_step == 7);
  CHECK(loaded.state.save_steps == 500);
  CHECK(loaded.unknown_keys == std::vector<std::string>{"new_key"});
  CHECK_THROWS_WITH_AS(parse_state("{\"global_step\": \"7\"}", "s.json"), "s.json: global_step: got '7'; it must be a whole number.", ArgumentError);
  CHECK_THROWS_AS(parse_state("[]", "s.json"), ArgumentError);
  CHECK_THROWS_WITH_AS(load_state_from_json("/nowhere/trainer_state.json"),
                       "/nowhere/trainer_state.json: could not be read; a checkpoint that can be resumed has this file.", IoError);
  CHECK_THROWS_AS(TrainerState{}.save_to_json("/nowhere/trainer_state.json"), IoError);
}

TEST_CASE("state: the last number under a key, NaN where there is none") {
  TrainerState state;
  CHECK(std::isnan(state.last("eval_loss")));
  state.log_history = {{{"eval_loss", 1.5}}, {{"eval_loss", 1.25}, {"name", "x"}}, {{"loss", 3}}};
  CHECK(state.last("eval_loss") == 1.25);
  CHECK(state.last("loss") == 3);
  CHECK(std::isnan(state.last("name")));
}

TEST_CASE("state: shares of a run become updates, rounded up") {
  TrainerState state;
  state.compute_steps(TrainingArguments{.logging_steps = 0.3, .save_steps = 12}, 15);
  CHECK(state.logging_steps == 5);
  CHECK(state.eval_steps == 500);
  CHECK(state.save_steps == 12);
  state.compute_steps(TrainingArguments{.eval_steps = 0.5, .save_steps = 0}, 15);
  CHECK(state.eval_steps == 8);
  CHECK(state.save_steps == 0);
}

TEST_CASE("state: the shared cases, byte for byte") {
  const ValueMap file = shared_cases("text/text.json");
  if (file.empty()) return;  // skipped
  int64_t compared = 0;
  for (const Value& c : *file.find("cases")->as_list()) {
    if (text_at(c, "kind") != "trainer_state") continue;
    CAPTURE(text_at(c, "id"));
    TrainerState state = from_map<TrainerState>(*at(c, "state").as_map());
    if (const ValueList* callbacks = at(c, "callbacks").as_list(); callbacks && !callbacks->empty()) {
      CallbackHandler handler;
      TrainerControl control;
      bool has_control = false;
      for (const Value& callback : *callbacks) {
        if (text_at(callback, "class") == "TrainerControl") {
          control = from_map<TrainerControl>(*at(callback, "args").as_map());
          has_control = true;
          continue;
        }
        auto stopping = std::make_shared<EarlyStoppingCallback>();
        stopping->restore({*at(callback, "args").as_map(), *at(callback, "attributes").as_map()});
        handler.add(stopping);
      }
      state.stateful_callbacks = handler.exported(control);
      if (!has_control) state.stateful_callbacks.erase("TrainerControl");
    }
    CHECK(state.to_json() == text_at(at(c, "expect"), "file"));
    ++compared;
  }
  CHECK(compared == 16);
}
