#include "trainer/tasks/token_scores.h"

#include <cmath>
#include <numbers>

#include "autograd/ops.h"
#include "trainer/metrics.h"

namespace rote::tasks {

namespace {

Metrics accuracy_at(const EvalPrediction& prediction, int64_t shift) {
  const Tensor tokens = contiguous(prediction.predictions.at(0)), labels = contiguous(prediction.label_ids);
  const int64_t rows = labels.size(0), T = labels.size(1);
  Labels predicted, scored;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t t = shift; t < T; ++t) {
      const int64_t label = labels.data<int64_t>()[row * T + t];
      if (label == -100) continue;
      scored.push_back(label);
      predicted.push_back(tokens.data<int64_t>()[row * T + t - shift]);
    }
  if (scored.empty()) return {};
  return {{"accuracy", accuracy(predicted, scored)}};
}

std::optional<double> loss_of(const Metrics& metrics) {
  double loss = 0;
  const Value* found = metrics.find("eval_loss");
  return found != nullptr && found->number(loss) ? std::optional(loss) : std::nullopt;
}

}  // namespace

std::vector<Tensor> best_tokens(std::vector<Tensor> outputs, const Tensor&) { return {argmax(outputs.at(0), -1)}; }

Metrics token_accuracy(const EvalPrediction& prediction) { return accuracy_at(prediction, 0); }
Metrics next_token_accuracy(const EvalPrediction& prediction) { return accuracy_at(prediction, 1); }

void add_perplexity(Metrics& metrics) {
  if (const std::optional<double> loss = loss_of(metrics)) metrics.set("perplexity", perplexity(*loss));
}

void add_bits_per_byte(Metrics& metrics, double tokens, double bytes) {
  add_perplexity(metrics);
  if (const std::optional<double> loss = loss_of(metrics)) metrics.set("bits_per_byte", *loss / std::numbers::ln2 * tokens / bytes);
}

}  // namespace rote::tasks
