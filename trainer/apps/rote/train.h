// trainer/apps/rote/train.h — what `rote train` does with its words, for the verbs that do it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/trace.h"

namespace rote::app {

// A part of a run: up to a step, for its trace alone. Nothing is printed, and neither model nor manifest is written.
struct TrainPart {
  std::optional<int64_t> last_step = {};
  TraceWatch watch = {};
};

// words: those behind `rote train`. Gives and throws what train() does (verbs.h).
int train_by_words(const std::vector<std::string>& words, const TrainPart& part = {});

}  // namespace rote::app
