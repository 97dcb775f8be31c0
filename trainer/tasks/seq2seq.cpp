// trainer/tasks/seq2seq.cpp — the task seq2seq: a text in, its target out (run_summarization.py, run_translation.py).
#include <algorithm>

#include "trainer/bleu.h"
#include "trainer/data/seq2seq_collate.h"
#include "trainer/data/token_texts.h"
#include "trainer/python_text.h"
#include "trainer/rouge.h"
#include "trainer/tasks/task.h"
#include "trainer/tasks/token_scores.h"
#include "trainer/text/unicode.h"

namespace rote::tasks {

namespace {

struct Lengths {
  int64_t text, target;
};

std::vector<std::vector<int64_t>> ids_of(const data::Table& table, const std::string& column, const std::string& prefix, int64_t length, const text::Tokenizer& tokenizer) {
  const size_t at = table.column(column);
  std::vector<data::Text> texts;
  for (size_t row = 0; row < table.rows.size(); ++row) texts.push_back({prefix + table.rows[row][at], table.lines[row]});
  text::EncodeOptions options;
  options.fields = text::Fields::ids;
  options.truncation = text::Truncation{.max_length = length};
  std::vector<std::vector<int64_t>> ids;
  for (text::Encoding& one : data::encode_texts(texts, table.source, tokenizer, options)) ids.push_back(std::move(one.ids));
  return ids;
}

std::unique_ptr<data::Dataset> read(const Sources& sources, const std::string& path, const text::Tokenizer& tokenizer, Lengths lengths) {
  const data::Table table = data::read_table(path);
  std::vector<std::vector<int64_t>> texts = ids_of(table, sources.data.text_column_names[0], sources.data.source_prefix, lengths.text, tokenizer);
  std::vector<data::Example> rows;
  const bool has_targets = sources.is_scored || std::find(table.columns.begin(), table.columns.end(), sources.data.label_column_name) != table.columns.end();
  if (!has_targets) {
    for (std::vector<int64_t>& ids : texts) rows.push_back({{"input_ids", data::Feature::list(std::move(ids))}});
    return std::make_unique<data::ListDataset>(std::move(rows));
  }
  std::vector<std::vector<int64_t>> targets = ids_of(table, sources.data.label_column_name, "", lengths.target, tokenizer);
  for (size_t row = 0; row < texts.size(); ++row) {
    ROTE_CHECK(!targets[row].empty(), ArgumentError, table.place(row), ": the target in column ", sources.data.label_column_name,
               " has no token; every row needs one (an end token, if the tokenizer puts it).");
    rows.push_back({{"input_ids", data::Feature::list(std::move(texts[row]))}, {"labels", data::Feature::list(std::move(targets[row]))}});
  }
  return std::make_unique<data::ListDataset>(std::move(rows));
}

// The text of each row of ids; -100 is no token.
std::vector<std::string> texts_of(const Tensor& ids, const text::Tokenizer& tokenizer) {
  const Tensor rows = contiguous(ids);
  std::vector<std::string> texts;
  for (int64_t row = 0; row < rows.size(0); ++row) {
    std::vector<int64_t> kept(rows.data<int64_t>() + row * rows.size(1), rows.data<int64_t>() + (row + 1) * rows.size(1));
    std::erase(kept, -100);
    texts.push_back(text::to_valid_utf8(tokenizer.decode(kept)));
  }
  return texts;
}

// Ids of a row on average; neither -100 nor padding counts.
double mean_length(const Tensor& ids, const text::Tokenizer& tokenizer) {
  const Tensor rows = contiguous(ids);
  int64_t count = 0;
  for (int64_t i = 0; i < rows.numel(); ++i) count += rows.data<int64_t>()[i] != -100 && rows.data<int64_t>()[i] != tokenizer.pad_token_id() ? 1 : 0;
  return static_cast<double>(count) / static_cast<double>(rows.size(0));
}

// exact_match: the share of rows whose text, without special tokens, is the target's. rouge1 … rougeLsum (of stems) and bleu, of 100, and gen_len as
// run_summarization.py and run_translation.py give them.
ComputeMetrics text_metrics(const text::Tokenizer& tokenizer) {
  return [tokenizer](const EvalPrediction& prediction) {
    const std::vector<std::string> written = texts_of(prediction.predictions.at(0), tokenizer), wanted = texts_of(prediction.label_ids, tokenizer);
    int64_t same = 0;
    std::vector<std::vector<std::string>> references;
    for (size_t row = 0; row < written.size(); ++row) {
      same += written[row] == wanted[row] ? 1 : 0;
      references.push_back({wanted[row]});
    }
    const Rouge overlap = mean_rouge(written, wanted, {.use_stemmer = true});
    return Metrics{{"exact_match", static_cast<double>(same) / static_cast<double>(written.size())},
                   {"rouge1", rounded(100 * overlap.rouge1.f1, 4)},
                   {"rouge2", rounded(100 * overlap.rouge2.f1, 4)},
                   {"rougeL", rounded(100 * overlap.rougeL.f1, 4)},
                   {"rougeLsum", rounded(100 * overlap.rougeLsum.f1, 4)},
                   {"bleu", rounded(corpus_bleu(written, references).score, 4)},
                   {"gen_len", rounded(mean_length(prediction.predictions[0], tokenizer), 4)}};
  };
}

// A text a line, without blanks around it; a line's end inside is a blank.
std::string lines_of(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    const size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size()), last = text.find_last_not_of(" \t\r\n");
    std::string line = text.substr(first, last == std::string::npos ? 0 : last + 1 - first);
    std::replace(line.begin(), line.end(), '\n', ' ');
    out += line + "\n";
  }
  return out;
}

}  // namespace

Prepared seq2seq(const Sources& sources) {
  const DataArguments& data = sources.data;
  const text::Tokenizer tokenizer = load_tokenizer(sources);
  one_text_column(sources);
  const int64_t limit = sources.config.limits().length.value_or(data.max_target_length);
  ROTE_CHECK(data.max_target_length <= limit, ArgumentError, "--max_target_length: ", data.max_target_length, " tokens, the model takes at most ", limit, "; give that or less.");
  const Lengths lengths{text_length(sources, tokenizer, 1024), data.max_target_length};
  Prepared prepared{.processing_class = tokenizer,
                    .data_collator = data::Seq2SeqCollator(data::pad_options(tokenizer)),
                    .preprocess_logits_for_metrics = best_tokens,
                    .compute_metrics = token_accuracy,
                    .compute_generated_metrics = text_metrics(tokenizer),
                    .metrics = {"accuracy"},
                    .generated_metrics = {"exact_match", "rouge1", "rouge2", "rougeL", "rougeLsum", "bleu", "gen_len"},
                    .predictions_text = [tokenizer](const EvalPrediction& prediction) { return lines_of(texts_of(prediction.predictions.at(0), tokenizer)); },
                    .complete_metrics = add_perplexity};
  if (sources.train.train_file) prepared.train_dataset = read(sources, *sources.train.train_file, tokenizer, lengths);
  if (const auto& file = sources.evaluation.validation_file) prepared.eval_dataset = read(sources, *file, tokenizer, lengths);
  return prepared;
}

}  // namespace rote::tasks
