// trainer/rote_arguments.h — RoteArguments: settings of a run that version 5 of the reference does not have: Rote's own, and how to measure. No rows
// (rote_arguments.cpp).
#pragma once

#include <cstdint>

#include "autograd/arithmetic.h"
#include "trainer/fields.h"

namespace rote {

inline WordList words_of(Arithmetic) { return {"ac1", "fast"}; }

// What a trace of a run holds of each step: hashes of its batch, loss, gradients and parameters; of what each module gives; of what each op gives and
// of each gradient that an op's backward gives. Each level holds those before it.
enum class TraceLevel { no, steps, modules, ops };
inline WordList words_of(TraceLevel) { return {"no", "steps", "modules", "ops"}; }

// What becomes of an update whose loss or gradient is not finite where no loss scale may cure it.
enum class NonFinitePolicy { skip, stop, halve };
inline WordList words_of(NonFinitePolicy) { return {"skip", "stop", "halve"}; }

// Saved under `rote` in training_args.json. Neither sample_leaf nor arithmetic may change when a run is resumed, or its bits change.
struct RoteArguments {
  int64_t num_threads = 0;  // 0: all cores; moves no bit of any result
  int64_t sample_leaf = 1;  // consecutive rows whose gradients are one chain
  int64_t memory_limit = 0;  // MB of tensors; 0: none
  Arithmetic arithmetic = Arithmetic::ac1;
  TraceLevel trace_hashes = TraceLevel::no;

  // Of the loss scale of --fp16, 2^exponent with 0 <= exponent <= 24; names of DeepSpeed's configuration.
  int64_t initial_scale_power = 16;
  int64_t loss_scale_window = 2000;  // applied updates in a row after which it doubles
  int64_t hysteresis = 1;            // overflows after which it halves

  NonFinitePolicy on_nonfinite = NonFinitePolicy::stop;
  int64_t max_nonfinite_steps = 10;  // in a row that are skipped; 0: any number
  bool log_numerics = false;
  bool debug_backward = false;

  // Of version 4 and of the Gaudi trainer.
  bool include_tokens_per_second = false;
  int64_t throughput_warmup_steps = 0;
  bool adjust_throughput = false;
  int64_t profiling_warmup_steps = 0, profiling_steps = 0;
  int64_t profiling_warmup_steps_eval = 0, profiling_steps_eval = 0;
  bool profiling_record_shapes = true;
  bool log_memory = false;

  static const ArgumentTable<RoteArguments>& table();
};

}  // namespace rote
