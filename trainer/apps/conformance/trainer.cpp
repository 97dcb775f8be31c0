// trainer/apps/conformance/trainer.cpp — trainer cases: whole runs against the reference's, their log, events, folders, weights and resumption.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "nn/auto.h"
#include "nn/state.h"
#include "tensor/file.h"
#include "tensor/hash.h"
#include "tensor/safetensors.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/apps/conformance/runs.h"
#include "trainer/callbacks.h"
#include "trainer/json_text.h"
#include "trainer/metrics.h"
#include "trainer/progress.h"
#include "trainer/python_text.h"
#include "trainer/trainer.h"

namespace rote::conformance {

namespace fs = std::filesystem;

namespace {

struct Case {
  fs::path data;  // where init/, dataset.json and final.safetensors lie
  Value json;
};

// What is wrong with a case, in one line.
struct Wrong {
  std::string text;
};
void expect(bool holds, const std::string& text) {
  if (!holds) throw Wrong{text};
}

const Value& at(const Value& map, const std::string& name) {
  static const Value none;
  const Value* found = map.as_map() ? map.as_map()->find(name) : nullptr;
  return found ? *found : none;
}
std::string text_at(const Value& map, const std::string& name) { return at(map, name).as_text() ? *at(map, name).as_text() : ""; }
double number_of(const Value& value, const std::string& what) {
  double number = 0;
  expect(value.number(number), what + ": is no number");
  return number;
}
Value read_json(const fs::path& file) { return parse_json(read_file(file.string()), file.string()); }

std::vector<std::string> texts_of(const Value& list) {
  std::vector<std::string> out;
  for (const Value& item : *list.as_list()) out.push_back(*item.as_text());
  return out;
}
std::vector<std::string> keys_of(const ValueMap& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

// Labels that are a list of whole numbers are those of tokens: padded with -100.
nn::Batch collate(const std::vector<data::Example>& examples, int64_t pad_token_id) {
  std::vector<data::Example> padded = examples;
  size_t longest = 0;
  for (const data::Example& example : examples) longest = std::max(longest, data::find(example, "labels")->whole.size());
  for (data::Example& example : padded)
    for (auto& [name, feature] : example)
      if (name == "labels" && !feature.is_single && !feature.is_fraction) feature.whole.resize(longest, -100);
  return data::PadCollator(data::PadOptions{.pad_token_id = pad_token_id})(padded);
}

Metrics accuracy_of(const EvalPrediction& prediction) {
  const Tensor& logits = prediction.predictions.at(0);
  Labels predicted, labels;
  for (int64_t row = 0; row < logits.size(0); ++row) {
    const float* x = logits.data<float>() + row * logits.size(1);
    predicted.push_back(std::max_element(x, x + logits.size(1)) - x);
    labels.push_back(prediction.label_ids.data<int64_t>()[row]);
  }
  return {{"accuracy", accuracy(predicted, labels)}};
}

// One process of a case: a new model from its checkpoint, a Trainer that prints nothing, the events as name@global_step.
struct Process {
  std::unique_ptr<nn::Model> model;
  std::unique_ptr<Trainer> trainer;
  std::vector<std::string> events;

  Process(const Case& c, const data::Dataset& train, const data::Dataset& eval, const fs::path& output_dir) {
    model = std::move(nn::load_model(text_at(c.json, "class"), (c.data / "init").string()).model);
    TrainingArguments args = from_map<TrainingArguments>(*at(c.json, "args").as_map());
    args.output_dir = output_dir.string();
    args.disable_tqdm = true;
    TrainerOptions options;
    options.train_dataset = &train;
    options.eval_dataset = &eval;
    options.data_collator = [pad = *at(c.json, "pad_token_id").as_int()](const std::vector<data::Example>& examples) { return collate(examples, pad); };
    if (text_at(c.json, "compute_metrics") == "accuracy") options.compute_metrics = accuracy_of;
    if (const Value& stop = at(c.json, "early_stopping"); stop.as_map() != nullptr) {
      EarlyStopping stopping{.patience = *at(stop, "early_stopping_patience").as_int()};
      at(stop, "early_stopping_threshold").number(stopping.threshold);
      options.callbacks = {callback<EarlyStoppingCallback>(stopping)};
    }
    trainer = std::make_unique<Trainer>(*model, args, std::move(options));
    trainer->remove_callback<PrinterCallback>();
    const WordList names = words_of(Event{});
    for (size_t i = 0; i < names.size(); ++i)
      trainer->on(static_cast<Event>(i), [this, name = names[i]](const TrainerState& state, TrainerControl&) { events.push_back(str(name, "@", state.global_step)); });
  }
};

bool is_timed(const std::string& key) { return key.ends_with("_runtime") || key.ends_with("_per_second"); }

// Of a resumed run the earlier keys are in the order of the file, and train_loss is of its own updates.
void check_history(const std::vector<Logs>& history, const Value& wanted, const Value& rtol, bool is_resumed) {
  expect(history.size() == wanted.as_list()->size(), str("log_history: has ", history.size(), " entries, expected ", wanted.as_list()->size()));
  for (size_t i = 0; i < history.size(); ++i) {
    const ValueMap& expected = *(*wanted.as_list())[i].as_map();
    ValueMap got;
    for (const auto& [key, value] : history[i])
      if (!is_timed(key)) got.set(key, value);
    std::vector<std::string> keys = keys_of(got), expected_keys = keys_of(expected);
    if (is_resumed) {
      std::sort(keys.begin(), keys.end());
      std::sort(expected_keys.begin(), expected_keys.end());
    }
    expect(keys == expected_keys, str("log ", i, ": has ", joined(keys, " "), ", expected ", joined(expected_keys, " ")));
    for (const auto& [key, value] : expected) {
      if (key == "train_loss" && is_resumed) continue;
      const double y = number_of(*got.find(key), key), reference = number_of(value, key);
      double tolerance = 0;  // of what is counted
      at(rtol, key).number(tolerance);
      expect(std::abs(y - reference) <= tolerance * std::max(std::abs(reference), 1e-3), str("log ", i, ": ", key, " is ", y, ", expected ", reference));
    }
  }
}

void check_weights(const nn::Model& model, const Case& c, const Value& bounds) {
  const std::map<std::string, Tensor> final = load_safetensors((c.data / "final.safetensors").string());
  for (const auto& [name, param] : nn::state_dict(model)) {
    const double rtol = number_of(at(at(bounds, name), "rtol"), name), atol = number_of(at(at(bounds, name), "atol"), name);
    const auto reference = final.find(name);
    expect(reference != final.end() && reference->second.shape() == param.shape(), name + ": final.safetensors has none of its shape");
    const float *y = param.data<float>(), *want = reference->second.data<float>();
    for (int64_t i = 0; i < param.numel(); ++i)
      expect(std::abs(y[i] - want[i]) <= atol + rtol * std::abs(want[i]), str(name, "[", i, "]: is ", y[i], ", expected ", want[i]));
  }
}

void check_state(const TrainerState& state, const Value& expected) {
  const ValueMap got = to_map(state);
  for (const char* key : {"global_step", "max_steps", "num_train_epochs", "best_global_step", "num_input_tokens_seen"})
    expect(*got.find(key) == at(expected, key), str(key, ": is ", json_text(*got.find(key)), ", expected ", json_text(at(expected, key))));
  for (const char* key : {"epoch", "total_flos"}) {
    const double y = number_of(*got.find(key), key), reference = number_of(at(expected, key), key);
    expect(y == reference, str(key, ": is ", y, ", expected ", reference));
  }
  const std::string best = state.best_model_checkpoint ? fs::path(*state.best_model_checkpoint).filename().string() : "";
  expect(best == text_at(expected, "best_model_checkpoint"), str("best_model_checkpoint: is ", best, ", expected ", text_at(expected, "best_model_checkpoint")));
}

void run_case(const Case& c) {
  const Scratch scratch;
  const Value rows = read_json(c.data / "dataset.json");
  const data::ListDataset train = rows_of(at(rows, "train")), eval = rows_of(at(rows, "eval"));
  const Value& expected = at(c.json, "expect");
  const fs::path output_dir = scratch.path / "whole";
  Process whole(c, train, eval, output_dir);
  whole.trainer->train();
  check_history(whole.trainer->state().log_history, at(expected, "log_history_ref"), at(expected, "rtol"), false);
  const std::string events = "init_end@0 " + joined(whole.events, " "), wanted_events = joined(texts_of(at(expected, "events")), " ");
  expect(events == wanted_events, str("events: ", events, ", expected ", wanted_events));
  check_state(whole.trainer->state(), expected);
  check_weights(*whole.model, c, at(expected, "final"));
  std::vector<std::string> kept;
  for (const fs::path& folder : checkpoints_in(output_dir)) kept.push_back(folder.filename().string());
  expect(kept == texts_of(at(expected, "checkpoints_kept")), str("checkpoints: ", joined(kept, " "), ", expected ", joined(texts_of(at(expected, "checkpoints_kept")), " ")));

  const Value& resume = at(c.json, "resume");
  if (resume.as_map() == nullptr) return;
  Process part(c, train, eval, scratch.path / "part");
  part.trainer->train({.resume_from_checkpoint = (output_dir / str("checkpoint-", *at(resume, "from_step").as_int())).string()});
  check_history(part.trainer->state().log_history, at(expected, "log_history_ref"), at(expected, "rtol"), true);
  const double loss = part.trainer->state().last("train_loss"), wanted_loss = number_of(at(resume, "train_loss"), "train_loss");
  expect(std::abs(loss - wanted_loss) <= 1e-5 * std::abs(wanted_loss), str("resumed: train_loss is ", loss, ", expected ", wanted_loss));
  expect(hash_tensors(nn::state_dict(*part.model)) == hash_tensors(nn::state_dict(*whole.model)), "resumed: the weights have other bits than those of the whole run");
  const std::string resumed_events = "init_end@0 " + joined(part.events, " "), wanted_resumed = joined(texts_of(at(resume, "events")), " ");
  expect(resumed_events == wanted_resumed, str("resumed: events ", resumed_events, ", expected ", wanted_resumed));
}

}  // namespace

void run_trainer(const fs::path& path, Report& report) {
  for (const fs::path& file : case_files(path, "case.json")) {
    Case c{file.parent_path(), read_json(file)};
    const std::string id = text_at(c.json, "id");
    if (!report.wants("trainer", id)) continue;
    if (const std::string same = text_at(c.json, "same_as"); !same.empty()) c.data = c.data.parent_path() / same;
    if (!nn::has_model(text_at(c.json, "class"))) {
      report.skip(id, "no model " + text_at(c.json, "class"));
      continue;
    }
    try {
      run_case(c);
      report.pass(id);
    } catch (const Wrong& wrong) {
      report.fail(id, wrong.text);
    } catch (const std::exception& fault) {
      report.fail(id, fault.what());
    }
  }
}

}  // namespace rote::conformance
