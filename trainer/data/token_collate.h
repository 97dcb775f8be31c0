// trainer/data/token_collate.h — padding of rows with a label for each id. Of rows with one label: collate.h.
#pragma once

#include "trainer/data/collate.h"

namespace rote::data {

// As PadCollator, and `labels` padded with label_pad_token_id to the length of the padded input_ids, on the same side. Where rows have no `labels`, those
// under `label` are padded and keep that name.
class TokenCollator {
 public:
  explicit TokenCollator(const PadOptions& pad, int64_t label_pad_token_id = -100) : pad_(pad), label_pad_token_id_(label_pad_token_id) {}
  // The padding of a tokenizer. Throws ArgumentError where it has no pad token.
  explicit TokenCollator(const text::Tokenizer& tokenizer) : TokenCollator(pad_options(tokenizer)) {}
  // Throws as PadCollator does, and ArgumentError where a row has more labels than the padded input has ids.
  nn::Batch operator()(const std::vector<Example>& examples) const;

 private:
  PadOptions pad_;
  int64_t label_pad_token_id_;
};

}  // namespace rote::data
