// trainer/apps/rote/predict.cpp — `rote predict`: what a saved model says of rows: the class of a text, of each word, of a picture, an answer, a text.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "autograd/ops.h"
#include "kernels/pool.h"
#include "nn/auto.h"
#include "tensor/file.h"
#include "trainer/apps/rote/evaluation_options.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/argument_files.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/evaluation.h"
#include "trainer/json_text.h"
#include "trainer/parser.h"
#include "trainer/tasks/task.h"
#include "trainer/text_forms.h"

namespace rote::app {

namespace {

enum class OutputFormat { text, json };
WordList words_of(OutputFormat) { return {"text", "json"}; }

struct PredictArguments {
  std::optional<std::string> test_file = {};
  std::optional<std::string> test_dir = {};
  std::optional<std::string> output_dir = {};
  int64_t per_device_eval_batch_size = 32;
  OutputFormat output_format = OutputFormat::text;
  int64_t num_threads = 0;

  static const ArgumentTable<PredictArguments>& table();
};

const ArgumentTable<PredictArguments>& PredictArguments::table() {
  using A = PredictArguments;
  static const ArgumentTable<A> rows = {
      "prediction",
      {
          field(&A::test_file, {.name = "test_file", .help = "rows to predict; of text-classification in place of texts"}),
          field(&A::test_dir, {.name = "test_dir", .help = "pictures to predict, in folders of classes, in place of a file"}),
          field(&A::output_dir, {.name = "output_dir", .help = "write the predictions and their metrics here, under the names of transformers' scripts, in place of printing them"}),
          field(&A::per_device_eval_batch_size, {.name = "per_device_eval_batch_size", .help = "rows of a batch", .unit = "rows", .at_least = 1, .below = 1 << 20}),
          field(&A::output_format, {.name = "output_format", .help = "text-classification: text: label, probability and text between tabs; json: one object a line, with logits"}),
          field(&A::num_threads, {.name = "num_threads", .help = "threads, 0 for all cores", .at_least = 0, .below = 1025}),
      },
  };
  return rows;
}

// All that was given, and the task that it asks for.
struct Job {
  const ModelArguments& model;
  const DataArguments& data;
  const PredictArguments& args;
  const PrecisionArguments& precision;
  const tasks::TaskEntry& task;
  const std::vector<std::string>& texts;  // of the command line

