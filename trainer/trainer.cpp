// trainer/trainer.cpp — what a Trainer is made of: checks, optimizer and schedule, batches, saving and logging. The loop: loop.cpp.
#include "trainer/trainer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "autograd/backward.h"
#include "nn/pretrained.h"
#include "optim/registry.h"
#include "tensor/generator.h"
#include "trainer/callbacks.h"
#include "trainer/folder_write.h"
#include "trainer/json_text.h"
#include "trainer/progress.h"

namespace rote {

namespace fs = std::filesystem;

namespace {

// By name alone, lower-cased: `bias` or a norm's own names anywhere, a component `norm` or one that ends in `_norm`.
bool named_without_decay(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"bias", "layernorm", "rmsnorm"})
    if (lower.find(word) != std::string::npos) return true;
  for (size_t first = 0; first <= lower.size();) {
    const size_t last = std::min(lower.find('.', first), lower.size());
    const std::string component = lower.substr(first, last - first);
    if (component == "norm" || (component.size() >= 5 && component.compare(component.size() - 5, 5, "_norm") == 0)) return true;
    first = last + 1;
  }
  return false;
}

void create_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  ROTE_CHECK(!error, IoError, "output_dir: cannot create ", folder, ": ", error.message(), ".");
  ROTE_CHECK(::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0, IoError, "output_dir: cannot write into ", folder, ": ", std::strerror(errno), ".");
}

std::shared_ptr<optim::Optimizer> make_optimizer(const TrainingArguments& args, std::vector<optim::Group> groups) {
  if (groups.empty()) groups.push_back({.params = {}, .lr = args.learning_rate, .weight_decay = args.weight_decay});
  const optim::AdamArguments adam{.betas = {.first = args.adam_beta1, .second = args.adam_beta2}, .eps = args.adam_epsilon};
  return optim::make_optimizer(args.optim, std::move(groups), adam, optim::parse_optim_args(args.optim_args.value_or("")));
}

}  // namespace

std::vector<optim::Group> decay_groups(nn::Model& model, double lr, double weight_decay) {
  std::vector<const void*> norm_params;
  for (const nn::NamedModule& named : model.named_modules())
    if (named.module->class_name() == "LayerNorm")
      for (const Tensor& param : named.module->parameters()) norm_params.push_back(param.impl().get());
  std::vector<optim::Group> groups = {{.params = {}, .lr = lr, .weight_decay = weight_decay}, {.params = {}, .lr = lr, .weight_decay = 0}};
  for (const auto& [name, param] : model.named_parameters()) {
    if (!param.requires_grad()) continue;
    const bool in_norm = std::find(norm_params.begin(), norm_params.end(), param.impl().get()) != norm_params.end();
    groups[in_norm || named_without_decay(name) ? 1 : 0].params.emplace_back(name, param);
  }
  return groups;
}

Trainer::Trainer(nn::Model& model, const TrainingArguments& args, TrainerOptions options)
    : model_(model), args_(resolved(args)), options_(std::move(options)), optimizer_(options_.optimizer), schedule_(options_.lr_scheduler) {
  options_.rote = resolved(options_.rote);
  ROTE_CHECK(args_.eval_strategy == IntervalStrategy::no || options_.eval_dataset != nullptr, ArgumentError,
             "eval_strategy: evaluations are asked for but there is no eval_dataset; give one or leave --eval_strategy at no.");
  ROTE_CHECK(args_.save_strategy != SaveStrategy::best || options_.eval_dataset != nullptr, ArgumentError,
             "save_strategy: best needs evaluations; give an eval_dataset and an --eval_strategy.");
  if (!options_.data_collator) {
    if (options_.processing_class && options_.processing_class->tokenizer) options_.data_collator = data::PadCollator(*options_.processing_class->tokenizer);
    else options_.data_collator = data::default_collate;
  }
  if (!optimizer_) make_optimizer(args_, {});  // refuses its options before a folder is made
  manual_seed(static_cast<uint64_t>(args_.seed));
  create_folder(args_.output_dir);
  handler_.add(std::make_shared<DefaultFlowCallback>());
  for (const auto& callback : options_.callbacks) handler_.add(callback);
  if (args_.disable_tqdm.value_or(false)) handler_.add(std::make_shared<PrinterCallback>());
  else handler_.add(std::make_shared<ProgressCallback>());
  fire(Event::init_end);
}

