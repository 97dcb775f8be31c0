// trainer/apps/rote/train.cpp — `rote train`: rows and a checkpoint in, a fine-tuned model and its scores out.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>

#include "kernels/pool.h"
#include "nn/auto.h"
#include "nn/state.h"
#include "tensor/generator.h"
#include "tensor/hash.h"
#include "trainer/apps/rote/manifest.h"
#include "trainer/apps/rote/train.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/argument_files.h"
#include "trainer/argument_text.h"
#include "trainer/callbacks.h"
#include "trainer/parser.h"
#include "trainer/progress.h"
#include "trainer/python_text.h"
#include "trainer/seq2seq.h"
#include "trainer/tasks/task.h"
#include "trainer/text_forms.h"

namespace rote::app {

namespace fs = std::filesystem;

namespace {

constexpr int kTerminated = 128 + 15;  // as a shell reports SIGTERM: the run is not done

constexpr char kAbout[] = "Fine-tunes a Hugging Face checkpoint on a file of rows, or trains a new model, evaluates it and saves it into --output_dir.";

nn::PretrainedOptions options_of(const ModelArguments& args) {
  return {.ignore_mismatched_sizes = args.ignore_mismatched_sizes, .revision = args.model_revision, .cache_dir = args.cache_dir.value_or("")};
}

std::unique_ptr<nn::Model> model_for(const std::string& head, const ModelArguments& args, std::shared_ptr<nn::Config> fresh, const tasks::Prepared& prepared) {
  if (fresh) {
    if (prepared.configure) prepared.configure(*fresh);
    return nn::make_model(head, std::move(fresh));
  }
  nn::PretrainedOptions options = options_of(args);
  options.configure = prepared.configure;
  nn::Loaded<nn::Model> loaded = nn::load_model(head, args.model_name_or_path, options);
  if (const std::string report = loaded.report.table(); !report.empty()) std::fprintf(stderr, "weights of %s:\n%s", args.model_name_or_path.c_str(), report.c_str());
  return std::move(loaded.model);
}

void show(const TrainingArguments& args, const std::string& split, const Metrics& metrics) {
  std::fputs(metrics_text(split, metrics).c_str(), stdout);
  std::fflush(stdout);
  save_metrics(args.output_dir, split, metrics);
}

// The whole run at a glance, its splits side by side.
std::string summary(const Trainer& trainer, const std::vector<std::pair<std::string, Metrics>>& splits) {
  const TrainerState& state = trainer.state();
  std::string out = "***** summary *****\n" + metrics_table(splits);
  out += str("  ", trainer.model().class_name(), ", ", trainer.get_num_trainable_parameters(), " trained parameters, ", state.global_step, " updates, saved in ", trainer.args().output_dir, "\n");
  if (state.best_metric && trainer.args().metric_for_best_model) out += str("  best ", trainer.args().best_metric_key(), " ", python_float(rounded(static_cast<double>(*state.best_metric), 4)), state.best_model_checkpoint ? ", " + *state.best_model_checkpoint : "", "\n");
  return out;
}

// Texts are as long as targets where nothing else is said.
Seq2SeqTrainingArguments with_lengths(Seq2SeqTrainingArguments args, const DataArguments& data) {
  if (data.num_beams) args.generation_num_beams = data.num_beams;
  if (!args.generation_max_length && args.generation_config.is_null()) args.generation_max_length = data.max_target_length;
  return args;
}

// Files and folders that the bits of a run depend on.
ValueMap inputs_of(const std::vector<std::string>& words, const ModelArguments& model, const TrainSources& sources, const EvaluationFiles& evaluation) {
  ValueMap inputs;
  if (const std::string& name = model.model_name_or_path; !name.empty()) add_model(inputs, nn::model_place(name, options_of(model)));
  for (const auto* path : {&sources.config_name, &model.tokenizer_name, &sources.train_file, &sources.train_dir, &evaluation.validation_file, &evaluation.validation_dir})
    if (*path && fs::exists(**path)) add_input(inputs, **path);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--config" && i + 1 < words.size()) add_input(inputs, words[i + 1]);
    if (words[i].starts_with("--config=")) add_input(inputs, words[i].substr(9));
  }
  return inputs;
}

// --metric_for_best_model is among the metrics that an evaluation gives, where they are known before it.
void check_best_metric(const TrainingArguments& args, std::vector<std::string> names) {
  if (!args.metric_for_best_model || names.empty()) return;
  for (const char* name : {"runtime", "samples_per_second", "steps_per_second"}) names.push_back(name);
  names.insert(names.begin(), "loss");
  const std::string given = args.best_metric_key().substr(std::strlen("eval_"));
  if (std::find(names.begin(), names.end(), given) != names.end()) return;
  const std::string near = nearest(given, names.data(), static_cast<int64_t>(names.size()));
  throw ArgumentError(str("--metric_for_best_model: no evaluation of this task gives ", given, near.empty() ? "" : "; did you mean " + near + "?", near.empty() ? "; it gives " : " It gives ",
                          joined(names), "."));
}

// Ends training behind a step, in silence.
void end_behind(Trainer& trainer, int64_t last_step) {
  trainer.remove_callback<PrinterCallback>();
  trainer.remove_callback<ProgressCallback>();
  trainer.on(Event::step_end, [last_step](const TrainerState& state, TrainerControl& control) {
    if (state.global_step >= last_step) control.should_training_stop = true, control.should_save = control.should_evaluate = control.should_log = false;
  });
}

}  // namespace

