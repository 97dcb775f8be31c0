// trainer/apps/rote/evaluate.cpp — `rote evaluate`: loss and scores of a saved classifier on labelled rows.
#include <cstdio>

#include "kernels/pool.h"
#include "trainer/apps/rote/classify.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/data_arguments.h"
#include "trainer/parser.h"
#include "trainer/text_forms.h"

namespace rote::app {

namespace {

struct EvaluateArguments {
  std::string model_name_or_path;
  std::string validation_file;
  std::vector<std::string> text_column_names = {"text"};
  std::string label_column_name = "label";
  int64_t max_seq_length = 128;
  int64_t per_device_eval_batch_size = 32;
  int64_t num_threads = 0;

  static const ArgumentTable<EvaluateArguments>& table();
};

const ArgumentTable<EvaluateArguments>& EvaluateArguments::table() {
  using A = EvaluateArguments;
  static const ArgumentTable<A> rows = {
      "arguments",
      {
          field(&A::model_name_or_path, {.name = "model_name_or_path", .help = "folder that rote train has written", .required = true}),
          field(&A::validation_file, {.name = "validation_file", .help = "labelled rows, .csv .tsv or .jsonl", .required = true}),
          field(&A::text_column_names, {.name = "text_column_names", .help = "column of the text, or two of a pair"}),
          field(&A::label_column_name, {.name = "label_column_name", .help = "column of the label"}),
          field(&A::max_seq_length, {.name = "max_seq_length", .help = "length to which texts are cut", .unit = "tokens", .at_least = 3, .aliases = {"max_length"}}),
          field(&A::per_device_eval_batch_size, {.name = "per_device_eval_batch_size", .help = "rows of a batch", .unit = "rows", .at_least = 1, .below = 1 << 20}),
          field(&A::num_threads, {.name = "num_threads", .help = "threads, 0 for all cores", .at_least = 0, .below = 1025}),
      },
      [](A& args) { return split_columns(args.text_column_names); },
  };
  return rows;
}

}  // namespace

int evaluate(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{"rote evaluate", "Loss and scores of a saved classifier on a file of labelled texts."}, EvaluateArguments{});
  print_warnings(parsed.warnings);
  const EvaluateArguments& args = std::get<0>(parsed.values);
  Classifier c = load_classifier(args.model_name_or_path);
  check_inputs(args.model_name_or_path, c.tokenizer, c.model->config()->limits(), args.max_seq_length);
  const auto rows = data::tokenized(data::read_table(args.validation_file), {.text = args.text_column_names, .label = args.label_column_name}, c.labels,
                                    c.tokenizer, args.max_seq_length);
  set_num_threads(static_cast<int>(args.num_threads));
  const EvaluationOutput output =
      run_evaluation(*c.model, *rows, {.batch_rows = args.per_device_eval_batch_size, .data_collator = data::PadCollator(c.tokenizer)});
  std::fputs(metrics_text("eval", evaluation_metrics(output, "eval", classification_metrics)).c_str(), stdout);
  return 0;
}

}  // namespace rote::app
