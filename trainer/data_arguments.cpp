// trainer/data_arguments.cpp — the rows of DataArguments.
#include "trainer/data_arguments.h"

#include "kernels/check.h"

namespace rote {

std::vector<std::string> split_columns(std::vector<std::string>& text_column_names) {
  std::vector<std::string> columns;
  for (const std::string& names : text_column_names) {
    for (size_t begin = 0; begin <= names.size();) {
      const size_t end = std::min(names.find(',', begin), names.size());
      columns.push_back(names.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  text_column_names = columns;
  if (columns.size() == 1 || columns.size() == 2) return {};
  return {str("--text_column_names: names ", columns.size(), " columns; a model takes one text or a pair of two.")};
}

const ArgumentTable<DataArguments>& DataArguments::table() {
  using D = DataArguments;
  static const ArgumentTable<D> rows = {
      "model and data",
      {
          field(&D::task, {.name = "task", .help = "what the model learns"}),
          field(&D::model_name_or_path,
                {.name = "model_name_or_path", .help = "folder with config.json, model.safetensors and tokenizer.json", .required = true}),
          field(&D::train_file, {.name = "train_file", .help = "rows to train on, .csv .tsv or .jsonl", .required = true}),
          field(&D::validation_file, {.name = "validation_file", .help = "rows to evaluate on"}),
          field(&D::text_column_names, {.name = "text_column_names", .help = "column of the text, or two of a pair"}),
          field(&D::label_column_name, {.name = "label_column_name", .help = "column of the label"}),
          field(&D::max_seq_length,
                {.name = "max_seq_length", .help = "length to which texts are cut", .unit = "tokens", .at_least = 3, .aliases = {"max_length"}}),
      },
      [](D& args) { return split_columns(args.text_column_names); },
  };
  return rows;
}

}  // namespace rote