int train(int argc, char** argv) { return train_by_words(std::vector<std::string>(argv + 1, argv + argc)); }

int train_by_words(const std::vector<std::string>& words, const TrainPart& part) {
  auto parsed = parse_words(words, Usage{.program = "rote train", .about = kAbout, .config = line_over_file}, ModelArguments{}, TrainSources{}, EvaluationFiles{}, DataArguments{},
                              Seq2SeqTrainingArguments{{.include_num_input_tokens_seen = TokenCount::all}}, RoteArguments{});
  print_warnings(parsed.warnings);
  const auto& [model_args, sources, evaluation, data_args, given, rote_args] = parsed.values;
  Seq2SeqTrainingArguments args = with_lengths(given, data_args);
  if (part.last_step) args.report_to = {};  // what was reported is not reported again
  print_warnings(without_effect(data_args));
  std::vector<std::string> faults;
  if (model_args.model_name_or_path.empty() != sources.config_name.has_value())
    faults.push_back("--model_name_or_path: give a checkpoint to fine-tune, or --config_name for a new model, one of the two.");
  if (!sources.train_file && !sources.train_dir) faults.push_back("--train_file: is required; it must be a text.");
  const tasks::TaskEntry& task = tasks::find(data_args.task);
  for (std::string& fault : tasks::source_faults(task, sources, evaluation)) faults.push_back(std::move(fault));
  throw_faults(faults);

  // Whatever can be wrong with the inputs shows before the Trainer makes output_dir.
  const std::string checkpoint = args.resume_from_checkpoint.value_or("");
  if (!checkpoint.empty()) checkpoints_to_resume(checkpoint, args.output_dir);
  const std::shared_ptr<nn::Config> config = nn::load_config(sources.config_name.value_or(model_args.model_name_or_path), options_of(model_args));
  const tasks::Prepared prepared = task.prepare({model_args, sources, evaluation, data_args, *config});
  ROTE_CHECK(!args.predict_with_generate || prepared.compute_generated_metrics, ArgumentError, "--predict_with_generate: --task ", word_of(data_args.task),
             " has no texts to write; it is for --task seq2seq.");
  check_best_metric(args, args.predict_with_generate ? prepared.generated_metrics : prepared.metrics);
  if (prepared.train_stream) {
    prepared.train_stream->restart(0);
    ROTE_CHECK(prepared.train_stream->next(), ArgumentError, "--train_file: ", *sources.train_file, " has no row to train on; it needs one at least.");
  }
  manual_seed(static_cast<uint64_t>(args.seed));  // of new weights
  const std::unique_ptr<nn::Model> model = model_for(task.head, model_args, sources.config_name ? config : nullptr, prepared);
  std::optional<data::ShuffledStream> shuffled;
  if (sources.shuffle_buffer_size > 0) shuffled.emplace(*prepared.train_stream, sources.shuffle_buffer_size, static_cast<uint64_t>(args.sampler_seed()));
  Seq2SeqTrainer trainer(*model, args, {.train_dataset = shuffled ? data::AnyDataset(*shuffled) : prepared.train(),
                                 .eval_dataset = prepared.eval_dataset.get(),
                                 .data_collator = prepared.data_collator,
                                 .collator_columns = prepared.collator_columns,
                                 .processing_class = prepared.processing_class,
                                 .compute_metrics = args.predict_with_generate ? prepared.compute_generated_metrics : prepared.compute_metrics,
                                 .preprocess_logits_for_metrics = args.predict_with_generate ? PreprocessLogits() : prepared.preprocess_logits_for_metrics,
                                 .rote = rote_args,
                                 .trace_watch = part.watch});
  RunRecord record{.file = args.output_dir + "/" + kManifestFile, .words = words, .contract = contract_of(rote_args.arithmetic), .resumes = !checkpoint.empty()};
  if (part.last_step) {
    end_behind(trainer, *part.last_step);
  } else {
    record.arguments = {{"model", to_dict(model_args)}, {"sources", to_dict(sources)}, {"data", to_dict(data_args)}, {"training", to_dict(args)}, {"rote", to_dict(rote_args)}};
    record.inputs = inputs_of(words, model_args, sources, evaluation);
    record.start_hash = hash_tensors(nn::state_dict(*model));
    trainer.on(Event::train_begin, [&](const TrainerState&, TrainerControl&) {  // when all that can be wrong with the arguments has shown
      record.threads = num_threads();
      try {
        begin_manifest(record);
      } catch (const IoError& fault) {
        throw RunFailure(fault);
      }
    });
  }
  try {
    const TrainOutput result = trainer.train({.resume_from_checkpoint = checkpoint});
    if (part.last_step) return 0;
    if (result.interrupted) return kTerminated;
    trainer.save_model(args.output_dir);
    end_manifest(record, hash_tensors(nn::state_dict(*model)), result.global_step);
    trainer.save_state();
    show(args, "train", result.metrics);
    std::vector<std::pair<std::string, Metrics>> splits = {{"train", result.metrics}};
    if (prepared.eval_dataset) {
      Metrics metrics = trainer.evaluate();
      if (prepared.complete_metrics) prepared.complete_metrics(metrics);
      show(args, "eval", metrics);
      splits.emplace_back("eval", metrics);
    }
    std::fputs(summary(trainer, splits).c_str(), stdout);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& fault) {
    if (trainer.has_started()) throw RunFailure(fault);
    throw;
  }
  return 0;
}

}  // namespace rote::app
