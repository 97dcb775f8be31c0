#include "nn/logits_process.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/check.h"
#include "kernels/math64.h"

namespace rote::nn {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

float& at(std::span<float> scores, int64_t id) { return scores[static_cast<size_t>(id)]; }

bool ends_in(std::span<const int64_t> ids, std::span<const int64_t> tail) {
  return ids.size() >= tail.size() && std::equal(tail.begin(), tail.end(), ids.end() - static_cast<std::ptrdiff_t>(tail.size()));
}

void check_ids(const char* name, const std::vector<int64_t>& ids, int64_t vocabulary) {
  for (const int64_t id : ids)
    ROTE_CHECK(id >= 0 && id < vocabulary, ArgumentError, "generate: ", name, " has the id ", id, "; the model's lie in 0…", vocabulary - 1, ".");
}

void check_tokens(const GenerationConfig& c, int64_t vocabulary) {
  for (const auto& one : c.sequence_bias) check_ids("sequence_bias", one.first, vocabulary);
  for (const std::vector<int64_t>& word : c.bad_words_ids) check_ids("bad_words_ids", word, vocabulary);
  if (c.forced_bos_token_id) check_ids("forced_bos_token_id", {*c.forced_bos_token_id}, vocabulary);
  check_ids("forced_eos_token_id", c.forced_eos_token_id, vocabulary);
  check_ids("suppress_tokens", c.suppress_tokens, vocabulary);
  check_ids("begin_suppress_tokens", c.begin_suppress_tokens, vocabulary);
}

// Words that may not be written: not those that are an end token alone.
std::vector<std::vector<int64_t>> words_to_ban(const GenerationConfig& c) {
  std::vector<std::vector<int64_t>> words = c.bad_words_ids;
  std::erase_if(words, [&](const std::vector<int64_t>& word) {
    return word.size() == 1 && std::find(c.eos_token_id.begin(), c.eos_token_id.end(), word[0]) != c.eos_token_id.end();
  });
  return words;
}

}  // namespace

void penalize_repetition(std::span<const int64_t> tokens, double penalty, std::span<float> scores) {
  const float factor = static_cast<float>(penalty);
  std::vector<int64_t> distinct(tokens.begin(), tokens.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const int64_t id : distinct) {
    if (id < 0 || id >= static_cast<int64_t>(scores.size())) continue;  // an encoder may have more ids than are scored
    float& score = at(scores, id);
    score = score < 0 ? score * factor : score / factor;
  }
}

void ban_repeated_ngrams(std::span<const int64_t> seen, std::span<const int64_t> ids, int64_t n, std::span<float> scores) {
  const size_t before = static_cast<size_t>(n - 1);
  if (ids.size() < before) return;
  const std::span<const int64_t> tail = ids.last(before);
  for (size_t end = before; end < seen.size(); ++end) {
    if (!std::equal(tail.begin(), tail.end(), seen.begin() + static_cast<std::ptrdiff_t>(end - before))) continue;
    if (seen[end] >= 0 && seen[end] < static_cast<int64_t>(scores.size())) at(scores, seen[end]) = kNever;
  }
}

void bias_sequence(std::span<const int64_t> sequence, double bias, std::span<const int64_t> ids, std::span<float> scores) {
  if (ends_in(ids, sequence.first(sequence.size() - 1))) at(scores, sequence.back()) += static_cast<float>(bias);
}

void force_tokens(const std::vector<int64_t>& tokens, std::span<float> scores) {
  std::fill(scores.begin(), scores.end(), kNever);
  for (const int64_t id : tokens) at(scores, id) = 0;
}

void suppress(const std::vector<int64_t>& tokens, std::span<float> scores) {
  for (const int64_t id : tokens) at(scores, id) = kNever;
}

void remove_invalid_values(std::span<float> scores) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (float& score : scores) score = std::isnan(score) ? 0 : std::clamp(score, -kLargest, kLargest);
}

void decay_towards_end(const std::vector<int64_t>& ends, double factor, int64_t steps, std::span<float> scores) {
  const float share = static_cast<float>(math64::pow(factor, static_cast<double>(steps)) - 1);
  for (const int64_t id : ends)
    if (std::isfinite(at(scores, id))) at(scores, id) += std::abs(at(scores, id)) * share;
}

