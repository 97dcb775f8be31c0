// tests/trainer/gaudi_arguments_test.cpp — GaudiTrainingArguments: its defaults, what of it is taken and what refused; GaudiConfig from its JSON.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "trainer/gaudi_arguments.h"
#include "trainer/parser.h"
#include "trainer/rote_arguments.h"

using namespace rote;

namespace {

const Usage kUsage{.program = "p", .about = ""};

}  // namespace

TEST_CASE("gaudi arguments: the changed defaults, and an object of defaults is fine") {
  const GaudiTrainingArguments args = resolved(GaudiTrainingArguments{});
  CHECK(args.optim == "adamw_torch");
  CHECK(args.adam_epsilon == 1e-6);
  CHECK_FALSE(args.logging_nan_inf_filter);
  CHECK(*args.ddp_bucket_cap_mb == 230);
  CHECK(*to_map(args).find("use_lazy_mode") == Value(true));
  CHECK(*to_map(args).find("attn_implementation") == Value("eager"));
}

TEST_CASE("gaudi arguments: the same lines and rules, no device pretended") {
  const auto parsed = parse_words({"--seed", "7", "--attn_implementation", "sdpa", "--use_lazy_mode", "false", "--gaudi_config_name", "g"}, kUsage, GaudiTrainingArguments{});
  CHECK(std::get<0>(parsed.values).seed == 7);
  CHECK(*std::get<0>(parsed.values).gaudi_config_name == "g");
  CHECK(parsed.warnings.size() == 2);
  CHECK_THROWS_WITH_AS(parse_words({"--use_habana", "--fp8", "--distribution_strategy", "fast_ddp", "--max_hpu_graphs", "3", "--logging_steps", "0"}, kUsage, GaudiTrainingArguments{}),
                       "--use_habana: True cannot be used, since there is no such device here.\n--fp8: True cannot be used, since there is no such device here.\n"
                       "--distribution_strategy: fast_ddp cannot be used, since there is no such device here.\n--max_hpu_graphs: 3 cannot be used, since there is no such device here.\n"
                       "--logging_steps: is 0 with --logging_strategy steps; give a number of steps, or --logging_strategy no.",
                       ArgumentError);
}

TEST_CASE("gaudi arguments: ignore_eos, true by default there, is refused where it is asked for and is no part of the map") {
  CHECK_THROWS_WITH_AS(parse_words({"--ignore_eos"}, kUsage, GaudiTrainingArguments{}), "--ignore_eos: True cannot be used, since generation ends at the end token.", ArgumentError);
  CHECK_THROWS_AS(parse_words({"--ignore_eos", "true"}, kUsage, GaudiTrainingArguments{}), ArgumentError);
  CHECK_NOTHROW(parse_words({"--no_ignore_eos"}, kUsage, GaudiTrainingArguments{}));
  CHECK_NOTHROW(parse_words({"--ignore_eos", "false"}, kUsage, GaudiTrainingArguments{}));
  CHECK(to_map(GaudiTrainingArguments{}).find("ignore_eos") == nullptr);
}

TEST_CASE("gaudi arguments: with RoteArguments a line has all names, windows of throughput and profiling among them") {
  const auto parsed = parse_words({"--throughput_warmup_steps", "2", "--adjust_throughput", "--profiling_steps", "3", "--no_profiling_record_shapes", "--profiling_with_stack", "--log_memory"}, kUsage,
                                  GaudiTrainingArguments{}, RoteArguments{});
  const RoteArguments& rote = std::get<1>(parsed.values);
  CHECK(rote.throughput_warmup_steps == 2);
  CHECK(rote.adjust_throughput);
  CHECK(rote.profiling_steps == 3);
  CHECK_FALSE(rote.profiling_record_shapes);
  CHECK(rote.log_memory);
  CHECK(parsed.warnings == std::vector<std::string>{"--profiling_with_stack: has no effect, since a trace has no stacks of Python."});
  CHECK_THROWS_WITH_AS(parse_words({"--throughput_warmup_steps", "-1"}, kUsage, GaudiTrainingArguments{}, RoteArguments{}),
                       "--throughput_warmup_steps: is -1; it must be at least 0 and below 1000000000.", ArgumentError);
}

TEST_CASE("GaudiConfig: from a file or a folder, other keys left alone, types checked") {
  const testing::TempFolder folder;
  const std::string path = folder.file("gaudi_config.json", R"({"use_fused_adam": true, "autocast_bf16_ops": ["add"], "optimum_version": "1.0"})");
  CHECK(read_gaudi_config(folder.path()).use_fused_adam);
  CHECK(*read_gaudi_config(path).autocast_bf16_ops == std::vector<std::string>{"add"});
  CHECK_FALSE(GaudiConfig{}.use_torch_autocast);
  const std::string wrong = folder.file("b.json", R"({"use_fused_adam": 1})");
  CHECK_THROWS_WITH_AS(read_gaudi_config(wrong), (wrong + ": use_fused_adam: got 1; it must be true or false.").c_str(), ArgumentError);
  CHECK_THROWS_AS(read_gaudi_config(folder.file("none.json")), IoError);
}
