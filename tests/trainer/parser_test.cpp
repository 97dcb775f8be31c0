// tests/trainer/parser_test.cpp — command lines: argparse's rules, all faults at once, help.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "kernels/check.h"
#include "trainer/arguments.h"
#include "trainer/data_arguments.h"
#include "trainer/parser.h"
#include "trainer/rote_arguments.h"

using namespace rote;

namespace {

struct Small {
  int64_t size = 42;
  Number ratio = 0.5;
  std::string name_text = "toto";
  bool use_fast = false;
  bool keep_all = true;
  std::optional<bool> maybe;
  std::vector<int64_t> ints;
  int64_t fixed = 1;
  int64_t idle = 1;

  static const ArgumentTable<Small>& table() {
    static const ArgumentTable<Small> rows = {
        "Rates",
        {
            field(&Small::size, {.name = "size", .help = "a size", .at_least = 0, .aliases = {"extent", "s"}}),
            field(&Small::ratio, {.name = "ratio", .help = "a ratio", .unit = "parts"}),
            field(&Small::name_text, {.name = "name_text", .help = "a name"}),
            field(&Small::use_fast, {.name = "use_fast", .help = "be fast"}),
            field(&Small::keep_all, {.name = "keep_all", .help = "keep all"}),
            field(&Small::maybe, {.name = "maybe", .help = "three states"}),
            field(&Small::ints, {.name = "ints", .help = "a list"}),
            field(&Small::fixed, {.name = "fixed", .help = "no choice", .action = FieldAction::reject, .reason = "since only one is built"}),
            field(&Small::idle, {.name = "idle", .help = "nothing", .action = FieldAction::ignore, .reason = "since there is one process"}),
            older_name<Small>({.name = "old_size", .help = "", .maps_to = "size"}),
        },
    };
    return rows;
  }
};

const Usage kUsage{"small", "A test.", ""};

Small parse_small(const std::vector<std::string>& words) { return std::get<0>(parse_words<Small>(words, kUsage, Small{}).values); }

std::string fault_small(const std::vector<std::string>& words) {
  try {
    parse_small(words);
  } catch (const ArgumentError& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace

TEST_CASE("parser: values, dashes, beginnings, aliases, the last one wins") {
  CHECK(parse_small({}).size == 42);
  CHECK(parse_small({"--size", "3"}).size == 3);
  CHECK(parse_small({"--size=3", "--size", "4"}).size == 4);
  CHECK(parse_small({"--siz", "5"}).size == 5);
  CHECK(parse_small({"--extent", "6"}).size == 6);
  CHECK(parse_small({"-s", "7"}).size == 7);
  CHECK(parse_small({"-s8"}).size == 8);
  CHECK(parse_small({"-s=9"}).size == 9);
  CHECK(parse_small({"--name-text", "-a b"}).name_text == "-a b");
  CHECK(parse_small({"--name_text=-x=y"}).name_text == "-x=y");
  CHECK(parse_small({"--name_text", ""}).name_text == "");
  CHECK(parse_small({"--ratio", "-0.5"}).ratio == -0.5);
  CHECK(parse_small({"--ratio", "-1e-4"}).ratio == -1e-4);
}

TEST_CASE("parser: three forms of a flag") {
  CHECK(parse_small({"--use_fast"}).use_fast);
  CHECK(parse_small({"--use_fast", "YES"}).use_fast);
  CHECK_FALSE(parse_small({"--use_fast=0"}).use_fast);
  CHECK_FALSE(parse_small({"--no_keep_all"}).keep_all);
  CHECK_FALSE(parse_small({"--no-keep-all"}).keep_all);
  CHECK(*parse_small({"--maybe", "f"}).maybe == false);
  CHECK(fault_small({"--maybe"}) == "--maybe: needs a value, true or false, or nothing.");
  const Usage usage;
  for (const char* flag : {"--activation_checkpointing", "--gradient_checkpointing"})
    CHECK(*std::get<0>(parse_words({flag}, usage, TrainingArguments{}).values).activation_checkpointing);
  CHECK_FALSE(*std::get<0>(parse_words({"--activation_checkpointing", "no"}, usage, TrainingArguments{}).values).activation_checkpointing);
  CHECK(fault_small({"--use_fast", "2"}) == "--use_fast: got 2; it must be true or false.");
  CHECK(fault_small({"--no_keep_all=yes"}) == "--no_keep_all: takes no value; write --keep_all=yes.");
  CHECK(fault_small({"--no_use_fast"}).find("--no_use_fast: no such argument") == 0);
}

TEST_CASE("parser: where words without a name are taken, a bool's flag takes the next word only where it says true or false") {
  const Usage usage{"small", "A test.", "PATH..."};
  const auto read = [&](const std::vector<std::string>& words) { return parse_words<Small>(words, usage, Small{}); };
  const auto bare = read({"--use_fast", "run", "--keep_all", "2"});
  CHECK(std::get<0>(bare.values).use_fast);
  CHECK(std::get<0>(bare.values).keep_all);
  CHECK(bare.positional == std::vector<std::string>{"run", "2"});
  const auto said = read({"--use_fast", "no", "run"});
  CHECK_FALSE(std::get<0>(said.values).use_fast);
  CHECK(said.positional == std::vector<std::string>{"run"});
  CHECK_THROWS_AS(read({"--maybe", "run"}), ArgumentError);  // it is never bare
  CHECK_THROWS_AS(read({"--use_fast=run"}), ArgumentError);
}

TEST_CASE("parser: a list takes what follows, an attached value stands alone") {
  CHECK(parse_small({"--ints", "1", "-2", "3", "--size", "1"}).ints == std::vector<int64_t>{1, -2, 3});
  CHECK(parse_small({"--ints", "1", "2", "--ints", "3"}).ints == std::vector<int64_t>{3});
  CHECK(fault_small({"--ints=4", "5"}) == "5: belongs to no argument; a value follows its --name.");
  CHECK(fault_small({"--ints", "1", "x"}) == "--ints: got x; it must be a list, each a whole number.");
  CHECK(fault_small({"--ints"}) == "--ints: needs a value, a list, each a whole number.");
}

TEST_CASE("parser: Python's numbers") {
  CHECK(*parse_int(" 1_000 ") == 1000);
  CHECK(*parse_int("+007") == 7);
  for (const char* text : {"", "2.5", "0x10", "ten", "1__0", "_1", "+-1", "99999999999999999999"}) CHECK_FALSE(parse_int(text));
  CHECK(*parse_float("1_0.5") == 10.5);
  CHECK(*parse_float(".5") == 0.5);
  CHECK(*parse_float("1e400") == INFINITY);
  CHECK(*parse_float("-1e400") == -INFINITY);
  CHECK(*parse_float("1e-400") == 0.0);
  CHECK(*parse_float("-Infinity") == -INFINITY);
  CHECK(std::isnan(*parse_float("nan")));
  for (const char* text : {"", "1,5", "0x1p3", "nan(1)", "1e", "--1", "+ 1"}) CHECK_FALSE(parse_float(text));
}

TEST_CASE("parser: all faults of a line are told at once, and none that only follows from another") {
  CHECK(fault_small({"--sise", "3", "--ratio", "much", "--k", "stray", "--fixed", "2", "--size", "-1"}) ==
        "--sise: no such argument; did you mean --size?\n"
        "--ratio: got much; it must be a number.\n"
        "--keep_all: got stray; it must be true or false.\n"
        "--fixed: 2 cannot be used, since only one is built.");
  CHECK(fault_small({"--size", "-1"}) == "--size: is -1; it must be at least 0.");
  CHECK(fault_small({"--zzzzzzzz", "1"}) == "--zzzzzzzz: no such argument; --help lists them.");
  // The strategy was not understood, so that nothing is said of what depends on it.
  const std::vector<std::string> words = {"--load_best_model_at_end", "--eval_strategy", "step"};
  CHECK_THROWS_WITH_AS(parse_words<TrainingArguments>(words, kUsage, {}),
                       "--eval_strategy: there is no step; did you mean steps? The words are no, steps, epoch.", ArgumentError);
}

TEST_CASE("parser: ambiguous beginnings name all that fit") {
  CHECK_THROWS_WITH_AS(parse_words<TrainingArguments>({"--logging_s", "1"}, kUsage, {}),
                       "--logging_s: is the beginning of --logging_strategy, --logging_steps; write one of them in full.", ArgumentError);
}

TEST_CASE("parser: a misspelt name is answered with the right one and its words") {
  CHECK_THROWS_WITH_AS(parse_words<TrainingArguments>({"--lr_schedular_type", "linear"}, kUsage, {}),
                       "--lr_schedular_type: no such argument; did you mean --lr_scheduler_type (linear, cosine, cosine_with_restarts, …)?", ArgumentError);
}

TEST_CASE("parser: older names and fields without effect warn") {
  const auto parsed = parse_words<Small>({"--old_size", "9", "--idle", "3"}, kUsage, Small{});
  CHECK(std::get<0>(parsed.values).size == 9);
  CHECK(parsed.warnings ==
        std::vector<std::string>{"--old_size: is the older name of --size.", "--idle: has no effect, since there is one process."});
  CHECK(fault_small({"--old_size", "many"}) == "--size: got 'many'; it must be a whole number.");
}

TEST_CASE("parser: several structs, words without a name, the end of flags") {
  const Usage usage{"rote predict", "", "TEXT..."};
  const auto parsed = parse_words(std::vector<std::string>{"--seed", "7", "--num_threads", "2", "--max_length", "48", "--model_name_or_path", "m",
                                                           "--train_file", "t.tsv", "one", "--", "--two"},
                                  usage, TrainingArguments{}, RoteArguments{}, DataArguments{}, ModelArguments{}, TrainSources{});
  const auto& [args, rote, data, model, sources] = parsed.values;
  CHECK(args.seed == 7);
  CHECK(rote.num_threads == 2);
  CHECK(data.max_seq_length == 48);
  CHECK(model.model_name_or_path == "m");
  CHECK(sources.train_file == "t.tsv");
  CHECK(parsed.positional == std::vector<std::string>{"one", "--two"});
  CHECK_THROWS_AS(parse_words(std::vector<std::string>{}, usage, Small{}, Small{}), ArgumentError);
}

TEST_CASE("parser: the job of the README") {
  const char* argv[] = {"rote",
                        "--task",
                        "text-classification",
                        "--model_name_or_path",
                        "DIR",
                        "--train_file",
                        "X.tsv",
                        "--text_column_names",
                        "text",
                        "--label_column_name",
                        "label",
                        "--output_dir",
                        "OUT",
                        "--max_seq_len",
                        "48",
                        "--train_sampling_strategy",
                        "group_by_length",
                        "--per_device_train_batch_size",
                        "32",
                        "--num_train_epochs",
                        "2",
                        "--learning_rate",
                        "1e-4",
                        "--warmup_steps",
                        "0.1",
                        "--weight_decay",
                        "0.01",
                        "--seed",
                        "42",
                        "--report_to",
                        "none",
                        "--include_num_input_tokens_seen",
                        "--no_logging_nan_inf_filter"};
  const auto parsed = parse_command(static_cast<int>(std::size(argv)), argv, kUsage, DataArguments{}, TrainingArguments{}, RoteArguments{}, ModelArguments{}, TrainSources{});
  const TrainingArguments& args = std::get<1>(parsed.values);
  CHECK(args.learning_rate == 1e-4);
  CHECK(args.num_train_epochs == 2);
  CHECK(args.train_sampling_strategy == data::SamplingStrategy::group_by_length);
  CHECK(args.include_num_input_tokens_seen == TokenCount::all);
  CHECK_FALSE(args.logging_nan_inf_filter);
  CHECK(std::get<0>(parsed.values).max_seq_length == 48);
}

TEST_CASE("parser: a program's own defaults hold until the line says otherwise") {
  const char* argv[] = {"program", "--max_steps", "5"};
  const auto args = parse<TrainingArguments>(3, argv, {.output_dir = "out", .max_steps = 2000, .learning_rate = 1e-3});
  CHECK(args.output_dir == "out");
  CHECK(args.max_steps == 5);
  CHECK(args.learning_rate == 1e-3);
}

TEST_CASE("parser: help shows what can be used, with words and defaults, and nothing else") {
  const Usage usage{"rote train", "Fine-tunes a model.", ""};
  const std::vector<RowGroup> groups = {{"Rates", rows_of(Small{})}, {"training", rows_of(TrainingArguments{.seed = 3})}};
  const std::string help = help_text(usage, groups);
  CHECK(help.find("usage: rote train [--name value ...]\nFine-tunes a model.\n\nRates:\n") == 0);
  CHECK(help.find("  --size, --extent, -s INT                  a size (42)\n") != std::string::npos);
  CHECK(help.find("  --ratio NUMBER                            a ratio, in parts (0.5)\n") != std::string::npos);
  CHECK(help.find("  --use_fast                                be fast\n") != std::string::npos);
  CHECK(help.find("  --[no_]keep_all                           keep all (true)\n") != std::string::npos);
  CHECK(help.find("  --maybe true|false                        three states\n") != std::string::npos);
  CHECK(help.find("  --eval_strategy WORD                      when to evaluate during training: no, steps, epoch (no)\n") != std::string::npos);
  CHECK(help.find("weights, dropout and data order (3)\n") != std::string::npos);
  CHECK(help.find("--name-text is --name_text") != std::string::npos);
  for (const char* hidden : {"--fixed", "--idle", "--old_size"}) CHECK(help.find(hidden) == std::string::npos);
  CHECK_THROWS_AS(parse_small({"--nonsense", "-h"}), HelpRequested);
  CHECK(run_program([]() -> int { return parse_small({"--size", "x"}).size > 0 ? 0 : 3; }) == 2);
}