void Trainer::fire(Event event) { handler_.fire(event, context(), control_); }

LossOutput Trainer::compute_loss(nn::Model& model, const nn::Batch& batch) {
  nn::ModelOutput outputs = model(batch);
  Tensor loss = outputs.loss;
  return {std::move(loss), std::move(outputs)};
}

double Trainer::training_step(nn::Model& model, const nn::Batch& batch) {
  model.train();
  const Tensor loss = compute_loss(model, batch).loss;
  ROTE_CHECK(loss.defined(), ArgumentError, "train: the model gave no loss; its batch needs ", model.signature().labels, ".");
  backward(loss);
  return loss.item();
}

void Trainer::create_optimizer() { optimizer_ = make_optimizer(args_, decay_groups(model_, args_.learning_rate, args_.weight_decay)); }

void Trainer::create_scheduler(int64_t total_steps) {
  if (options_.lr_scheduler) return;
  optim::Options options;
  for (const auto& [name, value] : args_.lr_scheduler_kwargs.value_or(ValueMap())) options[name] = value.as_text() ? *value.as_text() : json_text(value);
  const std::vector<std::string>& by_metric = optim::metric_schedule_names();
  if (std::find(by_metric.begin(), by_metric.end(), args_.lr_scheduler_type) != by_metric.end()) {
    // The reference leaves the direction at "min" even for an accuracy, whose rate it then cuts while it rises.
    if (!options.count("mode")) options["mode"] = args_.greater_is_better.value_or(false) ? "max" : "min";
    std::vector<double> rates;
    for (const optim::Group& group : optimizer_->groups()) rates.push_back(group.lr);
    metric_schedule_ = optim::make_metric_schedule(args_.lr_scheduler_type, rates, options);
    return;
  }
  schedule_ = optim::make_schedule(args_.lr_scheduler_type,
                                   {.warmup_steps = args_.get_warmup_steps(total_steps), .total_steps = total_steps, .lr = args_.learning_rate}, options);
}

std::vector<data::Example> Trainer::fetch(const data::Dataset& dataset, const std::vector<int64_t>& rows) const {
  std::vector<data::Example> examples;
  for (const int64_t row : rows) examples.push_back(dataset.at(row));
  if (!args_.remove_unused_columns) return examples;
  std::vector<std::string> kept = model_.signature().input_names();
  kept.insert(kept.end(), {"label", "label_ids"});
  kept.insert(kept.end(), options_.collator_columns.begin(), options_.collator_columns.end());
  for (const std::string& name : args_.label_names.value_or(std::vector<std::string>{})) kept.push_back(name);
  for (data::Example& example : examples) {
    std::erase_if(example, [&](const auto& feature) { return std::find(kept.begin(), kept.end(), feature.first) == kept.end(); });
    ROTE_CHECK(!example.empty(), ArgumentError, "remove_unused_columns: the model takes none of the dataset's columns; it takes ", model_.signature().inputs, ".");
  }
  return examples;
}

nn::Batch Trainer::collate(const data::Dataset& dataset, const std::vector<int64_t>& rows) const {
  return options_.data_collator(fetch(dataset, rows));
}

void Trainer::write_model(const std::string& folder) const {
  nn::save_pretrained(model_, folder);
  if (!options_.processing_class) return;
  for (const auto& [name, bytes] : options_.processing_class->files) write_file((fs::path(folder) / name).string(), bytes);
}

void Trainer::save_model(const std::string& folder) const {
  write_files_into(folder, [this](const fs::path& temporary) { write_model(temporary.string()); });
}

void Trainer::save_state() const { state_.save_to_json((fs::path(args_.output_dir) / "trainer_state.json").string()); }

void Trainer::log(Logs logs, const std::optional<Speed>& speed) {
  logs.set("epoch", state_.epoch);
  if (args_.include_num_input_tokens_seen != TokenCount::no) {
    logs.set("num_input_tokens_seen", state_.num_input_tokens_seen);
    if (speed)
      for (const auto& [name, value] : speed_metrics("train", *speed)) logs.set(name, value);
  }
  Logs entry = logs;
  entry.set("step", state_.global_step);
  state_.log_history.push_back(std::move(entry));
  CallbackContext c = context();
  c.logs = &logs;
  handler_.fire(Event::log, c, control_);
}

}  // namespace rote
