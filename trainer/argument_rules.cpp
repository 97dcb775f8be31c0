// trainer/argument_rules.cpp — rules across the fields of TrainingArguments: what follows from the rest, and what contradicts it. No rows.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "kernels/check.h"
#include "optim/metric_schedule.h"
#include "optim/registry.h"
#include "optim/schedule.h"
#include "tensor/file.h"
#include "trainer/arguments.h"
#include "trainer/json_text.h"
#include "trainer/python_text.h"
#include "trainer/trackers/trackers.h"

namespace rote {

namespace {

using T = TrainingArguments;

void resolve_output_dir(T& args) {
  const char* home = std::getenv("HOME");
  if (home && (args.output_dir == "~" || args.output_dir.starts_with("~/"))) args.output_dir = home + args.output_dir.substr(1);
}

// From 1 on a number of steps is whole, and is kept as an integer.
void check_whole(const char* name, Number& steps, std::vector<std::string>& faults) {
  if (!(steps > 1)) return;
  if (std::isfinite(steps) && steps == std::floor(steps)) steps.whole = true;
  else faults.push_back(str("--", name, ": is ", python_float(steps), "; above 1 it must be a whole number of steps, below 1 a share of the run."));
}

void resolve_steps(T& args, std::vector<std::string>& faults) {
  if (args.eval_strategy != IntervalStrategy::no) args.do_eval = true;
  const bool eval_by_step = args.eval_strategy == IntervalStrategy::steps;
  if (eval_by_step && (!args.eval_steps || *args.eval_steps == 0)) {
    if (args.logging_steps > 0) args.eval_steps = args.logging_steps;
    else faults.push_back("--eval_steps: is needed with --eval_strategy steps, since --logging_steps gives none either.");
  }
  if (args.logging_strategy == IntervalStrategy::steps) {
    if (args.logging_steps == 0)
      faults.push_back("--logging_steps: is 0 with --logging_strategy steps; give a number of steps, or --logging_strategy no.");
    check_whole("logging_steps", args.logging_steps, faults);
  }
  if (eval_by_step && args.eval_steps) check_whole("eval_steps", *args.eval_steps, faults);
  if (args.save_strategy == SaveStrategy::steps) check_whole("save_steps", args.save_steps, faults);
}

// Saves must fall on evaluations, or the best step of the run may have no folder.
bool is_multiple(double save_steps, double eval_steps) {
  if (save_steps < 1 && eval_steps < 1) {
    const double scale = 1e6;  // shares are compared as millionths: 0.3 is no multiple of 0.1 in binary
    return std::fmod(std::round(save_steps * scale), std::round(eval_steps * scale)) == 0;
  }
  return std::fmod(save_steps, eval_steps) == 0;
}

void resolve_best_model(T& args, std::vector<std::string>& faults) {
  const bool evaluates = args.eval_strategy != IntervalStrategy::no;
  if (args.save_strategy == SaveStrategy::best && !evaluates)
    faults.push_back("--save_strategy: is best, but --eval_strategy is no; only an evaluation can find the best, so set it to steps or epoch.");
  if (args.load_best_model_at_end && args.save_strategy != SaveStrategy::best) {
    const std::string eval = word_of(args.eval_strategy), save = word_of(args.save_strategy);
    if (!evaluates)
      faults.push_back("--load_best_model_at_end: needs evaluations, but --eval_strategy is no; set it to the same as --save_strategy.");
    else if (eval != save)
      faults.push_back("--load_best_model_at_end: needs --eval_strategy and --save_strategy to be the same, but they are " + eval + " and " + save +
                       ".");
    else if (eval == "steps" && args.eval_steps && *args.eval_steps > 0 && !is_multiple(args.save_steps, *args.eval_steps))
      faults.push_back(str("--load_best_model_at_end: needs --save_steps to be a multiple of --eval_steps, but they are ",
                           python_str(args.save_steps), " and ", python_str(*args.eval_steps), "."));
  }
  const bool by_metric = optim::follows_metric(args.lr_scheduler_type);
  if (by_metric && !evaluates)
    faults.push_back("--lr_scheduler_type: " + args.lr_scheduler_type + " follows a metric, but --eval_strategy is no; set it to steps or epoch.");
  if ((args.load_best_model_at_end || by_metric) && !args.metric_for_best_model) args.metric_for_best_model = "loss";
  if (args.save_strategy == SaveStrategy::best && !args.metric_for_best_model)
    faults.push_back("--metric_for_best_model: is needed with --save_strategy best; loss will do.");
  if (args.metric_for_best_model && !args.greater_is_better) args.greater_is_better = !args.metric_for_best_model->ends_with("loss");
}

const ValueMap& usual_accelerator_config() {
  static const ValueMap usual = {{"split_batches", false},        {"dispatch_batches", Value()},
                                 {"even_batches", true},          {"use_seedable_sampler", true},
                                 {"non_blocking", false},         {"gradient_accumulation_kwargs", Value()},
                                 {"use_configured_state", false}};
  return usual;
}

// gradient_accumulation_kwargs: num_steps is another place for gradient_accumulation_steps.
void resolve_accumulation(T& args, const Value& kwargs, std::vector<std::string>& faults) {
  const Value* found = kwargs.as_map() ? kwargs.as_map()->find("num_steps") : nullptr;
  if (!found) return;
  const int64_t* steps = found->as_int();
  const Number most = find_field<T>("gradient_accumulation_steps")->row.below.value();  // rows are judged before the rules
  if (!steps || *steps < 1 || *steps >= most)
    faults.push_back("--accelerator_config: num_steps is " + python_str(*found) + "; it must be a whole number from 1 on, below " + python_str(most) + ".");
  else if (args.gradient_accumulation_steps == 1)
    args.gradient_accumulation_steps = *steps;
  else if (args.gradient_accumulation_steps != *steps)
    faults.push_back(str("--accelerator_config: num_steps is ", *steps, ", but --gradient_accumulation_steps is ", args.gradient_accumulation_steps, "; give one of them."));
}

// A map, JSON or the name of a file of it, completed to all fields in their order.
void resolve_accelerator_config(T& args, std::vector<std::string>& faults) {
  Value given = ValueMap();
  if (args.accelerator_config) {
    const std::string* text = std::get_if<std::string>(&*args.accelerator_config);
    try {
      if (!text) given = std::get<ValueMap>(*args.accelerator_config);
      else if (ValueMap map; text->starts_with("{") && take(*text, map)) given = map;
      else given = parse_json(text->starts_with("{") ? *text : read_file(*text), text->starts_with("{") ? "--accelerator_config" : *text);
    } catch (const Error& fault) {
      faults.push_back(fault.text.starts_with("--") ? fault.text : "--accelerator_config: " + fault.text);
      return;
    }
  }
  if (!given.as_map()) {
    faults.push_back("--accelerator_config: holds no map; it must be one, as {\"split_batches\": false}.");
    return;
  }
  ValueMap all = usual_accelerator_config();
  std::string known;
  for (const auto& [name, value] : all) known += (known.empty() ? "" : ", ") + name;
  for (const auto& [name, value] : *given.as_map()) {
    if (!all.find(name)) faults.push_back("--accelerator_config: there is no " + name + "; the names are " + known + ".");
    else all.set(name, value);
  }
  if (*all.find("use_seedable_sampler") != Value(true))
    faults.push_back("--accelerator_config: use_seedable_sampler is false; it must be true, since the order of the rows always follows from the seed.");
  resolve_accumulation(args, *all.find("gradient_accumulation_kwargs"), faults);
  args.accelerator_config = all;
}

// The older names of activation checkpointing hold the same; they count where the present ones say nothing. What layers keep stays in memory, and
// backward goes through their second run as through any: the two options of the reference about that are off.
void resolve_checkpointing(T& args, std::vector<std::string>& faults) {
  args.gradient_checkpointing = args.activation_checkpointing.value_or(args.gradient_checkpointing);
  args.activation_checkpointing = args.gradient_checkpointing;
  if (!args.activation_checkpointing_kwargs) args.activation_checkpointing_kwargs = args.gradient_checkpointing_kwargs;
  args.gradient_checkpointing_kwargs = args.activation_checkpointing_kwargs;
  for (const auto& [name, value] : args.activation_checkpointing_kwargs.value_or(ValueMap())) {
    if (name == "every_n_layers" && value.as_int() && *value.as_int() >= 1) continue;
    if ((name == "offload" || name == "use_reentrant") && value == Value(false)) continue;
    faults.push_back("--activation_checkpointing_kwargs: has " + name + " " + json_text(value) + "; it takes every_n_layers, a whole number from 1 on.");
  }
}

// What is wrong with the options of the optimizer or the words of the schedule's is told with all other faults; a schedule's numbers are judged where its length is known.
void check_options(const T& args, std::vector<std::string>& faults) {
  // Returns what is wrong with a number, if anything.
  const auto attempt = [&](const std::string& about, const std::function<void()>& make) -> std::string {
    try {
      make();
    } catch (const optim::OptionError& fault) {
      for (const std::string& one : fault.faults) faults.push_back(about + one);
    } catch (const ArgumentError& fault) {
      return fault.text;
    }
    return "";
  };
  const auto has = [](const std::vector<std::string>& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (args.optim_args && has(optim::optimizer_names(), args.optimizer_name())) {
    std::optional<optim::Options> options;
    attempt("--optim_args: ", [&] { options = optim::parse_optim_args(*args.optim_args); });
    std::shared_ptr<optim::Optimizer> made;
    const auto make = [&] { made = optim::make_optimizer(args.optimizer_name(), {{.params = {}, .lr = args.learning_rate}}, {}, *options); };
    const std::string wrong = options ? attempt("--optim_args: " + args.optimizer_name() + ": ", make) : "";
    if (!wrong.empty()) faults.push_back("--optim_args: " + wrong);
    if (made && made->precision().weights != optim::Weights::as_they_are && !args.bf16)
      faults.push_back("--optim_args: " + *args.optim_args + " keeps the weights in bfloat16, which is for training in it; set --bf16.");
  }
  if (!args.lr_scheduler_kwargs) return;
  const optim::Options options = args.schedule_options();
  const std::string about = "--lr_scheduler_kwargs: schedule " + args.lr_scheduler_type + ": ";
  constexpr int64_t kLong = 1'000'000'000;  // updates: of a run that every share of steps fits
  if (has(optim::schedule_names(), args.lr_scheduler_type))
    attempt(about, [&] { optim::make_schedule(args.lr_scheduler_type, {.total_steps = kLong, .lr = args.learning_rate}, options); });
  if (optim::follows_metric(args.lr_scheduler_type))
    attempt(about, [&] { optim::make_metric_schedule(args.lr_scheduler_type, {args.learning_rate}, options); });
}

void check_precision(const T& args, std::vector<std::string>& faults) {
  if (args.bf16 && args.fp16) faults.push_back("--fp16: is given with --bf16; training computes in one of them, so give one.");
  if (args.bf16_full_eval && args.fp16_full_eval) faults.push_back("--fp16_full_eval: is given with --bf16_full_eval; the model takes one of them, so give one.");
}

void resolve_workers(T& args, std::vector<std::string>& faults) {
  if (args.use_cpu) args.dataloader_pin_memory = false;
  if (args.dataloader_prefetch_factor && args.dataloader_num_workers == 0)
    faults.push_back("--dataloader_prefetch_factor: is given, but --dataloader_num_workers is 0; there is nothing that could fetch ahead.");
}

void resolve_trackers(T& args) {
  std::vector<std::string> trackers;
  for (const std::string& name : args.report_to) {
    const std::vector<std::string> meant = name == "all" ? available_trackers() : name == "none" ? std::vector<std::string>{} : std::vector<std::string>{name};
    for (const std::string& one : meant)
      if (std::find(trackers.begin(), trackers.end(), one) == trackers.end()) trackers.push_back(one);
  }
  args.report_to = std::move(trackers);
}

}  // namespace

std::vector<std::string> apply_rules(T& args) {
  std::vector<std::string> faults;
  resolve_output_dir(args);
  if (!args.disable_tqdm) args.disable_tqdm = false;
  if (!std::isfinite(args.num_train_epochs))
    faults.push_back("--num_train_epochs: is " + python_float(args.num_train_epochs) + "; it must be finite, and --max_steps bounds a run too.");
  resolve_steps(args, faults);
  resolve_best_model(args, faults);
  resolve_trackers(args);
  resolve_accelerator_config(args, faults);
  resolve_checkpointing(args, faults);
  check_precision(args, faults);
  resolve_workers(args, faults);
  check_options(args, faults);
  return faults;
}

int64_t TrainingArguments::get_warmup_steps(int64_t total) const {
  if (warmup_steps >= 1) return static_cast<int64_t>(warmup_steps);
  return static_cast<int64_t>(std::ceil(static_cast<double>(total) * warmup_steps));
}

std::string TrainingArguments::best_metric_key() const {
  ROTE_ASSERT(metric_for_best_model.has_value(), "best_metric_key is asked only where a metric is named");
  return metric_for_best_model->starts_with("eval_") ? *metric_for_best_model : "eval_" + *metric_for_best_model;
}

std::optional<DType> TrainingArguments::autocast_dtype() const {
  if (bf16) return DType::bf16;
  if (fp16) return DType::f16;
  return std::nullopt;
}

std::optional<DType> TrainingArguments::full_eval_dtype() const {
  if (bf16_full_eval) return DType::bf16;
  if (fp16_full_eval) return DType::f16;
  return std::nullopt;
}

bool TrainingArguments::debugs_overflow() const { return std::find(debug.begin(), debug.end(), "underflow_overflow") != debug.end(); }

int64_t TrainingArguments::checkpointed_layers() const {
  if (!activation_checkpointing.value_or(gradient_checkpointing)) return 0;
  const Value* every = activation_checkpointing_kwargs ? activation_checkpointing_kwargs->find("every_n_layers") : nullptr;
  return every != nullptr ? *every->as_int() : 1;
}

optim::Options TrainingArguments::schedule_options() const {
  optim::Options options;
  for (const auto& [name, value] : lr_scheduler_kwargs.value_or(ValueMap())) options[name] = value.as_text() ? *value.as_text() : json_text(value);
  return options;
}

std::string TrainingArguments::optimizer_name() const { return word_in_use(find_field<TrainingArguments>("optim")->row, optim); }

}  // namespace rote
