// trainer/apps/rote/predict.cpp — `rote predict`: label and probability of texts from the command line or a file.
#include <cmath>
#include <cstdio>

#include "autograd/ops.h"
#include "kernels/pool.h"
#include "nn/auto.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/argument_files.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/evaluation.h"
#include "trainer/json_text.h"
#include "trainer/parser.h"
#include "trainer/tasks/task.h"

namespace rote::app {

namespace {

enum class OutputFormat { text, json };
WordList words_of(OutputFormat) { return {"text", "json"}; }

struct PredictArguments {
  std::string model_name_or_path;
  std::optional<std::string> test_file;
  std::vector<std::string> text_column_names = {"text"};
  std::optional<int64_t> max_seq_length = {};
  int64_t per_device_eval_batch_size = 32;
  OutputFormat output_format = OutputFormat::text;
  int64_t num_threads = 0;

  static const ArgumentTable<PredictArguments>& table();
};

const ArgumentTable<PredictArguments>& PredictArguments::table() {
  using A = PredictArguments;
  static const ArgumentTable<A> rows = {
      "arguments",
      {
          field(&A::model_name_or_path, {.name = "model_name_or_path", .help = "folder that rote train has written, or a name in the hub's cache", .required = true}),
          field(&A::test_file, {.name = "test_file", .help = "rows to predict, .csv .tsv or .jsonl, in place of texts"}),
          field(&A::text_column_names, {.name = "text_column_names", .help = "column of the text, or two of a pair"}),
          field(&A::max_seq_length, {.name = "max_seq_length", .help = "length to which texts are cut", .unit = "tokens", .at_least = 3, .aliases = {"max_length"}}),
          field(&A::per_device_eval_batch_size, {.name = "per_device_eval_batch_size", .help = "rows of a batch", .unit = "rows", .at_least = 1, .below = 1 << 20}),
          field(&A::output_format, {.name = "output_format", .help = "text: label, probability and text between tabs; json: one object a line, with logits"}),
          field(&A::num_threads, {.name = "num_threads", .help = "threads, 0 for all cores", .at_least = 0, .below = 1025}),
      },
      [](A& args) { return split_columns(args.text_column_names); },
  };
  return rows;
}

// A fine-tuned classifier of one label a text.
nn::Loaded<nn::Model> load_classifier(const std::string& name) {
  nn::Loaded<nn::Model> loaded = nn::load_finetuned("text-classification", name);
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

void print_row(const PredictArguments& args, const std::vector<std::string>& labels, const std::string& text, const float* logits, const float* probabilities) {
  const size_t n = labels.size();
  size_t best = 0;
  for (size_t i = 1; i < n; ++i)
    if (probabilities[i] > probabilities[best]) best = i;
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

}  // namespace

int predict(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{.program = "rote predict", .about = "Label and probability of texts by a saved classifier.", .positional = "TEXT...", .config = line_over_file}, PredictArguments{});
  print_warnings(parsed.warnings);
  const PredictArguments& args = std::get<0>(parsed.values);
  ROTE_CHECK(parsed.positional.empty() != !args.test_file, ArgumentError, "give texts or --test_file, one of the two.");
  const nn::Loaded<nn::Model> loaded = load_classifier(args.model_name_or_path);
  nn::Model& model = *loaded.model;
  const std::vector<std::string> labels = tasks::label_names(*model.config());
  const ModelArguments model_args{.model_name_or_path = args.model_name_or_path};
  const DataArguments data_args{.max_seq_length = args.max_seq_length};
  const TrainSources nothing;
  const tasks::Sources sources{model_args, nothing, data_args, *model.config()};
  const text::Tokenizer tokenizer = tasks::load_tokenizer(sources);
  const int64_t length = tasks::text_length(sources, tokenizer, 128);
  const data::Table table = args.test_file ? data::read_table(*args.test_file) : given_texts(parsed.positional);
  const data::TextColumns columns{.text = args.test_file ? args.text_column_names : std::vector<std::string>{"text"}, .label = ""};
  const auto rows = data::tokenized(table, columns, labels, tokenizer, length);
  set_num_threads(static_cast<int>(args.num_threads));
  const EvaluationOutput output =
      run_evaluation(model, *rows, {.batch_rows = args.per_device_eval_batch_size, .data_collator = data::PadCollator(tokenizer)});
  const Tensor& logits = output.prediction.predictions.at(0);
  const NoGrad guard;
  const Tensor probabilities = softmax(logits);
  const int64_t n = logits.size(-1);
  for (int64_t i = 0; i < probabilities.numel(); ++i)
    if (!std::isfinite(probabilities.data<float>()[i]))
      throw RunFailure(NonFiniteError(str("non-finite: the logits of text ", i / n + 1, " hold Inf or NaN; the weights in ", args.model_name_or_path, " are damaged.")));
  const size_t text_column = table.column(columns.text[0]);
  for (int64_t row = 0; row < output.rows; ++row)
    print_row(args, labels, table.rows[static_cast<size_t>(row)][text_column], logits.data<float>() + row * n, probabilities.data<float>() + row * n);
  return 0;
}

}  // namespace rote::app
