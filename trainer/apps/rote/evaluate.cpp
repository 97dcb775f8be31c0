// trainer/apps/rote/evaluate.cpp — `rote evaluate`: loss and scores of a saved model on rows.
#include <cstdio>

#include "kernels/pool.h"
#include "nn/auto.h"
#include "tensor/generator.h"
#include "trainer/apps/rote/evaluation_options.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/argument_files.h"
#include "trainer/parser.h"
#include "trainer/tasks/task.h"
#include "trainer/text_forms.h"

namespace rote::app {

namespace {

struct EvaluateArguments {
  int64_t per_device_eval_batch_size = 32;
  bool predict_with_generate = false;
  int64_t seed = 42;
  int64_t num_threads = 0;

  static const ArgumentTable<EvaluateArguments>& table();
};

const ArgumentTable<EvaluateArguments>& EvaluateArguments::table() {
  using A = EvaluateArguments;
  static const ArgumentTable<A> rows = {
      "evaluation",
      {
          field(&A::per_device_eval_batch_size, {.name = "per_device_eval_batch_size", .help = "rows of a batch", .unit = "rows", .at_least = 1, .below = 1 << 20}),
          field(&A::predict_with_generate, {.name = "predict_with_generate", .help = "seq2seq: writes texts of at most --max_target_length tokens, exact_match is on them"}),
          field(&A::seed, {.name = "seed", .help = "of what is masked for masked-lm, the same in rote train", .at_least = 0}),
          field(&A::num_threads, {.name = "num_threads", .help = "threads, 0 for all cores", .at_least = 0, .below = 1025}),
      },
  };
  return rows;
}

}  // namespace

int evaluate(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{.program = "rote evaluate", .about = "Loss and scores of a saved model on a file of rows.", .config = line_over_file}, ModelArguments{}, EvaluationFiles{}, DataArguments{},
                              EvaluateArguments{}, PrecisionArguments{});
  print_warnings(parsed.warnings);
  const auto& [model_args, evaluation, data_args, args, precision] = parsed.values;
  print_warnings(without_effect(data_args));
  std::vector<std::string> faults = precision.faults();
  if (model_args.model_name_or_path.empty()) faults.push_back("--model_name_or_path: is required; it must be a text.");
  if (!evaluation.validation_file && !evaluation.validation_dir) faults.push_back("--validation_file: is required; it must be a text.");
  const tasks::TaskEntry& task = tasks::find(data_args.task);
  const TrainSources nothing;
  for (std::string& fault : tasks::source_faults(task, nothing, evaluation)) faults.push_back(std::move(fault));
  throw_faults(faults);

  const nn::Loaded<nn::Model> loaded =
      nn::load_finetuned(task.head, model_args.model_name_or_path, {.revision = model_args.model_revision, .cache_dir = model_args.cache_dir.value_or("")});
  nn::Model& model = *loaded.model;
  const tasks::Prepared prepared = task.prepare({model_args, nothing, evaluation, data_args, *model.config()});
  set_num_threads(static_cast<int>(args.num_threads));
  manual_seed(static_cast<uint64_t>(args.seed));
  ROTE_CHECK(!args.predict_with_generate || prepared.compute_generated_metrics, ArgumentError, "--predict_with_generate: --task ", word_of(data_args.task),
             " has no texts to write; it is for --task seq2seq.");
  EvaluateOptions options = evaluation_options(prepared, model, data_args, args.per_device_eval_batch_size, args.predict_with_generate);
  precision.set(options);
  const EvaluationOutput output = run_evaluation(model, *prepared.eval_dataset, options);
  Metrics metrics = evaluation_metrics(output, "eval", args.predict_with_generate ? prepared.compute_generated_metrics : prepared.compute_metrics);
  if (prepared.complete_metrics) prepared.complete_metrics(metrics);
  std::fputs(metrics_text("eval", metrics).c_str(), stdout);
  return 0;
}

}  // namespace rote::app
