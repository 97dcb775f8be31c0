// trainer/tasks/language_modeling.cpp — the tasks causal-lm and masked-lm: texts in, the next token or the masked ones learnt (run_clm.py, run_mlm.py).
#include <cstdio>

#include "trainer/data/language_collate.h"
#include "trainer/data/token_file.h"
#include "trainer/data/token_texts.h"
#include "trainer/tasks/task.h"
#include "trainer/tasks/token_scores.h"

namespace rote::tasks {

namespace {

data::TextSource texts_of(const Sources& sources, const std::string& path) {
  const bool is_causal = sources.data.task == Task::causal_lm;
  return {.path = path, .column = sources.data.text_column_names[0], .keep_linebreaks = is_causal && sources.data.keep_linebreaks};
}

struct Rows {
  std::unique_ptr<data::Dataset> dataset;
  double tokens = 0, bytes = 0;  // bytes: of the texts, 0 where only their tokens are known
};

bool is_token_file(const std::string& path) { return path.ends_with(".npy"); }

std::unique_ptr<data::TokenFile> read_tokens(const std::string& path, const text::Tokenizer& tokenizer, const data::TokenTextOptions& options) {
  ROTE_CHECK(!options.line_by_line, ArgumentError, "--line_by_line: ", path, " holds tokens, which have no lines; leave it out, or give texts.");
  ROTE_CHECK(!options.word_ids, ArgumentError, "--whole_word_mask: ", path, " holds tokens, of which words are not known; leave it out, or give texts.");
  return std::make_unique<data::TokenFile>(path, data::TokenFileOptions{.length = options.length, .labels = options.labels, .id_limit = tokenizer.id_limit()});
}

// Of a file, with a line on what does not fill a block.
Rows read(const Sources& sources, const std::string& path, const text::Tokenizer& tokenizer, const data::TokenTextOptions& options) {
  Rows out;
  const auto take = [&](auto rows) {
    if (!options.line_by_line)
      std::fprintf(stderr, "%s: %lld tokens in %lld blocks of %lld, the last %lld left out\n", path.c_str(), static_cast<long long>(rows->tokens()), static_cast<long long>(rows->size()),
                   static_cast<long long>(options.length), static_cast<long long>(rows->left_out()));
    out.tokens = static_cast<double>(rows->tokens());
    out.dataset = std::move(rows);
  };
  if (is_token_file(path)) {
    take(read_tokens(path, tokenizer, options));
    return out;
  }
  auto texts = std::make_unique<data::TokenTexts>(texts_of(sources, path), tokenizer, options);
  out.bytes = static_cast<double>(texts->bytes());
  take(std::move(texts));
  return out;
}

void read_train(const Sources& sources, const text::Tokenizer& tokenizer, const data::TokenTextOptions& options, Prepared& prepared) {
  if (!sources.train.train_file) return;
  const std::string& path = *sources.train.train_file;
  ROTE_CHECK(!sources.train.streaming || !is_token_file(path), ArgumentError, "--streaming: ", path, " is mapped into memory, not held; leave it out.");
  if (sources.train.streaming) prepared.train_stream = std::make_unique<data::TokenStream>(texts_of(sources, path), tokenizer, options);
  else prepared.train_dataset = read(sources, path, tokenizer, options).dataset;
}

}  // namespace

Prepared causal_lm(const Sources& sources) {
  const text::Tokenizer tokenizer = load_tokenizer(sources);
  one_text_column(sources);
  const data::TokenTextOptions options{.length = text_length(sources, tokenizer, 1024), .labels = true};
  Prepared prepared{.processing_class = tokenizer,
                    .data_collator = data::default_collate,
                    .preprocess_logits_for_metrics = best_tokens,
                    .compute_metrics = next_token_accuracy,
                    .metrics = {"accuracy"}};
  read_train(sources, tokenizer, options, prepared);
  if (sources.evaluation.validation_file) {
    Rows rows = read(sources, *sources.evaluation.validation_file, tokenizer, options);
    prepared.complete_metrics = [tokens = rows.tokens, bytes = rows.bytes](Metrics& metrics) {
      if (bytes > 0) add_bits_per_byte(metrics, tokens, bytes);
      else add_perplexity(metrics);
    };
    prepared.eval_dataset = std::move(rows.dataset);
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
                    .metrics = {"accuracy"},
                    .complete_metrics = add_perplexity};
  if (data.whole_word_mask) prepared.collator_columns = {"word_ids"};
  read_train(sources, tokenizer, options, prepared);
  if (sources.evaluation.validation_file) prepared.eval_dataset = read(sources, *sources.evaluation.validation_file, tokenizer, options).dataset;
  return prepared;
}

}  // namespace rote::tasks
