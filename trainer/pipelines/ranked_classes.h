// trainer/pipelines/ranked_classes.h — the logits of one input as its classes, best first: what the classifiers of texts and of pictures share.
#pragma once

#include "nn/config.h"
#include "trainer/pipelines/pipeline.h"

namespace rote::pipelines {

// {label, score} of the best options.top_k classes, `otherwise` where it is not given, all where that is 0; the lowest class first among equals.
// Scores by options.function_to_apply, or as the config's problem_type and number of labels ask.
Records ranked_classes(const Tensor& logits, const nn::Config& config, const PipelineOptions& options, int64_t otherwise);

}  // namespace rote::pipelines
