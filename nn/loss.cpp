#include "nn/loss.h"

#include <algorithm>

#include "autograd/ops/index.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/view.h"

namespace rote::nn {

namespace {

std::vector<int64_t> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

// Labels under the shape of what they are compared with.
Tensor shaped(const Tensor& labels, const Shape& shape, DType dtype) {
  ROTE_CHECK(labels.numel() == shape.numel(), ShapeError, "loss: labels are ", describe(labels), " but the logits score ", shape.numel(), " targets, ", shape,
             "; one label each is needed.");
  return reshape(converted(labels, dtype), extents(shape));
}

}  // namespace

double divisor(const Signature& signature, const Batch& in, size_t which) {
  const TargetCounts counts = in.num_items.empty() ? count_targets(signature, in) : in.num_items;
  ROTE_CHECK(which < counts.size(), ArgumentError, "loss: num_items has ", counts.size(), " counts; one for each of the labels ", signature.labels, " is needed.");
  return static_cast<double>(std::max<int64_t>(counts[which], 1));
}

Tensor class_loss(const Tensor& logits, const Tensor& labels, double n, const ClassLossOptions& options) {
  if (!labels.defined()) return {};
  const Shape rows = logits.shape().slice(0, logits.axes() - 1);
  return loss_sum(cross_entropy_each(logits, shaped(labels, rows, DType::i64), {.ignore_index = options.ignore_index, .label_smoothing = options.smoothing}), n);
}

Tensor next_token_loss(const Tensor& logits, const Batch& in, double smoothing) {
  const Tensor labels = in.find("labels");
  if (!labels.defined()) return {};
  const int64_t T = labels.size(1);
  const double n = divisor({.scored = Scored::next_token}, in);
  return class_loss(slice(logits, 1, 0, T - 1), contiguous(slice(labels, 1, 1, T)), n, {.smoothing = smoothing});
}

Tensor smoothed_loss(const Signature& signature, const Tensor& logits, const Batch& in, double smoothing) {
  if (signature.scored == Scored::next_token) return next_token_loss(logits, in, smoothing);
  const Tensor labels = in.find("labels");
  ROTE_CHECK((signature.scored == Scored::rows || signature.scored == Scored::not_ignored) && labels.defined() && !is_floating(labels.dtype()), ArgumentError,
             "label_smoothing_factor: the model scores no classes by its labels, there is nothing to smooth; leave it at 0.");
  return class_loss(logits, labels, divisor(signature, in), {.smoothing = smoothing});
}

Scored sequence_scored(const Config& config) {
  const std::string type = config.problem_type.value_or(config.num_labels() == 1 ? "regression" : "");
  return type == "regression" || type == "multi_label_classification" ? Scored::row_elements : Scored::rows;
}

Tensor sequence_loss(const Tensor& logits, const Batch& in, Config& config) {
  const Tensor labels = in.find("labels");
  if (!labels.defined()) return {};
  std::optional<std::string>& type = config.problem_type;
  if (!type) type = config.num_labels() == 1 ? "regression" : is_floating(labels.dtype()) ? "multi_label_classification" : "single_label_classification";
  const double n = divisor({.scored = sequence_scored(config)}, in);
  if (*type == "regression") return squared_loss(logits, labels, n);
  return *type == "multi_label_classification" ? binary_loss(logits, labels, n) : class_loss(logits, labels, n);
}

namespace {

// Positions clamped to 0…T; T itself is not scored.
Tensor clamped(const Tensor& positions, int64_t T) {
  const Tensor places = clone(converted(positions, DType::i64));
  int64_t* place = places.data<int64_t>();
  for (int64_t i = 0; i < places.numel(); ++i) place[i] = std::clamp<int64_t>(place[i], 0, T);
  return places;
}

}  // namespace

void answer_spans(ModelOutput& out, const Tensor& logits, const Batch& in, const Signature& signature) {
  out.start_logits = clone(select(logits, 2, 0));
  out.end_logits = clone(select(logits, 2, 1));
  const Tensor start = in.find("start_positions"), end = in.find("end_positions");
  if (!start.defined() || !end.defined()) return;
  const int64_t T = logits.size(1);
  out.loss = class_loss(out.start_logits, clamped(start, T), 2 * divisor(signature, in, 0), {.ignore_index = T}) +
             class_loss(out.end_logits, clamped(end, T), 2 * divisor(signature, in, 1), {.ignore_index = T});
}

ModelOutput with_states_of(const ModelOutput& encoded) {
  ModelOutput out;
  out.hidden_states = encoded.hidden_states;
  out.attentions = encoded.attentions;
  return out;
}

Tensor at_last_token(const Tensor& x, const Tensor& input_ids, const std::optional<int64_t>& pad_token_id) {
  const int64_t B = x.size(0), T = x.size(1);
  ROTE_CHECK(pad_token_id || B == 1, ArgumentError, "classification: a batch of ", B, " rows needs the config's pad_token_id, by which the last token of each is found.");
  const Tensor ids = contiguous(input_ids), rows = empty({B}, {.dtype = DType::i64});
  for (int64_t b = 0; b < B; ++b) {
    int64_t last = T - 1;
    while (pad_token_id && last > 0 && ids.data<int64_t>()[b * T + last] == *pad_token_id) --last;
    rows.data<int64_t>()[b] = b * T + last;
  }
  return embedding(rows, reshape(x, {B * T, x.size(2)}));
}

Tensor squared_loss(const Tensor& logits, const Tensor& targets, double n) {
  return loss_sum(square(logits - shaped(targets, logits.shape(), logits.dtype())), n);
}

Tensor binary_loss(const Tensor& logits, const Tensor& targets, double n) {
  return loss_sum(bce_with_logits(logits, shaped(targets, logits.shape(), logits.dtype())), n);
}

}  // namespace rote::nn
