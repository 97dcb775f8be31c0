// trainer/pipelines/tasks.h — what each task gives to the list in pipeline.cpp: how it is loaded, and its records as values. One file a task.
#pragma once

#include "trainer/pipelines/pipeline.h"

namespace rote::pipelines {

// {label, score}: the best class of a text, the five best of a picture, or top_k of them, best first.
PipelineRun text_classification(const PipelineOptions& options);
PipelineRun image_classification(const PipelineOptions& options);
Value classes_value(const Records& records, const PipelineOptions& options);

// {entity, score, index, word, start, end} of each token, or {entity_group, score, word, start, end} of each group.
PipelineRun token_classification(const PipelineOptions& options);
Value token_classification_value(const Records& records, const PipelineOptions& options);

// {score, token, token_str, sequence}, best first; a list of these for each mask where there are several.
PipelineRun fill_mask(const PipelineOptions& options);
Value fill_mask_value(const Records& records, const PipelineOptions& options);

// [1][T][C].
PipelineRun feature_extraction(const PipelineOptions& options);
Value feature_extraction_value(const Records& records, const PipelineOptions& options);

// {generated_text}.
PipelineRun text_generation(const PipelineOptions& options);
PipelineRun text2text_generation(const PipelineOptions& options);
Value text_generation_value(const Records& records, const PipelineOptions& options);

}  // namespace rote::pipelines
