#include "trainer/data/seq2seq_collate.h"

#include <algorithm>

#include "nn/seq2seq.h"

namespace rote::data {

nn::Batch Seq2SeqCollator::operator()(const std::vector<Example>& examples) const {
  ROTE_CHECK(!examples.empty(), ArgumentError, "collate: no examples; a batch has at least one row.");
  std::vector<Example> rows = padded(examples, pad_);
  const std::string name = find(rows[0], "label") != nullptr ? "label" : "labels";
  int64_t longest = 0;
  for (const Example& row : rows)
    if (const Feature* labels = find(row, name)) longest = std::max(longest, labels->length());
  PadOptions to = pad_;
  to.model_max_length = longest;  // limits inputs, not labels
  if (const std::optional<int64_t> length = to.target(longest))
    for (Example& row : rows)
      if (Feature* labels = find(row, name)) pad_list(*labels, *length, options_.label_pad_token_id, pad_.side);
  nn::Batch batch = default_collate(rows);
  const Tensor labels = batch.find("labels");
  if (labels.defined() && options_.decoder)
    batch.set("decoder_input_ids", nn::shift_right(labels, options_.decoder->decoder_start_token_id, options_.decoder->pad_token_id));
  return batch;
}

}  // namespace rote::data
