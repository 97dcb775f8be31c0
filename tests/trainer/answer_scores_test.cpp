// tests/trainer/answer_scores_test.cpp — scores of answers against the formulas of the SQuAD scripts (tests/golden/task_scores.py).
#include "trainer/answer_scores.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/trainer/cases.h"

namespace rote::testing {

namespace {

Value golden() {
  const std::string path = source_folder() + "/tests/golden/task_scores.json";
  return parse_json(read_text(path), path);
}

double number(const Value& value) {
  double out = -1;
  REQUIRE(value.number(out));
  return out;
}

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> out;
  for (const Value& item : *list.as_list()) out.push_back(*item.as_text());
  return out;
}

}  // namespace

TEST_CASE("answer_score: normal forms, equality and f1 are those of the SQuAD scripts") {
  const Value cases = golden();
  for (const Value& one : *at(cases, "answers").as_list()) {
    CAPTURE(json_text(one, {.indent = -1}));
    CHECK(normalized_answer(text_at(one, "given")) == text_at(one, "normalized"));
    const AnswerScore score = answer_score(text_at(one, "given"), texts(at(one, "wanted")));
    CHECK(score.exact == number(at(one, "exact")));
    CHECK(score.f1 == doctest::Approx(number(at(one, "f1"))).epsilon(1e-14));
  }
}

TEST_CASE("squad_v2_metrics: of all questions, of those with an answer and of those without") {
  const Value cases = golden();
  const Value& corpus = at(cases, "corpus").as_list()->front();
  std::vector<std::vector<std::string>> wanted;
  for (const Value& row : *at(corpus, "wanted").as_list()) wanted.push_back(texts(row));
  const Metrics metrics = squad_v2_metrics(texts(at(corpus, "given")), wanted);
  const ValueMap& expected = *at(corpus, "scores").as_map();
  CHECK(metrics.size() == expected.size());
  for (const auto& entry : metrics) {
    CAPTURE(entry.first);
    REQUIRE(expected.find(entry.first) != nullptr);
    CHECK(number(entry.second) == doctest::Approx(number(*expected.find(entry.first))).epsilon(1e-14));
  }
}

TEST_CASE("squad_metrics: percent of exact matches and mean f1; every question needs an answer") {
  const Metrics metrics = squad_metrics({"the Rome", "Paris or Rome"}, {{"rome", "x"}, {"Paris"}});
  CHECK(number(*metrics.find("exact_match")) == 50.0);
  CHECK(number(*metrics.find("f1")) == doctest::Approx(75.0));  // 1, and 2·(1/3)·1 / (4/3)
  CHECK_THROWS_WITH_AS(squad_metrics({"a"}, {{}}), "squad: question 0 has no answer; --version_2_with_negative takes such questions.", ArgumentError);
  CHECK_THROWS_AS(squad_metrics({}, {}), ArgumentError);
  CHECK_THROWS_AS(squad_v2_metrics({"a", "b"}, {{"a"}}), ArgumentError);
}

}  // namespace rote::testing
