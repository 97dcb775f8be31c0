#include "nn/seq2seq.h"

namespace rote::nn {

Tensor shift_right(const Tensor& labels, int64_t decoder_start_token_id, int64_t pad_token_id) {
  const Tensor given = contiguous(converted(labels, DType::i64)), shifted = empty(given.shape(), {.dtype = DType::i64});
  const int64_t B = given.size(0), T = given.size(1);
  for (int64_t i = 0; i < B * T; ++i) {
    const int64_t before = i % T == 0 ? decoder_start_token_id : given.data<int64_t>()[i - 1];
    shifted.data<int64_t>()[i] = before == -100 ? pad_token_id : before;
  }
  return shifted;
}

Tensor decoder_inputs(const Batch& in, int64_t decoder_start_token_id, int64_t pad_token_id) {
  if (const Tensor given = in.find("decoder_input_ids"); given.defined()) return given;
  const Tensor labels = in.find("labels");
  ROTE_CHECK(labels.defined(), ArgumentError, "decoder: the batch has neither decoder_input_ids nor labels to build them from; give one of them.");
  return shift_right(labels, decoder_start_token_id, pad_token_id);
}

}  // namespace rote::nn
