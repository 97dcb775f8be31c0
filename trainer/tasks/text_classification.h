// trainer/tasks/text_classification.h — the scores of a text's classes, for who evaluates without a Trainer. The task: task.h.
#pragma once

#include "trainer/evaluation.h"

namespace rote::tasks {

// accuracy and f1: of class 1 where there are two classes, else the mean over classes.
Metrics classification_metrics(const EvalPrediction& prediction);
// mse of predictions [N,1] and labels f32[N].
Metrics regression_metrics(const EvalPrediction& prediction);
// f1 of all decisions counted together (micro): predictions [N,L], of which those above 0 are taken, labels [N,L] of 1 and 0.
Metrics multi_label_metrics(const EvalPrediction& prediction);

}  // namespace rote::tasks
