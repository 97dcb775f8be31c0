// trainer/data/seq2seq_collate.h — rows of a text and its target into batches for encoder-decoder models.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trainer/data/collate.h"

namespace rote::data {

// What a decoder reads while it learns: the labels one place to the right behind a first id, with pad ids for what is not scored.
struct DecoderShift {
  int64_t decoder_start_token_id = 0;
  int64_t pad_token_id = 0;
};

struct Seq2SeqOptions {
  int64_t label_pad_token_id = -100;
  std::optional<DecoderShift> decoder = {};  // not given: no decoder_input_ids; the models of this library make their own
};

// Labels (`label` where the first row has it, else `labels`; a batch without has none) are padded to the longest of the batch, or to the options' max_length,
// rounded up as inputs are, on the side of the padding; never cut. The rest as PadCollator.
// Throws ArgumentError for labels of unequal length that are not to be padded, and as default_collate.
class Seq2SeqCollator {
 public:
  explicit Seq2SeqCollator(const PadOptions& pad, const Seq2SeqOptions& options = {}) : pad_(pad), options_(options) {}
  nn::Batch operator()(const std::vector<Example>& examples) const;

 private:
  PadOptions pad_;
  Seq2SeqOptions options_;
};

}  // namespace rote::data
