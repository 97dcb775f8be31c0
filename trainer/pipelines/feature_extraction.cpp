// trainer/pipelines/feature_extraction.cpp — the last hidden state of each token.
#include "trainer/pipelines/tasks.h"
#include "trainer/pipelines/text_model.h"

namespace rote::pipelines {

PipelineRun feature_extraction(const PipelineOptions& options) {
  return [options, m = load_text_model("feature-extraction", options)](const std::vector<std::string>& texts) {
    std::vector<Records> all(texts.size());
    for_each_output(*m, rows_of(*m, texts, {.truncation = options.truncation}), [&](size_t row, const Tensor& states) { all[row] = {{.features = states}}; });
    return all;
  };
}

Value feature_extraction_value(const Records& records, const PipelineOptions&) {
  ValueList all;
  for (const Record& r : records) {
    const int64_t T = r.features.size(0), C = r.features.size(1);
    ValueList tokens;
    for (int64_t t = 0; t < T; ++t) {
      const float* state = r.features.data<float>() + t * C;
      tokens.push_back(ValueList(state, state + C));
    }
    all.push_back(std::move(tokens));
  }
  return all;
}

}  // namespace rote::pipelines
