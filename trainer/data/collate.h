// trainer/data/collate.h — examples into a batch: stacking, and padding to one length. Collators with rules of their own: *_collate.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nn/model.h"
#include "trainer/data/dataset.h"
#include "trainer/text/tokenizer.h"

namespace rote::data {

using Collator = std::function<nn::Batch(const std::vector<Example>&)>;

// Stacks every feature of the first row; `label`, else `label_ids`, becomes `labels`. Features of one name must be equally long.
// Whole numbers give i64, fractions f32, by the first row. Throws ArgumentError for ragged features and for a row that lacks one.
nn::Batch default_collate(const std::vector<Example>& examples);

enum class PadTo {
  longest,     // the longest row of the batch, whatever max_length is
  max_length,  // max_length, where it is not given model_max_length; not at all where that is not given either
  do_not_pad,
};

struct PadOptions {
  int64_t pad_token_id = 0;
  int64_t pad_token_type_id = 0;
  text::Side side = text::Side::right;
  std::optional<int64_t> pad_to_multiple_of = {};  // rounds the length up
  PadTo padding = PadTo::longest;
  std::optional<int64_t> max_length = {};
  std::optional<int64_t> model_max_length = {};
  bool attention_mask = true;  // is made where rows lack it

  // The length to which rows whose longest has `longest` values are padded; none: they stay as they are.
  std::optional<int64_t> target(int64_t longest) const;
};

// The padding of a tokenizer. Throws ArgumentError where it has no pad token.
PadOptions pad_options(const text::Tokenizer& tokenizer);

// Fills a list up to `length` values on that side. One that is longer stays as it is: nothing is cut off.
void pad_list(Feature& list, int64_t length, int64_t filler, text::Side side);

// The rows with input_ids, attention_mask, token_type_ids and special_tokens_mask of one length; other features stay as they are.
std::vector<Example> padded(std::vector<Example> examples, const PadOptions& options);

// padded(), then as default_collate.
class PadCollator {
 public:
  explicit PadCollator(PadOptions options) : options_(options) {}
  explicit PadCollator(const text::Tokenizer& tokenizer) : options_(pad_options(tokenizer)) {}
  nn::Batch operator()(const std::vector<Example>& examples) const { return default_collate(padded(examples, options_)); }

 private:
  PadOptions options_;
};

// input_ids, token_type_ids and attention_mask, i64 [B,T], of encoded texts; a model passes over what it does not take.
// Throws ArgumentError where the rows differ in length: they were to be padded.
nn::Batch batch_of(const std::vector<text::Encoding>& rows);
nn::Batch batch_of(const text::Encoding& row);

}  // namespace rote::data

namespace rote {

// What makes a model's inputs of raw rows and is saved with every model.
struct ProcessingClass {
  std::vector<std::pair<std::string, std::string>> files;  // name and bytes
  std::optional<text::Tokenizer> tokenizer;

  ProcessingClass(const text::Tokenizer& of_texts) : files(of_texts.files()), tokenizer(of_texts) {}
  explicit ProcessingClass(std::vector<std::pair<std::string, std::string>> of_others) : files(std::move(of_others)) {}
};

}  // namespace rote
