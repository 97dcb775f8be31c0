// trainer/pipelines/text_generation.cpp — what a decoder writes after a text, and what an encoder-decoder makes of one: as generation_config.json says,
// but for sampling.
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

// The model's, with those of the call; one text, and not drawn.
nn::GenerationConfig generation_settings(const TextModel& m, const PipelineOptions& options) {
  nn::GenerationConfig settings = nn::generation_config_of(*m.model->config());
  settings.max_new_tokens = options.max_new_tokens;
  settings.num_beams = options.num_beams.value_or(settings.num_beams);
  settings.num_return_sequences = 1;
  settings.do_sample = false;
  return settings;
}

// Row i of sequences from place `first` on, as text; what follows an end fills the batch up.
std::string written_after(const TextModel& m, const Tensor& sequences, size_t i, int64_t first, const std::vector<int64_t>& ends) {
  const int64_t* row = sequences.data<int64_t>() + static_cast<int64_t>(i) * sequences.size(1);
  const int64_t* last = row + sequences.size(1);
  const int64_t* end = std::find_first_of(row + first, last, ends.begin(), ends.end());
  return m.tokenizer.decode(std::vector<int64_t>(row + first, end == last ? last : end + 1));
}

}  // namespace

PipelineRun text_generation(const PipelineOptions& options) {
  const auto m = load_text_model("text-generation", options);
  const nn::GenerationConfig how = generation_settings(*m, options);
  return [options, m, how, bos = how.bos_token_id](const std::vector<std::string>& texts) {
    const std::vector<text::Encoding> rows = rows_of(*m, texts, {.when_empty = bos});
    for (size_t i = 0; i < rows.size(); ++i) check_length(*m, rows[i], texts[i], options.max_new_tokens);
    std::vector<Records> all(texts.size());
    for (const std::vector<size_t>& which : batches_of(rows, m->batch_size)) {
      nn::Batch prompt;
      prompt.set("input_ids", batch_of(*m, rows, which)["input_ids"]);
      const Tensor ids = nn::generate(*m->model, prompt, how).sequences;
      for (size_t i = 0; i < which.size(); ++i) {
        const std::string written = written_after(*m, ids, i, prompt["input_ids"].size(1), how.eos_token_id);
        all[which[i]] = {{.generated_text = options.return_full_text ? texts[which[i]] + written : written}};
      }
    }
    return all;
  };
}

PipelineRun text2text_generation(const PipelineOptions& options) {
  const auto m = load_text_model("text2text-generation", options);
  const nn::GenerationConfig how = generation_settings(*m, options);
  return [options, m, how](const std::vector<std::string>& texts) {
    const std::vector<text::Encoding> rows = rows_of(*m, texts, {.truncation = options.truncation});
    std::vector<Records> all(texts.size());
    for (const std::vector<size_t>& which : batches_of(rows, m->batch_size)) {
      nn::Batch prompt;
      prompt.set("input_ids", batch_of(*m, rows, which)["input_ids"]);
      const Tensor ids = nn::generate(*m->model, prompt, how).sequences;
      for (size_t i = 0; i < which.size(); ++i) all[which[i]] = {{.generated_text = written_after(*m, ids, i, 1, how.eos_token_id)}};
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
