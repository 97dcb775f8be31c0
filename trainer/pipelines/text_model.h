// trainer/pipelines/text_model.h — a model with its tokenizer, as every text task loads and feeds it: texts to rows of tokens, rows to outputs.
// Knows no task.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nn/model.h"
#include "trainer/pipelines/pipeline.h"
#include "trainer/text/tokenizer.h"

namespace rote::pipelines {

struct TextModel {
  std::string name;  // as it was given, for error texts
  std::unique_ptr<nn::Model> model;
  text::Tokenizer tokenizer;
  int64_t batch_size;

  const nn::Config& config() const { return *model->config(); }
  // Tokens that model and tokenizer take at once; none: no limit.
  std::optional<int64_t> limit() const;
};

std::shared_ptr<const TextModel> load_text_model(const std::string& task, const PipelineOptions& options);

struct RowOptions {
  text::Fields fields = text::Fields::ids;
  bool truncation = false;              // cuts rows to the limit
  std::optional<int64_t> stride = {};   // and continues what was cut off in overflowing rows that repeat so many tokens
  std::vector<int64_t> when_empty = {};  // the row of a text without tokens; empty: it is refused
};

// A row of each text. Throws ArgumentError for rows without tokens, rows longer than the model takes, and ids that it does not know.
std::vector<text::Encoding> rows_of(const TextModel& m, const std::vector<std::string>& texts, const RowOptions& options);

// Numbers of rows, at most `batch_size` equally long ones together, the shorter ones first.
std::vector<std::vector<size_t>> batches_of(const std::vector<text::Encoding>& rows, int64_t batch_size);
// input_ids [B,T] of equally long rows, and their token_type_ids where the model takes them.
nn::Batch batch_of(const TextModel& m, const std::vector<text::Encoding>& rows, const std::vector<size_t>& which);

// Calls take(row, output) with the model's first output of each row, f32 without the axis of rows: logits, or the last hidden state [T,C].
// Throws NonFiniteError where it holds Inf or NaN.
void for_each_output(const TextModel& m, const std::vector<text::Encoding>& rows, const std::function<void(size_t row, const Tensor& output)>& take);

// The beginning of a text between quotes, for error texts.
std::string beginning(const std::string& text);

}  // namespace rote::pipelines
