// trainer/data/reshape_collate.h — collators whose batches have not one row an example: choices beside each other, and all rows in one without padding.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/data/collate.h"

namespace rote::data {

// Examples whose features are lists of lists, one for each choice, and whose `label` or `labels` is the number of the right one. Gives features
// i64[B,choices,T], padded over all choices of all rows, and labels i64[B].
class MultipleChoiceCollator {
 public:
  explicit MultipleChoiceCollator(const PadOptions& pad) : pad_(pad) {}
  nn::Batch operator()(const std::vector<Example>& examples) const;

 private:
  PadOptions pad_;
};

struct FlatteningOptions {
  bool return_position_ids = true;
  int64_t position_ids_start = 0;
  int64_t separator_id = -100;            // the label of the first token of each example
  bool return_flash_attn_kwargs = false;  // cu_seq_lens_q and _k i32[examples+1], where each begins and the last ends; max_length_q and _k i64[]
  bool return_seq_idx = false;            // i32[1,tokens]: the example of each token
};

// All examples one after the other, for attention that is told where each ends: input_ids, labels (input_ids where there are none) and position_ids
// i64[1,tokens]. Examples without tokens are left out. Throws ArgumentError where none has any.
class FlatteningCollator {
 public:
  explicit FlatteningCollator(const FlatteningOptions& options = {}) : options_(options) {}
  nn::Batch operator()(const std::vector<Example>& examples) const;

 private:
  FlatteningOptions options_;
};

}  // namespace rote::data
