// trainer/tasks/token_scores.h — the scores of models that name a token of a vocabulary at each place. Loss: the model's own.
#pragma once

#include "trainer/evaluation.h"

namespace rote::tasks {

// PreprocessLogits: logits [B,T,V] become i64[B,T], the token of the greatest; nothing else is kept.
std::vector<Tensor> best_tokens(std::vector<Tensor> outputs, const Tensor& labels);

// accuracy over the labels that are not -100; none where there are none.
Metrics token_accuracy(const EvalPrediction& prediction);       // the token of a place against the label of that place
Metrics next_token_accuracy(const EvalPrediction& prediction);  // against that of the next place

// Adds perplexity, exp(eval_loss), to the metrics of an evaluation.
void add_perplexity(Metrics& metrics);
// The same and bits_per_byte: eval_loss / log(2) · tokens / bytes of the text, comparable between vocabularies.
void add_bits_per_byte(Metrics& metrics, double tokens, double bytes);

}  // namespace rote::tasks
