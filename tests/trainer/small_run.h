// tests/trainer/small_run.h — a Trainer on a BERT of a few thousand weights and rows of unequal length, and how two runs are compared.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nn/models/bert_heads.h"
#include "nn/state.h"
#include "tensor/generator.h"
#include "tensor/hash.h"
#include "tests/nn/small_bert.h"
#include "tests/support/place.h"
#include "trainer/callbacks.h"
#include "trainer/progress.h"
#include "trainer/trainer.h"

namespace rote::testing {

// A classifier with three labels, the same weights each time; dropout 0.1.
inline std::unique_ptr<nn::Model> small_classifier() {
  auto config = small_bert();
  config->labels = {"a", "b", "c"};
  config->problem_type = "single_label_classification";
  manual_seed(7);
  return std::make_unique<nn::BertForSequenceClassification>(config);
}

// n rows of 3 to 9 ids with a label.
inline data::ListDataset small_rows(int64_t n) {
  std::vector<data::Example> rows;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t> ids;
    for (int64_t j = 0; j < 3 + (i * 5) % 7; ++j) ids.push_back(1 + (i * 11 + j * (i % 3 + 1)) % 30);
    rows.push_back({{"input_ids", data::Feature::list(std::move(ids))}, {"label", data::Feature::single(i % 3)}});
  }
  return data::ListDataset(std::move(rows));
}

inline nn::Batch pad(const std::vector<data::Example>& examples) { return data::PadCollator(data::PadOptions{})(examples); }

struct SmallRunOptions {
  int64_t rows = 10;
  std::unique_ptr<nn::Model> model = {};  // default: small_classifier()
  TrainerOptions trainer = {};            // datasets and collator are filled in where they are not given
};

// A Trainer without output of its own that notes the events as name@global_step.
struct SmallRun {
  std::unique_ptr<nn::Model> model;
  data::ListDataset rows, eval_rows;
  std::unique_ptr<Trainer> trainer;
  std::vector<std::string> events;

  explicit SmallRun(const TrainingArguments& args, SmallRunOptions options = {})
      : model(options.model ? std::move(options.model) : small_classifier()), rows(small_rows(options.rows)), eval_rows(small_rows(5)) {
    TrainerOptions& o = options.trainer;
    if (!o.train_dataset) o.train_dataset = &rows;
    if (!o.eval_dataset) o.eval_dataset = &eval_rows;
    if (!o.data_collator) o.data_collator = pad;
    trainer = std::make_unique<Trainer>(*model, args, std::move(o));
    silence(*trainer);
    const std::vector<std::string> names = words_of(Event{});
    for (size_t i = 0; i < names.size(); ++i)
      trainer->on(static_cast<Event>(i), [this, name = names[i]](const TrainerState& state, TrainerControl&) { events.push_back(str(name, "@", state.global_step)); });
  }

  static void silence(Trainer& trainer) {
    trainer.callbacks().remove<PrinterCallback>();
    trainer.callbacks().remove<ProgressCallback>();
  }

  TrainOutput train(const std::string& resume_from_checkpoint = "") { return trainer->train({.resume_from_checkpoint = resume_from_checkpoint}); }
  std::string hash() const { return hash_tensors(nn::state_dict(*model)); }
};

// Arguments of a short run into `folder` that neither logs nor saves by itself.
inline TrainingArguments quiet_args(const std::string& folder) {
  TrainingArguments args;
  args.output_dir = folder;
  args.per_device_train_batch_size = 2;
  args.num_train_epochs = 1;
  args.learning_rate = 1e-2;
  args.logging_strategy = IntervalStrategy::no;
  args.save_strategy = SaveStrategy::no;
  return args;
}

inline std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

inline std::string keys_of(const ValueMap& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return joined(keys);
}

inline double number_at(const ValueMap& map, const std::string& key) {
  double number = 0;
  const Value* value = map.find(key);
  REQUIRE_MESSAGE((value != nullptr && value->number(number)), key << " is not in " << keys_of(map));
  return number;
}

// The history without what a clock decides.
inline std::vector<Logs> timeless(const std::vector<Logs>& history) {
  std::vector<Logs> out;
  for (const Logs& entry : history) {
    Logs kept;
    for (const auto& [key, value] : entry)
      if (!key.ends_with("_runtime") && !key.ends_with("_preparation_time") && !key.ends_with("_per_second")) kept.set(key, value);
    out.push_back(std::move(kept));
  }
  return out;
}

}  // namespace rote::testing
