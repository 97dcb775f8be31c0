#include "nn/generate.h"

#include <algorithm>

#include "autograd/mode.h"
#include "autograd/ops.h"
#include "nn/attention.h"

namespace rote::nn {

namespace {

// [B,n] and one more column.
Tensor with_column(const Tensor& x, const std::vector<int64_t>& column) { return cat({x, reshape(from_values({x.size(0)}, column), {x.size(0), 1})}, 1); }

Tensor last_columns(const Tensor& x, int64_t n) { return contiguous(slice(x, 1, x.size(1) - n, x.size(1))); }

// Places of the tokens that are not padding, from 0 on; padding has any.
Tensor places_of(const Tensor& mask) {
  const Tensor kept = contiguous(mask), places = empty(kept.shape(), {.dtype = DType::i64});
  const int64_t T = kept.size(1);
  for (int64_t row = 0; row < kept.size(0); ++row) {
    int64_t next = 0;
    for (int64_t i = row * T; i < (row + 1) * T; ++i) places.data<int64_t>()[i] = kept.data<int64_t>()[i] != 0 ? next++ : 0;
  }
  return places;
}

class EvalMode {
 public:
  explicit EvalMode(Model& model) : model_(model), before_(model.training()) { model_.eval(); }
  ~EvalMode() { model_.train(before_); }
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  Model& model_;
  bool before_;
};

}  // namespace

Tensor generate(Model& model, const Batch& prompt, const GenerateOptions& options) {
  ROTE_CHECK(options.max_new_tokens > 0, ArgumentError, "generate: max_new_tokens is ", options.max_new_tokens, "; it must be at least 1.");
  const NoGrad no_grad;
  const EvalMode eval(model);
  const std::optional<int64_t> start = model.config() != nullptr ? model.config()->decoder_start() : std::nullopt;
  const bool has_encoder = start.has_value();
  Tensor ids = converted(prompt.at("input_ids"), DType::i64);
  const int64_t B = ids.size(0);
  if (has_encoder) ids = full({B, 1}, static_cast<double>(*start), {.dtype = DType::i64});
  Tensor mask = prompt.find("attention_mask");
  if (!has_encoder) mask = mask.defined() ? converted(mask, DType::i64) : full(ids.shape(), 1, {.dtype = DType::i64});
  const int64_t pad = options.pad_token_id.value_or(options.eos_token_id.empty() ? 0 : options.eos_token_id[0]);
  KeyValueCache cache;
  Tensor encoded;
  std::vector<bool> ended(static_cast<size_t>(B));
  for (int64_t step = 0; step < options.max_new_tokens && !std::all_of(ended.begin(), ended.end(), [](bool e) { return e; }); ++step) {
    const int64_t fed = options.use_cache && step > 0 ? 1 : ids.size(1);
    Batch in;
    if (has_encoder) {
      if (encoded.defined()) in.set("encoder_outputs", encoded);
      else in.set("input_ids", prompt.at("input_ids"));
      if (mask.defined()) in.set("attention_mask", mask);
      in.set("decoder_input_ids", last_columns(ids, fed));
    } else {
      in.set("input_ids", last_columns(ids, fed));
      in.set("attention_mask", mask);
      in.set("position_ids", last_columns(places_of(mask), fed));
    }
    in.cache = options.use_cache ? &cache : nullptr;
    const ModelOutput out = model(in);
    encoded = out.encoder_last_hidden_state;
    const Tensor best = argmax(select(out.logits, 1, out.logits.size(1) - 1));
    std::vector<int64_t> next, kept;
    for (int64_t row = 0; row < B; ++row) {
      const size_t at = static_cast<size_t>(row);
      next.push_back(ended[at] ? pad : best.data<int64_t>()[row]);
      kept.push_back(1);
      ended[at] = ended[at] || std::find(options.eos_token_id.begin(), options.eos_token_id.end(), next.back()) != options.eos_token_id.end();
    }
    ids = with_column(ids, next);
    if (!has_encoder) mask = with_column(mask, kept);
  }
  return ids;
}

}  // namespace rote::nn
