// trainer/rote_arguments.h — RoteArguments: Rote's own settings of a run, which no other trainer has. No rows (rote_arguments.cpp).
#pragma once

#include <cstdint>

#include "trainer/fields.h"

namespace rote {

enum class ArithmeticMode { ac1 };
inline WordList words_of(ArithmeticMode) { return {"ac1"}; }

// Saved under `rote` in training_args.json. None but num_threads may change when a run is resumed, or its bits change.
struct RoteArguments {
  int64_t num_threads = 0;  // 0: all cores; moves no bit of any result
  int64_t sample_leaf = 1;  // consecutive rows whose gradients are one chain
  ArithmeticMode arithmetic = ArithmeticMode::ac1;

  static const ArgumentTable<RoteArguments>& table();
};

}  // namespace rote