void renormalize(std::span<float> scores) {
  const float most = *std::max_element(scores.begin(), scores.end());
  if (!std::isfinite(most)) return;
  double sum = 0;
  for (const float score : scores) sum += math64::exp(static_cast<double>(score) - static_cast<double>(most));
  const double total = static_cast<double>(most) + math64::log(sum);
  for (float& score : scores) score = static_cast<float>(static_cast<double>(score) - total);
}

std::vector<LogitsProcessor> logits_processors(const GenerationConfig& c, int64_t prompt_length, int64_t max_length, int64_t vocabulary) {
  check_tokens(c, vocabulary);
  std::vector<LogitsProcessor> list;
  const auto add = [&](bool wanted, LogitsProcessor process) {
    if (wanted) list.push_back(std::move(process));
  };
  std::vector<int64_t> ends;  // each once; one that is not scored is never chosen either
  for (const int64_t id : c.eos_token_id)
    if (id >= 0 && id < vocabulary && std::find(ends.begin(), ends.end(), id) == ends.end()) ends.push_back(id);
  add(!c.sequence_bias.empty(), [biases = c.sequence_bias](const ScoreRow& row) {
    for (const auto& one : biases) bias_sequence(one.first, one.second, row.ids, row.scores);
  });
  add(c.encoder_repetition_penalty != 1, [p = 1 / c.encoder_repetition_penalty](const ScoreRow& row) { penalize_repetition(row.encoded, p, row.scores); });
  add(c.repetition_penalty != 1, [p = c.repetition_penalty](const ScoreRow& row) { penalize_repetition(row.ids, p, row.scores); });
  add(c.no_repeat_ngram_size > 0, [n = c.no_repeat_ngram_size](const ScoreRow& row) { ban_repeated_ngrams(row.ids, row.ids, n, row.scores); });
  add(c.encoder_no_repeat_ngram_size > 0,
      [n = c.encoder_no_repeat_ngram_size](const ScoreRow& row) { ban_repeated_ngrams(row.encoded, row.ids, n, row.scores); });
  add(!c.bad_words_ids.empty(), [words = words_to_ban(c)](const ScoreRow& row) {
    for (const std::vector<int64_t>& word : words) bias_sequence(word, static_cast<double>(kNever), row.ids, row.scores);
  });
  const int64_t shortest = c.min_new_tokens ? prompt_length + *c.min_new_tokens : c.min_length;
  add(shortest > 0, [shortest, ends](const ScoreRow& row) {
    if (row.length < shortest) suppress(ends, row.scores);
  });
  add(c.forced_bos_token_id.has_value(), [first = c.forced_bos_token_id.value_or(0)](const ScoreRow& row) {
    if (row.length == 1) force_tokens({first}, row.scores);
  });
  add(!c.forced_eos_token_id.empty(), [max_length, forced = c.forced_eos_token_id](const ScoreRow& row) {
    if (row.length == max_length - 1) force_tokens(forced, row.scores);
  });
  add(c.remove_invalid_values, [](const ScoreRow& row) { remove_invalid_values(row.scores); });
  const std::pair<int64_t, double> decay = c.exponential_decay_length_penalty.value_or(std::pair<int64_t, double>(0, 1));
  add(c.exponential_decay_length_penalty.has_value(), [start = prompt_length + decay.first, factor = decay.second, ends](const ScoreRow& row) {
    if (row.length > start) decay_towards_end(ends, factor, row.length - start, row.scores);
  });
  add(!c.suppress_tokens.empty(), [tokens = c.suppress_tokens](const ScoreRow& row) { suppress(tokens, row.scores); });
  const int64_t begin = prompt_length > 1 || !c.forced_bos_token_id ? prompt_length : prompt_length + 1;
  add(!c.begin_suppress_tokens.empty(), [begin, tokens = c.begin_suppress_tokens](const ScoreRow& row) {
    if (row.length == begin) suppress(tokens, row.scores);
  });
  add(c.renormalize_logits, [](const ScoreRow& row) { renormalize(row.scores); });
  return list;
}

}  // namespace rote::nn
