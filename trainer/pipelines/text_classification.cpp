// trainer/pipelines/text_classification.cpp — the class of a text, with its score.
#include "trainer/pipelines/ranked_classes.h"
#include "trainer/pipelines/tasks.h"
#include "trainer/pipelines/text_model.h"

namespace rote::pipelines {

PipelineRun text_classification(const PipelineOptions& options) {
  return [options, m = load_text_model("text-classification", options)](const std::vector<std::string>& texts) {
    std::vector<Records> all(texts.size());
    for_each_output(*m, rows_of(*m, texts, {.truncation = options.truncation}),
                    [&](size_t row, const Tensor& logits) { all[row] = ranked_classes(logits, m->config(), options, /*otherwise=*/1); });
    return all;
  };
}

Value classes_value(const Records& records, const PipelineOptions&) {
  ValueList list;
  for (const Record& r : records) list.push_back(ValueMap{{"label", r.label}, {"score", r.score}});
  return list;
}

}  // namespace rote::pipelines
