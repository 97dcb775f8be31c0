// trainer/rote_arguments.cpp — the rows of RoteArguments.
#include "trainer/rote_arguments.h"

namespace rote {

const ArgumentTable<RoteArguments>& RoteArguments::table() {
  using R = RoteArguments;
  constexpr int64_t kMany = 1'000'000'000;
  static const ArgumentTable<R> rows = {
      "Rote",
      {
          field(&R::num_threads, {.name = "num_threads", .help = "threads, 0 for all cores; results are the same with any", .at_least = 0, .below = 1025}),
          field(&R::sample_leaf, {.name = "sample_leaf", .help = "rows in one leaf of the gradient's summation tree", .at_least = 1, .below = 1 << 20}),
          field(&R::memory_limit,
                {.name = "memory_limit", .help = "what tensors may take, 0 for no limit; a run that needs more ends with a word", .unit = "MB", .at_least = 0, .below = int64_t{1} << 32}),
          field(&R::arithmetic, {.name = "arithmetic", .help = "ac1 fixes every bit of a result; fast takes the matrix products of OpenBLAS, whose bits depend on machine and threads"}),
          field(&R::initial_scale_power, {.name = "initial_scale_power", .help = "with --fp16: the loss scale begins at 2 to this power", .at_least = 0, .below = 25}),
          field(&R::loss_scale_window, {.name = "loss_scale_window", .help = "without overflow, after which the loss scale doubles", .unit = "updates", .at_least = 1, .below = kMany}),
          field(&R::hysteresis, {.name = "hysteresis", .help = "overflows after which the loss scale halves", .at_least = 1, .below = kMany}),
          field(&R::on_nonfinite, {.name = "on_nonfinite", .help = "an update whose loss or gradient is Inf or NaN, and not by the loss scale alone, ends the run, is skipped, or is skipped and halves the learning rate"}),
          field(&R::max_nonfinite_steps,
                {.name = "max_nonfinite_steps", .help = "in a row that may be skipped so, 0 for any number; one more ends the run", .unit = "updates", .at_least = 0, .below = kMany}),
          field(&R::log_numerics, {.name = "log_numerics", .help = "largest magnitudes, headroom and underflow of each module in output_dir/numerics.jsonl with each log, for rote numerics"}),
          field(&R::debug_backward, {.name = "debug_backward", .help = "with --debug underflow_overflow: frames of gradients and updates too"}),
          field(&R::trace_hashes, {.name = "trace_hashes", .help = "hashes of each update in output_dir/trace.bin, for rote diff and rote replay: of gradients and parameters, of modules' results too, of ops' too"}),
          field(&R::include_tokens_per_second, {.name = "include_tokens_per_second", .help = "train_tokens_per_second at the end"}),
          field(&R::throughput_warmup_steps,
                {.name = "throughput_warmup_steps", .help = "that rates leave out", .unit = "updates", .at_least = 0, .below = kMany}),
          field(&R::adjust_throughput, {.name = "adjust_throughput", .help = "rates leave out the time of logging, evaluation and saving"}),
          field(&R::profiling_warmup_steps, {.name = "profiling_warmup_steps", .help = "before the trace of training begins", .unit = "updates", .at_least = 0, .below = kMany}),
          field(&R::profiling_steps,
                {.name = "profiling_steps", .help = "in the trace output_dir/profile/train.json of ops, 0 for none", .unit = "updates", .at_least = 0, .below = kMany}),
          field(&R::profiling_warmup_steps_eval,
                {.name = "profiling_warmup_steps_eval", .help = "before that of an evaluation or prediction", .unit = "batches", .at_least = 0, .below = kMany}),
          field(&R::profiling_steps_eval,
                {.name = "profiling_steps_eval", .help = "in profile/eval.json or test.json, 0 for none", .unit = "batches", .at_least = 0, .below = kMany}),
          field(&R::profiling_record_shapes, {.name = "profiling_record_shapes", .help = "with the shapes of each op's inputs"}),
          memberless<R>({.name = "profiling_with_stack", .action = FieldAction::ignore, .reason = "since a trace has no stacks of Python", .beside = true}, false),
          field(&R::log_memory, {.name = "log_memory", .help = "memory_allocated, max_memory_allocated and total_memory_available in every log, in GB"}),
      },
  };
  return rows;
}

}  // namespace rote
