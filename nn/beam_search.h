// nn/beam_search.h — the beams of one prompt: which continuations go on, which are finished, and when no better one can come. Knows no model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/generation_config.h"

namespace rote::nn {

struct BeamOptions {
  int64_t num_beams = 1;
  double length_penalty = 1;
  EarlyStopping early_stopping = EarlyStopping::no;
  std::vector<int64_t> eos_token_id = {};
  int64_t most_tokens = 20;  // to write; a beam that has as many is finished
};

// num_beams texts that are continued by a token each step. Their scores are sums of log probabilities; among equal ones the lower beam, then the lower
// id, is first. A continuation is finished where it ends with an end token or has most_tokens, provided that it is among the num_beams best of
// the step; its final score is the sum over its number of tokens to the power of length_penalty.
class BeamSearch {
 public:
  struct Text {
    std::vector<int64_t> tokens;  // written, the end token included
    float score;
  };

  explicit BeamSearch(BeamOptions options);

  // log_probs [num_beams, V]: of the next token of each running beam.
  void step(std::span<const float> log_probs);
  // The beam of the last step from which each running one comes, and the running texts.
  const std::vector<int64_t>& parents() const { return parents_; }
  const std::vector<Text>& running() const { return running_; }
  // Whether no step can change what is finished.
  bool is_done() const { return done_; }
  // Best first, at most num_beams.
  const std::vector<Text>& finished() const { return finished_; }

 private:
  struct Continuation {
    float score;
    int64_t beam, token;
    bool ends;
  };
  std::vector<Continuation> best_continuations(std::span<const float> log_probs) const;
  float penalized(float score, int64_t length) const;
  bool can_improve() const;

  BeamOptions options_;
  std::vector<Text> running_, finished_;
  std::vector<int64_t> parents_;
  int64_t written_ = 0;  // tokens of each running text
  bool done_ = false;
};

}  // namespace rote::nn
