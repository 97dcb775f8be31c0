// tests/nn/beam_search_test.cpp — beams of a toy model of two tokens and an end, against all its texts.
#include "nn/beam_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace rote;
using nn::BeamSearch;
using nn::EarlyStopping;

namespace {

constexpr int64_t kEnd = 0, kWords = 4;

// Log probability of a token after a text: a table by the last token and the number of tokens, so that no two texts score alike.
float after(const std::vector<int64_t>& text, int64_t token) {
  const double last = text.empty() ? 0.0 : static_cast<double>(text.back()), place = static_cast<double>(text.size());
  double sum = 0, own = 0;
  for (int64_t t = 0; t < kWords; ++t) {
    const double weight = std::exp(std::sin(1.7 * last + 2.3 * static_cast<double>(t) + 0.9 * place) - (t == kEnd ? 0.8 : 0));
    sum += weight;
    if (t == token) own = weight;
  }
  return static_cast<float>(std::log(own / sum));
}

BeamSearch searched(nn::BeamOptions options) {
  options.eos_token_id = {kEnd};
  BeamSearch search(options);
  while (!search.is_done()) {
    std::vector<float> scores;
    for (const BeamSearch::Text& text : search.running())
      for (int64_t t = 0; t < kWords; ++t) scores.push_back(after(text.tokens, t));
    search.step(scores);
  }
  return search;
}

// Every text that ends, or has `most` tokens, with its score.
void all_texts(std::vector<int64_t>& text, float sum, int64_t most, double penalty, std::vector<BeamSearch::Text>& all) {
  for (int64_t t = 0; t < kWords; ++t) {
    const float score = sum + after(text, t);
    text.push_back(t);
    const int64_t n = static_cast<int64_t>(text.size());
    if (t == kEnd || n == most) all.push_back({text, score / static_cast<float>(std::pow(static_cast<double>(n), penalty))});
    else all_texts(text, score, most, penalty, all);
    text.pop_back();
  }
}

std::vector<BeamSearch::Text> best_texts(int64_t most, double penalty) {
  std::vector<BeamSearch::Text> all;
  std::vector<int64_t> text;
  all_texts(text, 0, most, penalty, all);
  std::sort(all.begin(), all.end(), [](const BeamSearch::Text& a, const BeamSearch::Text& b) { return a.score > b.score; });
  return all;
}

}  // namespace

TEST_CASE("beam search: beams for every text give the best of all texts, in order") {
  for (const double penalty : {0.0, 1.0, 2.0, -1.0}) {
    CAPTURE(penalty);
    const std::vector<BeamSearch::Text> best = best_texts(4, penalty);
    const BeamSearch search = searched({.num_beams = 120, .length_penalty = penalty, .early_stopping = EarlyStopping::never, .most_tokens = 4});
    REQUIRE(search.finished().size() >= 20);
    for (size_t i = 0; i < 20; ++i) {
      CHECK(search.finished()[i].tokens == best[i].tokens);
      CHECK(search.finished()[i].score == doctest::Approx(static_cast<double>(best[i].score)).epsilon(1e-6));
    }
  }
}

TEST_CASE("beam search: more beams never find less, and long texts win as length_penalty grows (67)") {
  float before = -1e9f;
  for (const int64_t beams : {1, 2, 4, 16, 64}) {
    const float best = searched({.num_beams = beams, .length_penalty = 0, .early_stopping = EarlyStopping::never, .most_tokens = 6}).finished()[0].score;
    CHECK(best >= before);
    before = best;
  }
  size_t length = 0;
  for (const double penalty : {-2.0, 0.0, 1.0, 4.0}) {
    const BeamSearch search = searched({.num_beams = 64, .length_penalty = penalty, .early_stopping = EarlyStopping::never, .most_tokens = 6});
    CHECK(search.finished()[0].tokens.size() >= length);
    length = search.finished()[0].tokens.size();
  }
  CHECK(length == 6);
}

TEST_CASE("beam search: among equal scores the lower beam and then the lower id is first") {
  BeamSearch search({.num_beams = 2, .eos_token_id = {9}, .most_tokens = 3});
  search.step(std::vector<float>(2 * 5, -1.5f));
  CHECK(search.parents() == std::vector<int64_t>{0, 0});
  CHECK(search.running()[0].tokens == std::vector<int64_t>{0});
  CHECK(search.running()[1].tokens == std::vector<int64_t>{1});
  search.step(std::vector<float>(2 * 5, -1.0f));
  CHECK(search.parents() == std::vector<int64_t>{0, 0});
  CHECK(search.running()[1].tokens == std::vector<int64_t>{0, 1});
  search.step(std::vector<float>(2 * 5, -0.5f));
  CHECK(search.is_done());
  CHECK(search.finished()[0].tokens == std::vector<int64_t>{0, 0, 0});
  CHECK(search.finished()[1].tokens == std::vector<int64_t>{0, 0, 1});
  CHECK(search.finished()[0].score == -1.0f);
}

TEST_CASE("beam search: an end counts only among the num_beams best of its step") {
  BeamSearch search({.num_beams = 2, .eos_token_id = {0}, .most_tokens = 9});
  search.step(std::vector<float>{-3, -1, -2, -9, /* the second beam stands for nothing */ -3, -1, -2, -9});
  CHECK(search.finished().empty());  // the end was third
  CHECK(search.running()[0].tokens == std::vector<int64_t>{1});
  search.step(std::vector<float>{-0.5f, -1, -7, -9, -8, -8, -8, -8});
  REQUIRE(search.finished().size() == 1);
  CHECK(search.finished()[0].tokens == std::vector<int64_t>{1, 0});
  CHECK(search.finished()[0].score == (-1 - 0.5f) / 2);
  CHECK(search.running()[0].tokens == std::vector<int64_t>{1, 1});  // those that go on
  CHECK(search.parents() == std::vector<int64_t>{0, 0});
}

TEST_CASE("beam search: early_stopping says when finished texts are enough (65)") {
  const auto steps = [](EarlyStopping when, double penalty) {
    BeamSearch search({.num_beams = 2, .length_penalty = penalty, .early_stopping = when, .eos_token_id = {0}, .most_tokens = 50});
    int64_t n = 0;
    // The end is second best at each step, and texts that go on lose little.
    for (; !search.is_done(); ++n) search.step(std::vector<float>{-1, -0.01f, -9, -9, -1, -0.01f, -9, -9});
    return n;
  };
  const int64_t at_once = steps(EarlyStopping::yes, 1), by_length = steps(EarlyStopping::no, 1), never = steps(EarlyStopping::never, 1);
  CHECK(at_once == 2);
  CHECK(by_length > at_once);
  CHECK(never >= by_length);
  CHECK(steps(EarlyStopping::never, 0) > at_once);
}

TEST_CASE("beam search: fewer tokens than beams, and none that goes on, end in order") {
  BeamSearch search({.num_beams = 3, .eos_token_id = {0, 1}, .most_tokens = 5});
  for (int64_t n = 0; n < 5 && !search.is_done(); ++n) search.step(std::vector<float>{-0.7f, -0.7f, -0.7f, -0.7f, -0.7f, -0.7f});
  CHECK(search.is_done());
  CHECK(search.finished().size() == 3);
  CHECK(search.finished()[0].tokens == std::vector<int64_t>{0});
  CHECK(search.finished()[1].tokens == std::vector<int64_t>{1});
}
