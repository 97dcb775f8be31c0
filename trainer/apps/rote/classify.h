// trainer/apps/rote/classify.h — what train, evaluate and predict share: a classifier with its tokenizer, and the scores of its predictions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/auto.h"
#include "trainer/data/table.h"
#include "trainer/text/tokenizer.h"
#include "trainer/trainer.h"

namespace rote::app {

struct Classifier {
  std::unique_ptr<nn::Model> model;
  std::vector<std::string> labels;
  text::Tokenizer tokenizer;
};

// A fine-tuned classifier with the labels that it was saved with.
Classifier load_classifier(const std::string& folder);

// Throws ArgumentError where texts of this length, or ids of this tokenizer, are more than the model or the tokenizer takes.
void check_inputs(const std::string& folder, const text::Tokenizer& tokenizer, const nn::InputLimits& limits, int64_t max_seq_length);

// accuracy and f1: of class 1 where there are two classes, else the mean over classes.
Metrics classification_metrics(const EvalPrediction& prediction);

// A run that failed after it had begun: exit code 1.
class RunFailure : public Error {
 public:
  explicit RunFailure(const std::exception& fault) : Error(ErrorKind::state, fault.what()) {}
};

}  // namespace rote::app
