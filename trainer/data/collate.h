// trainer/data/collate.h — examples into a batch: padding and stacking; what padding needs to know. The datasets: dataset.h.
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

// Stacks every feature; `label` and `label_ids` become `labels`. Features of one name must be equally long.
// Whole numbers give i64, fractions f32. Throws ArgumentError for ragged features and for a row that lacks one.
nn::Batch default_collate(const std::vector<Example>& examples);

struct PadOptions {
  int64_t pad_token_id = 0;
  int64_t pad_token_type_id = 0;
  text::Side side = text::Side::right;
  std::optional<int64_t> pad_to_multiple_of = {};
};

// Pads input_ids, token_type_ids and attention_mask (made where missing) to the longest row of the batch, then as default_collate.
class PadCollator {
 public:
  explicit PadCollator(PadOptions options) : options_(options) {}
  // The padding of a tokenizer. Throws ArgumentError where it has no pad token.
  explicit PadCollator(const text::Tokenizer& tokenizer);
  nn::Batch operator()(const std::vector<Example>& examples) const;

 private:
  PadOptions options_;
};

}  // namespace rote::data

namespace rote {

// What makes a model's inputs of raw rows and is saved with every model.
struct ProcessingClass {
  std::vector<std::pair<std::string, std::string>> files;  // name and bytes
  std::optional<text::Tokenizer> tokenizer;

  ProcessingClass(const text::Tokenizer& of_texts) : files(of_texts.files()), tokenizer(of_texts) {}
};

}  // namespace rote
