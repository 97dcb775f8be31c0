// trainer/tasks/text_classification.h — the scores of a text's classes, for who evaluates without a Trainer. The task: task.h.
#pragma once

#include "trainer/evaluation.h"

namespace rote::tasks {

// accuracy and f1: of class 1 where there are two classes, else the mean over classes.
Metrics classification_metrics(const EvalPrediction& prediction);

}  // namespace rote::tasks
