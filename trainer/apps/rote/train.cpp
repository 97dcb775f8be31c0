// trainer/apps/rote/train.cpp — `rote train`: rows and a checkpoint in, a fine-tuned model and its scores out.
#include <cstdio>
#include <new>

#include "tensor/generator.h"
#include "trainer/apps/rote/classify.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/data_arguments.h"
#include "trainer/parser.h"
#include "trainer/text_forms.h"

namespace rote::app {

namespace {

constexpr char kAbout[] = "Fine-tunes a Hugging Face checkpoint on a file of labelled texts, evaluates it and saves it into --output_dir.";

std::unique_ptr<nn::Model> load_for_training(const DataArguments& data, const std::vector<std::string>& labels) {
  nn::PretrainedOptions options;
  options.configure = [&](nn::Config& config) {
    config.labels = labels;
    config.problem_type = "single_label_classification";
  };
  nn::Loaded<nn::Model> loaded = nn::load_model("text-classification", data.model_name_or_path, options);
  if (const std::string report = loaded.report.text(); !report.empty()) std::fprintf(stderr, "%s: %s\n", data.model_name_or_path.c_str(), report.c_str());
  return std::move(loaded.model);
}

void show(const TrainingArguments& args, const std::string& split, const Metrics& metrics) {
  std::fputs(metrics_text(split, metrics).c_str(), stdout);
  std::fflush(stdout);
  save_metrics(args.output_dir, split, metrics);
}

}  // namespace

int train(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{"rote train", kAbout}, DataArguments{},
                              TrainingArguments{.include_num_input_tokens_seen = TokenCount::all}, RoteArguments{});
  print_warnings(parsed.warnings);
  const auto& [data_args, args, rote_args] = parsed.values;

  // Whatever can be wrong with the inputs shows before the Trainer makes output_dir.
  std::string checkpoint;
  if (args.resume_from_checkpoint) checkpoint = checkpoint_to_resume(*args.resume_from_checkpoint, args.output_dir).string();
  const text::Tokenizer tokenizer = text::Tokenizer::from_folder(data_args.model_name_or_path);
  check_inputs(data_args.model_name_or_path, tokenizer, nn::load_config(data_args.model_name_or_path)->limits(), data_args.max_seq_length);
  const data::Table rows = data::read_table(data_args.train_file);
  const std::vector<std::string> labels = data::label_set(rows, data_args.label_column_name);
  ROTE_CHECK(labels.size() > 1, ArgumentError, data_args.train_file, ": every row has the label ", labels[0], "; a classifier needs two labels or more.");
  const data::TextColumns columns{.text = data_args.text_column_names, .label = data_args.label_column_name};
  const auto train_rows = data::tokenized(rows, columns, labels, tokenizer, data_args.max_seq_length);
  std::unique_ptr<data::Dataset> validation_rows;
  if (data_args.validation_file)
    validation_rows = data::tokenized(data::read_table(*data_args.validation_file), columns, labels, tokenizer, data_args.max_seq_length);
  manual_seed(static_cast<uint64_t>(args.seed));  // of the new head
  const std::unique_ptr<nn::Model> model = load_for_training(data_args, labels);

  Trainer trainer(*model, args, {.train_dataset = train_rows.get(),
                                 .eval_dataset = validation_rows.get(),
                                 .processing_class = tokenizer,
                                 .compute_metrics = classification_metrics,
                                 .rote = rote_args});
  try {
    const TrainOutput result = trainer.train({.resume_from_checkpoint = checkpoint});
    trainer.save_model(args.output_dir);
    trainer.save_state();
    show(args, "train", result.metrics);
    if (validation_rows) show(args, "eval", trainer.evaluate());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& fault) {
    if (trainer.has_started()) throw RunFailure(fault);
    throw;
  }
  return 0;
}

}  // namespace rote::app