  nn::PretrainedOptions from() const { return {.revision = model.model_revision, .cache_dir = model.cache_dir.value_or("")}; }
};

std::string output_file(const Job& job) {
  std::filesystem::create_directories(*job.args.output_dir);
  return *job.args.output_dir + "/" + job.task.predictions_file;
}

// A fine-tuned classifier of one label a text.
nn::Loaded<nn::Model> load_classifier(const Job& job) {
  const std::string& name = job.model.model_name_or_path;
  nn::Loaded<nn::Model> loaded = nn::load_finetuned(job.task.head, name, job.from());
  const std::optional<std::string>& problem = loaded.model->config()->problem_type;
  ROTE_CHECK(!problem || *problem == "single_label_classification", ArgumentError, name, ": its problem_type is ", problem.value_or(""),
             "; this command takes models with one label a text (single_label_classification).");
  return loaded;
}

data::Table given_texts(const std::vector<std::string>& texts) {
  data::Table table{"the command line", {"text"}, {}, {}};
  for (const std::string& text : texts) {
    table.rows.push_back({text});
    table.lines.push_back(static_cast<int64_t>(table.rows.size()));
  }
  return table;
}

size_t greatest(const float* values, size_t n) { return static_cast<size_t>(std::max_element(values, values + n) - values); }

void print_row(const PredictArguments& args, const std::vector<std::string>& labels, const std::string& text, const float* logits, const float* probabilities) {
  const size_t n = labels.size(), best = greatest(probabilities, n);
  if (args.output_format == OutputFormat::text) {
    std::printf("%s\t%.4f\t%s\n", labels[best].c_str(), static_cast<double>(probabilities[best]), text.c_str());
    return;
  }
  ValueList values;
  for (size_t i = 0; i < n; ++i) values.push_back(static_cast<double>(logits[i]));
  ValueMap record;
  record.set("label", labels[best]);
  record.set("score", static_cast<double>(probabilities[best]));
  record.set("logits", std::move(values));
  record.set("text", text);
  std::printf("%s\n", json_text(Value(std::move(record)), {.indent = -1}).c_str());
}

// Texts need no labels, and may stand on the command line.
void classify_texts(const Job& job) {
  const PredictArguments& args = job.args;
  ROTE_CHECK(job.texts.empty() != !args.test_file, ArgumentError, "give texts or --test_file, one of the two.");
  const nn::Loaded<nn::Model> loaded = load_classifier(job);
  nn::Model& model = *loaded.model;
  const std::vector<std::string> labels = tasks::label_names(*model.config());
  const TrainSources nothing;
  const EvaluationFiles none;
  const tasks::Sources sources{job.model, nothing, none, job.data, *model.config()};
  const text::Tokenizer tokenizer = tasks::load_tokenizer(sources);
  const int64_t length = tasks::text_length(sources, tokenizer, 128);
  const data::Table table = args.test_file ? data::read_table(*args.test_file) : given_texts(job.texts);
  const data::TextColumns columns{.text = args.test_file ? job.data.text_column_names : std::vector<std::string>{"text"}, .label = ""};
  const auto rows = data::tokenized(table, columns, labels, tokenizer, length);
  EvaluateOptions options{.batch_rows = args.per_device_eval_batch_size, .data_collator = data::PadCollator(tokenizer)};
  job.precision.set(options);
  const EvaluationOutput output = run_evaluation(model, *rows, options);
  const Tensor& logits = output.prediction.predictions.at(0);
  const NoGrad guard;
  const Tensor probabilities = softmax(logits);
  const int64_t n = logits.size(-1);
  for (int64_t i = 0; i < probabilities.numel(); ++i)
    if (!std::isfinite(probabilities.data<float>()[i]))
      throw RunFailure(NonFiniteError(str("non-finite: the logits of text ", i / n + 1, " hold Inf or NaN; the weights in ", job.model.model_name_or_path, " are damaged.")));
  if (args.output_dir) {
    std::string text = "index\tprediction\n";
    for (int64_t row = 0; row < output.rows; ++row) text += str(row, "\t", labels[greatest(probabilities.data<float>() + row * n, labels.size())], "\n");
    return write_file(output_file(job), text);
  }
  const size_t text_column = table.column(columns.text[0]);
  for (int64_t row = 0; row < output.rows; ++row)
    print_row(args, labels, table.rows[static_cast<size_t>(row)][text_column], logits.data<float>() + row * n, probabilities.data<float>() + row * n);
}

void predict_rows(const Job& job) {
  const PredictArguments& args = job.args;
  ROTE_CHECK(job.texts.empty(), ArgumentError, job.texts[0], ": texts on the line are for text-classification; give --test_file for --task ", word_of(job.data.task), ".");
  ROTE_CHECK(args.test_file || args.test_dir, ArgumentError, "--test_file: is required for --task ", word_of(job.data.task), "; it must be a text.");
  ROTE_CHECK(!args.test_dir || (job.task.takes_folders && !args.test_file), ArgumentError, "--test_dir: is for image-classification in place of --test_file; give one of the two.");
  const nn::Loaded<nn::Model> loaded = nn::load_finetuned(job.task.head, job.model.model_name_or_path, job.from());
  nn::Model& model = *loaded.model;
  const EvaluationFiles rows{args.test_file, args.test_dir};
  const TrainSources nothing;
  const tasks::Prepared prepared = job.task.prepare({job.model, nothing, rows, job.data, *model.config(), /*is_scored=*/false});
  const bool generates = static_cast<bool>(prepared.compute_generated_metrics);
  EvaluateOptions options = evaluation_options(prepared, model, job.data, args.per_device_eval_batch_size, generates);
  job.precision.set(options);
  const EvaluationOutput output = run_evaluation(model, *prepared.eval_dataset, options);
  const std::string text = prepared.predictions_text(output.prediction);
  if (!args.output_dir) {
    std::fputs(text.c_str(), stdout);
    return;
  }
  write_file(output_file(job), text);
  const Metrics metrics = evaluation_metrics(output, "predict", generates ? prepared.compute_generated_metrics : prepared.compute_metrics);
  std::fputs(metrics_text("predict", metrics).c_str(), stdout);
  save_metrics(*args.output_dir, "predict", metrics);
}

}  // namespace

int predict(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{.program = "rote predict", .about = "What a saved model says of texts or of a file of rows.", .positional = "TEXT...", .config = line_over_file},
                              ModelArguments{}, DataArguments{}, PredictArguments{}, PrecisionArguments{});
  print_warnings(parsed.warnings);
  const auto& [model_args, data_args, args, precision] = parsed.values;
  print_warnings(without_effect(data_args));
  throw_faults(precision.faults());
  ROTE_CHECK(!model_args.model_name_or_path.empty(), ArgumentError, "--model_name_or_path: is required; it must be a text.");
  const tasks::TaskEntry& task = tasks::find(data_args.task);
  ROTE_CHECK(task.predictions_file != nullptr, ArgumentError, "--task: ", word_of(data_args.task), " has no prediction for a row; `rote pipeline ", task.head,
             "` shows what its model makes of a text.");
  set_num_threads(static_cast<int>(args.num_threads));
  const Job job{model_args, data_args, args, precision, task, parsed.positional};
  if (data_args.task == Task::text_classification) classify_texts(job);
  else predict_rows(job);
  return 0;
}

}  // namespace rote::app
