// docs/examples/argument_parser.cpp — argument structs of one's own beside the Trainer's, from a command line or from one JSON or YAML file:
// `argument_parser --model_name_or_path NAME [--learning_rate 1e-4 …]`, `argument_parser FILE.json`.
#include <cstdio>
#include <string>

#include "trainer/arguments.h"
#include "trainer/hf_argument_parser.h"

using namespace rote;

struct ModelArguments {
  std::string model_name_or_path;
  std::optional<std::string> cache_dir = {};

  static const ArgumentTable<ModelArguments>& table() {
    using A = ModelArguments;
    static const ArgumentTable<A> rows = {"Model",
                                          {field(&A::model_name_or_path, {.name = "model_name_or_path", .help = "a folder, or a name of the hub's cache", .required = true}),
                                           field(&A::cache_dir, {.name = "cache_dir", .help = "the cache's folder"})}};
    return rows;
  }
};

enum class Split { train, validation, test };
WordList words_of(Split) { return {"train", "validation", "test"}; }

struct DataArguments {
  Split split = Split::train;
  int64_t max_seq_length = 128;
  std::vector<std::string> columns = {"text"};
  bool use_cache_file = true;

  static const ArgumentTable<DataArguments>& table() {
    using A = DataArguments;
    static const ArgumentTable<A> rows = {"Data",
                                          {field(&A::split, {.name = "split", .help = "the part of the dataset"}),
                                           field(&A::max_seq_length, {.name = "max_seq_length", .help = "where texts are cut", .unit = "tokens", .at_least = 1}),
                                           field(&A::columns, {.name = "columns", .help = "the columns that hold texts"}),
                                           field(&A::use_cache_file, {.name = "use_cache_file", .help = "keep the tokens of the last run"})}};
    return rows;
  }
};

int main(int argc, char** argv) {
  return run_program([&] {
    const HfArgumentParser<ModelArguments, DataArguments, TrainingArguments> parser({.program = "argument_parser", .about = "Shows what it was told."});
    const std::string only = argc == 2 ? argv[1] : "";
    const auto parsed = only.ends_with(".json")   ? parser.parse_json_file(only)
                        : only.ends_with(".yaml") ? parser.parse_yaml_file(only)
                                                  : parser.parse_args_into_dataclasses(argc, argv);
    print_warnings(parsed.warnings);
    const auto& [model, data, training] = parsed.values;
    std::printf("%s, cache %s\n", model.model_name_or_path.c_str(), model.cache_dir.value_or("of the environment").c_str());
    std::printf("%s, %ld tokens, %zu columns, cache file %s\n", word_of(data.split).c_str(), static_cast<long>(data.max_seq_length), data.columns.size(),
                data.use_cache_file ? "on" : "off");
    std::printf("learning rate %g, %g epochs\n", static_cast<double>(training.learning_rate), static_cast<double>(training.num_train_epochs));
    return 0;
  });
}
