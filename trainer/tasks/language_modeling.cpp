// trainer/tasks/language_modeling.cpp — the tasks causal-lm and masked-lm: texts in, the next token or the masked ones learnt (run_clm.py, run_mlm.py).
#include <cstdio>

#include "trainer/data/language_collate.h"
#include "trainer/data/token_texts.h"
#include "trainer/tasks/task.h"
#include "trainer/tasks/token_scores.h"

namespace rote::tasks {

namespace {

data::TextSource texts_of(const Sources& sources, const std::string& path) {
  const bool is_causal = sources.data.task == Task::causal_lm;
  return {.path = path, .column = sources.data.text_column_names[0], .keep_linebreaks = is_causal && sources.data.keep_linebreaks};
}

// Of a file, with a line on what does not fill a block.
std::unique_ptr<data::TokenTexts> read(const Sources& sources, const std::string& path, const text::Tokenizer& tokenizer, const data::TokenTextOptions& options) {
  auto rows = std::make_unique<data::TokenTexts>(texts_of(sources, path), tokenizer, options);
  if (!options.line_by_line)
    std::fprintf(stderr, "%s: %lld tokens in %lld blocks of %lld, the last %lld left out\n", path.c_str(), static_cast<long long>(rows->tokens()), static_cast<long long>(rows->size()),
                 static_cast<long long>(options.length), static_cast<long long>(rows->left_out()));
  return rows;
}

void read_train(const Sources& sources, const text::Tokenizer& tokenizer, const data::TokenTextOptions& options, Prepared& prepared) {
  if (!sources.train.train_file) return;
  const std::string& path = *sources.train.train_file;
  if (sources.train.streaming) prepared.train_stream = std::make_unique<data::TokenStream>(texts_of(sources, path), tokenizer, options);
  else prepared.train_dataset = read(sources, path, tokenizer, options);
}

}  // namespace

Prepared causal_lm(const Sources& sources) {
  const text::Tokenizer tokenizer = load_tokenizer(sources);
  one_text_column(sources);
  const data::TokenTextOptions options{.length = text_length(sources, tokenizer, 1024), .labels = true};
  Prepared prepared{.processing_class = tokenizer,
                    .data_collator = data::default_collate,
                    .preprocess_logits_for_metrics = best_tokens,
                    .compute_metrics = next_token_accuracy};
  read_train(sources, tokenizer, options, prepared);
  if (sources.data.validation_file) {
    auto rows = read(sources, *sources.data.validation_file, tokenizer, options);
    prepared.complete_metrics = [tokens = static_cast<double>(rows->tokens()), bytes = static_cast<double>(rows->bytes())](Metrics& metrics) {
      add_bits_per_byte(metrics, tokens, bytes);
    };
    prepared.eval_dataset = std::move(rows);
  }
  return prepared;
}

Prepared masked_lm(const Sources& sources) {
  const DataArguments& data = sources.data;
  const text::Tokenizer tokenizer = load_tokenizer(sources);
  one_text_column(sources);
  const data::TokenTextOptions options{.length = text_length(sources, tokenizer, 1024), .line_by_line = data.line_by_line, .word_ids = data.whole_word_mask};
  const data::LanguageModelingOptions masking{.whole_word_mask = data.whole_word_mask,
                                              .mlm_probability = data.mlm_probability,
                                              .mask_replace_prob = data.whole_word_mask ? 1 : 0.8,
                                              .random_replace_prob = data.whole_word_mask ? 0 : 0.1};
  Prepared prepared{.processing_class = tokenizer,
                    .data_collator = data::LanguageModelingCollator(tokenizer, masking),
                    .preprocess_logits_for_metrics = best_tokens,
                    .compute_metrics = token_accuracy,
                    .complete_metrics = add_perplexity};
  if (data.whole_word_mask) prepared.collator_columns = {"word_ids"};
  read_train(sources, tokenizer, options, prepared);
  if (data.validation_file) prepared.eval_dataset = read(sources, *data.validation_file, tokenizer, options);
  return prepared;
}

}  // namespace rote::tasks
