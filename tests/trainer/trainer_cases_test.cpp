// tests/trainer/trainer_cases_test.cpp — whole runs against the reference's: log, events, folders and final weights of the shared golden cases.
// Cases whose model or arguments are not built are passed over; the least number that must run is in the test.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "nn/auto.h"
#include "nn/state.h"
#include "tensor/safetensors.h"
#include "tests/support/compare.h"
#include "tests/trainer/cases.h"
#include "tests/trainer/small_run.h"
#include "trainer/metrics.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

struct Case {
  std::string folder, data;  // data: where init/, dataset.json and final.safetensors lie
  Value json;
};

data::Feature feature_of(const Value& value) {
  if (const int64_t* number = value.as_int()) return data::Feature::single(*number);
  if (const double* number = value.as_float()) return data::Feature::single(static_cast<float>(*number));
  std::vector<int64_t> whole;
  std::vector<float> fractions;
  for (const Value& item : *value.as_list()) {
    double number = 0;
    item.number(number);
    if (item.as_int() != nullptr) whole.push_back(*item.as_int());
    fractions.push_back(static_cast<float>(number));
  }
  return whole.size() == fractions.size() ? data::Feature::list(std::move(whole)) : data::Feature::list(std::move(fractions));
}

data::ListDataset rows_of(const Value& list) {
  std::vector<data::Example> rows;
  if (list.as_list() != nullptr)
    for (const Value& row : *list.as_list()) {
      data::Example example;
      for (const auto& [name, value] : *row.as_map()) example.emplace_back(name, feature_of(value));
      rows.push_back(std::move(example));
    }
  return data::ListDataset(std::move(rows));
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

// The arguments of the case, absent where one of them is not built.
std::optional<TrainingArguments> arguments_of(const Case& c, const std::string& output_dir) {
  try {
    TrainingArguments args = from_map<TrainingArguments>(*at(c.json, "args").as_map());
    args.output_dir = output_dir;
    args.disable_tqdm = true;
    return resolved(args);
  } catch (const ArgumentError&) {
    return {};
  }
}

// Of a resumed run the earlier keys are in the order of the file, and train_loss is of its own updates.
void check_history(const std::vector<Logs>& history, const Value& expected, const Value& rtol, bool is_resumed) {
  const std::vector<Logs> got = timeless(history);
  const ValueList& wanted = *expected.as_list();
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    if (is_resumed) CHECK(got[i].size() == wanted[i].as_map()->size());
    else CHECK(keys_of(got[i]) == keys_of(*wanted[i].as_map()));
    for (const auto& entry : *wanted[i].as_map()) {
      const std::string& key = entry.first;
      double reference = 0, tolerance = 0;
      entry.second.number(reference);
      at(rtol, key).number(tolerance);
      CAPTURE(key);
      if (key != "train_loss" || !is_resumed) CHECK(std::abs(number_at(got[i], key) - reference) <= tolerance * std::max(std::abs(reference), 1e-3));
    }
  }
}

void check_weights(nn::Model& model, const Case& c, const Value& expected) {
  const std::map<std::string, Tensor> final = load_safetensors(c.data + "/final.safetensors");
  for (const auto& entry : nn::state_dict(model)) {
    const std::string& name = entry.first;
    const Tensor& param = entry.second;
    CAPTURE(name);
    const Value& bound = at(expected, name);
    double rtol = 0, atol = 0;
    REQUIRE(at(bound, "rtol").number(rtol));
    REQUIRE(at(bound, "atol").number(atol));
    const float *got = param.data<float>(), *want = final.at(name).data<float>();
    int64_t wrong = 0;
    for (int64_t i = 0; i < param.numel(); ++i) wrong += !near(got[i], want[i], rtol, atol);
    CHECK(wrong == 0);
  }
}

std::vector<std::string> texts_of(const Value& list) {
  std::vector<std::string> out;
  for (const Value& item : *list.as_list()) out.push_back(*item.as_text());
  return out;
}

