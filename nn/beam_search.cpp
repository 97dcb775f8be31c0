#include "nn/beam_search.h"

#include <algorithm>
#include <cmath>

#include "kernels/math64.h"

namespace rote::nn {

namespace {

// Of a beam that stands for nothing: what is beside the first one before the first step, and what has ended. f32, as all scores here are.
constexpr float kNothing = -1e9f;

}  // namespace

BeamSearch::BeamSearch(BeamOptions options) : options_(std::move(options)) {
  for (int64_t beam = 0; beam < options_.num_beams; ++beam) {
    running_.push_back({{}, beam == 0 ? 0 : kNothing});
    parents_.push_back(beam);
  }
}

float BeamSearch::penalized(float score, int64_t length) const {
  return score / static_cast<float>(math64::pow(static_cast<double>(length), options_.length_penalty));
}

// The best of beams x V, so many that num_beams of them do not end.
std::vector<BeamSearch::Continuation> BeamSearch::best_continuations(std::span<const float> log_probs) const {
  const std::vector<int64_t>& ends = options_.eos_token_id;
  const int64_t V = static_cast<int64_t>(log_probs.size()) / options_.num_beams;
  const size_t most = static_cast<size_t>(std::min(std::max<int64_t>(2, 1 + static_cast<int64_t>(ends.size())) * options_.num_beams, options_.num_beams * V));
  std::vector<Continuation> best;
  for (int64_t beam = 0; beam < options_.num_beams; ++beam) {
    for (int64_t token = 0; token < V; ++token) {
      const float score = running_[static_cast<size_t>(beam)].score + log_probs[static_cast<size_t>(beam * V + token)];
      if (best.size() == most && !(score > best.back().score)) continue;
      // Behind those that are as good: they have a lower beam or id.
      const auto place = std::upper_bound(best.begin(), best.end(), score, [](float value, const Continuation& one) { return value > one.score; });
      best.insert(place, {score, beam, token, false});
      if (best.size() > most) best.pop_back();
    }
  }
  for (Continuation& one : best) one.ends = written_ + 1 >= options_.most_tokens || std::find(ends.begin(), ends.end(), one.token) != ends.end();
  return best;
}

// Whether a running text may still come before the worst finished one.
bool BeamSearch::can_improve() const {
  if (finished_.size() < running_.size()) return true;
  const bool at_full_length = options_.early_stopping == EarlyStopping::never && options_.length_penalty > 0;
  return penalized(running_[0].score, at_full_length ? options_.most_tokens : written_) > finished_.back().score;
}

void BeamSearch::step(std::span<const float> log_probs) {
  if (done_) return;
  const size_t beams = running_.size();
  std::vector<Continuation> best = best_continuations(log_probs);
  const auto text_of = [&](const Continuation& one, float score) {
    Text text{running_[static_cast<size_t>(one.beam)].tokens, score};
    text.tokens.push_back(one.token);
    return text;
  };
  for (size_t rank = 0; rank < std::min(beams, best.size()); ++rank) {
    if (!best[rank].ends) continue;
    Text text = text_of(best[rank], penalized(best[rank].score, written_ + 1));
    const auto place = std::upper_bound(finished_.begin(), finished_.end(), text.score, [](float value, const Text& other) { return value > other.score; });
    finished_.insert(place, std::move(text));
    if (finished_.size() > beams) finished_.pop_back();
  }
  // Those that ended stand in where too few go on.
  std::stable_partition(best.begin(), best.end(), [](const Continuation& one) { return !one.ends; });
  std::vector<Text> next;
  parents_.clear();
  for (size_t i = 0; i < beams; ++i) {
    const Continuation& one = best[std::min(i, best.size() - 1)];
    next.push_back(text_of(one, one.ends || i >= best.size() ? one.score + kNothing : one.score));
    parents_.push_back(one.beam);
  }
  running_ = std::move(next);
  ++written_;
  done_ = written_ >= options_.most_tokens || !can_improve() || (options_.early_stopping == EarlyStopping::yes && finished_.size() == beams);
}

}  // namespace rote::nn
