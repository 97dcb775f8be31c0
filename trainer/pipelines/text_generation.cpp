// trainer/pipelines/text_generation.cpp — what a model writes after a text, as its generation_config.json says but for sampling.
#include <algorithm>

#include "nn/generate.h"
#include "trainer/pipelines/tasks.h"
#include "trainer/pipelines/text_model.h"

namespace rote::pipelines {

namespace {

void check_length(const TextModel& m, const text::Encoding& row, const std::string& text, int64_t max_new_tokens) {
  const std::optional<int64_t> limit = m.config().limits().length;
  const int64_t T = static_cast<int64_t>(row.ids.size());
  // The last token is not fed.
  ROTE_CHECK(!limit || max_new_tokens <= *limit - T + 1, ArgumentError, "text-generation: ", beginning(text), " has ", T, " tokens, of which the model takes ",
             limit.value_or(0), " with the new ones; give --max_new_tokens ", limit.value_or(0) - T + 1, " or less, not ", max_new_tokens, ".");
}

}  // namespace

PipelineRun text_generation(const PipelineOptions& options) {
  const auto m = load_text_model("text-generation", options);
  nn::GenerationConfig how = nn::generation_config_of(*m->model->config());
  how.max_new_tokens = options.max_new_tokens;
  how.num_return_sequences = 1;
  how.do_sample = false;
  return [options, m, how, bos = how.bos_token_id](const std::vector<std::string>& texts) {
    const std::vector<text::Encoding> rows = rows_of(*m, texts, {.when_empty = bos});
    for (size_t i = 0; i < rows.size(); ++i) check_length(*m, rows[i], texts[i], options.max_new_tokens);
    std::vector<Records> all(texts.size());
    for (const std::vector<size_t>& which : batches_of(rows, m->batch_size)) {
      nn::Batch prompt;
      prompt.set("input_ids", batch_of(*m, rows, which)["input_ids"]);
      const Tensor ids = nn::generate(*m->model, prompt, how).sequences;
      for (size_t i = 0; i < which.size(); ++i) {
        const int64_t* row = ids.data<int64_t>() + static_cast<int64_t>(i) * ids.size(1);
        const int64_t* first = row + prompt["input_ids"].size(1);
        const int64_t* end = std::find_first_of(first, row + ids.size(1), how.eos_token_id.begin(), how.eos_token_id.end());
        if (end != row + ids.size(1)) ++end;  // what follows fills the batch up
        const std::string written = m->tokenizer.decode(std::vector<int64_t>(first, end));
        all[which[i]] = {{.generated_text = options.return_full_text ? texts[which[i]] + written : written}};
      }
    }
    return all;
  };
}

Value text_generation_value(const Records& records, const PipelineOptions&) {
  ValueList list;
  for (const Record& r : records) list.push_back(ValueMap{{"generated_text", r.generated_text}});
  return list;
}

}  // namespace rote::pipelines