std::unique_ptr<SmallRun> start(const Case& c, const TrainingArguments& args, const data::ListDataset& train, const data::ListDataset& eval) {
  const int64_t pad_token_id = *at(c.json, "pad_token_id").as_int();
  SmallRunOptions options;
  options.model = std::move(nn::load_model(text_at(c.json, "class"), c.data + "/init").model);
  options.trainer.train_dataset = &train;
  options.trainer.eval_dataset = &eval;
  options.trainer.data_collator = [pad_token_id](const std::vector<data::Example>& examples) { return collate(examples, pad_token_id); };
  if (text_at(c.json, "compute_metrics") == "accuracy") options.trainer.compute_metrics = accuracy_of;
  if (const ValueMap* stop = at(c.json, "early_stopping").as_map()) {
    EarlyStopping stopping{.patience = *stop->find("early_stopping_patience")->as_int()};
    if (const Value* threshold = stop->find("early_stopping_threshold")) threshold->number(stopping.threshold);
    options.trainer.callbacks = {std::make_shared<EarlyStoppingCallback>(stopping)};
  }
  return std::make_unique<SmallRun>(args, std::move(options));
}

void check_state(const TrainerState& state, const Value& expected) {
  const ValueMap got = to_map(state);
  for (const char* key : {"global_step", "max_steps", "num_train_epochs", "best_global_step", "num_input_tokens_seen"}) {
    CAPTURE(key);
    CHECK(*got.find(key) == at(expected, key));
  }
  CHECK((state.best_model_checkpoint ? fs::path(*state.best_model_checkpoint).filename().string() : "") == text_at(expected, "best_model_checkpoint"));
}

void check_case(const Case& c, const TrainingArguments& args) {
  const Value rows = parse_json(read_text(c.data + "/dataset.json"), c.data);
  const data::ListDataset train = rows_of(at(rows, "train")), eval = rows_of(at(rows, "eval"));
  const Value& expected = at(c.json, "expect");
  const auto whole = start(c, args, train, eval);
  whole->train();
  check_history(whole->trainer->state().log_history, at(expected, "log_history_ref"), at(expected, "rtol"), false);
  CHECK("init_end@0 " + joined(whole->events) == joined(texts_of(at(expected, "events"))));
  check_state(whole->trainer->state(), expected);
  check_weights(*whole->model, c, at(expected, "final"));
  std::vector<std::string> kept;
  for (const fs::path& folder : checkpoints_in(args.output_dir)) kept.push_back(folder.filename().string());
  CHECK(joined(kept) == joined(texts_of(at(expected, "checkpoints_kept"))));

  const ValueMap* resume = at(c.json, "resume").as_map();
  if (resume == nullptr) return;
  const TempFolder elsewhere;
  TrainingArguments again = args;
  again.output_dir = elsewhere.path();
  const auto part = start(c, again, train, eval);
  part->train(str(args.output_dir, "/checkpoint-", *resume->find("from_step")->as_int()));
  check_history(part->trainer->state().log_history, at(expected, "log_history_ref"), at(expected, "rtol"), true);
  CHECK(near(number_at(part->trainer->state().log_history.back(), "train_loss"), number_at(*resume, "train_loss"), 1e-5));
  CHECK(hash_tensors(nn::state_dict(*part->model)) == hash_tensors(nn::state_dict(*whole->model)));
  std::vector<std::string> events = texts_of(*resume->find("events"));
  events.erase(events.begin());  // init_end
  CHECK(joined(part->events) == joined(events));
}

}  // namespace

TEST_CASE("trainer cases: runs equal the reference's") {
  if (shared_folder().empty()) {
    MESSAGE("skipped: no shared folder");
    return;
  }
  const std::string family = shared_folder() + "/conformance/trainer";
  int64_t ran = 0, passed_over = 0;
  for (const auto& entry : fs::directory_iterator(family)) {
    if (!entry.is_directory()) continue;
    Case c{entry.path().string(), entry.path().string(), parse_json(read_text(entry.path().string() + "/case.json"), entry.path().string())};
    if (const std::string same = text_at(c.json, "same_as"); !same.empty()) c.data = family + "/" + same;
    const TempFolder folder;
    const std::optional<TrainingArguments> args = arguments_of(c, folder.path());
    if (!args || !nn::has_model(text_at(c.json, "class"))) {
      ++passed_over;
      continue;
    }
    CAPTURE(c.folder);
    check_case(c, *args);
    ++ran;
  }
  MESSAGE(ran << " cases ran, " << passed_over << " need what is not built");
  CHECK(ran >= 20);
}

}  // namespace rote::testing
