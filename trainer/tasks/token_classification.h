// trainer/tasks/token_classification.h — the scores of tagged words, for who evaluates without a Trainer. The task: task.h.
#pragma once

#include <string>
#include <vector>

#include "trainer/evaluation.h"

namespace rote::tasks {

// predictions[0]: the class of each token, i64[N,T]; label_ids: i64[N,T], -100 where none is scored. Where the labels name entities precision, recall
// and f1 are those of whole entities, with `by_type` <type>_precision … <type>_number too; else f1 is the mean over tags of each one's f1. With accuracy,
// the share of scored tokens that are right.
Metrics token_metrics(const EvalPrediction& prediction, const std::vector<std::string>& labels, bool by_type = false);

}  // namespace rote::tasks
