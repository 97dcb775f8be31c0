// trainer/apps/rote/evaluation_options.h — how `rote evaluate` and `rote predict` run a prepared task over its rows.
#pragma once

#include "trainer/evaluation.h"
#include "trainer/tasks/task.h"

namespace rote::app {

// What both compute in: as training does, or the whole model.
struct PrecisionArguments {
  bool bf16 = false, fp16 = false, bf16_full_eval = false, fp16_full_eval = false;

  static const ArgumentTable<PrecisionArguments>& table();
  std::vector<std::string> faults() const;
  void set(EvaluateOptions& options) const;
};

// `generates`: outputs are the ids that the model writes, as --max_target_length and --num_beams say, in place of its logits; the loss is there where
// the rows have labels.
EvaluateOptions evaluation_options(const tasks::Prepared& prepared, nn::Model& model, const DataArguments& data, int64_t batch_rows, bool generates);

}  // namespace rote::app
