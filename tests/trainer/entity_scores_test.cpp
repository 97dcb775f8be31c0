// tests/trainer/entity_scores_test.cpp — entities and their scores against seqeval's (tests/golden/task_scores.py).
#include "trainer/entity_scores.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/trainer/cases.h"

namespace rote::testing {

namespace {

Value golden() {
  const std::string path = source_folder() + "/tests/golden/task_scores.json";
  return parse_json(read_text(path), path);
}

Tags tags_of(const Value& list) {
  Tags tags;
  for (const Value& tag : *list.as_list()) tags.push_back(*tag.as_text());
  return tags;
}

std::vector<Tags> rows_of(const Value& list) {
  std::vector<Tags> rows;
  for (const Value& row : *list.as_list()) rows.push_back(tags_of(row));
  return rows;
}

double number(const Value& value) {
  double out = -1;
  REQUIRE(value.number(out));
  return out;
}

}  // namespace

TEST_CASE("entities: IOB2, IOB1 and IOBES, and what fits none of them, are read as seqeval reads them") {
  CHECK(entities({"B-PER", "I-PER", "O", "B-LOC"}) == std::vector<Entity>{{"PER", 0, 2}, {"LOC", 3, 4}});
  CHECK(entities({"I-PER", "I-PER", "B-PER", "I-LOC"}) == std::vector<Entity>{{"PER", 0, 2}, {"PER", 2, 3}, {"LOC", 3, 4}});
  CHECK(entities({"B-X", "I-X", "E-X", "S-X", "I-X"}) == std::vector<Entity>{{"X", 0, 3}, {"X", 3, 4}, {"X", 4, 5}});
  CHECK(entities({}).empty());
  const Value cases = golden();
  for (const Value& one : *at(cases, "entities").as_list()) {
    std::vector<Entity> expected;
    for (const Value& entity : *at(one, "entities").as_list()) {
      const ValueList& parts = *entity.as_list();
      expected.push_back({*parts[0].as_text(), static_cast<size_t>(*parts[1].as_int()), static_cast<size_t>(*parts[2].as_int())});
    }
    CAPTURE(json_text(one, {.indent = -1}));
    CHECK(entities(tags_of(at(one, "tags"))) == expected);
  }
}

TEST_CASE("entity_scores: equal seqeval's, of all types together and of each") {
  const Value cases = golden();
  for (const Value& one : *at(cases, "reports").as_list()) {
    const EntityReport report = entity_scores(rows_of(at(one, "predictions")), rows_of(at(one, "labels")));
    const ValueMap& expected = *at(one, "scores").as_map();
    CHECK(report.types.size() + 1 == expected.size());
    const auto check = [&](const Scores& scores, const Value& row) {
      const ValueList& wanted = *row.as_list();  // f64 sums of whole numbers: a quotient or two apart
      CHECK(scores.precision == doctest::Approx(number(wanted[0])).epsilon(1e-14));
      CHECK(scores.recall == doctest::Approx(number(wanted[1])).epsilon(1e-14));
      CHECK(scores.f1 == doctest::Approx(number(wanted[2])).epsilon(1e-14));
    };
    check(report.overall, *expected.find("micro avg"));
    for (const EntityScores& type : report.types) {
      CAPTURE(type.type);
      const Value* row = expected.find(type.type);
      REQUIRE(row != nullptr);
      check(type.scores, *row);
      CHECK(type.number == *(*row->as_list())[3].as_int());
    }
  }
}

TEST_CASE("entity_scores: no entities score 0, unequal sides are refused") {
  const EntityReport none = entity_scores({{"O", "O"}}, {{"O", "O"}});
  CHECK(none.overall.f1 == 0);
  CHECK(none.types.empty());
  CHECK_THROWS_WITH_AS(entity_scores({{"O"}}, {}), "entity_scores: got 1 predicted sentences for 0; each needs both.", ArgumentError);
  CHECK_THROWS_WITH_AS(entity_scores({{"O"}}, {{"O", "O"}}), "entity_scores: sentence 0 has 1 predicted tags for 2; each word needs both.", ArgumentError);
}

TEST_CASE("are_entity_tags: prefixes tell entities from other tags") {
  CHECK(are_entity_tags({"B-PER", "I-PER", "O"}));
  CHECK(are_entity_tags({"I-PER", "O"}));
  CHECK(are_entity_tags({"E-X", "S-X"}));
  CHECK_FALSE(are_entity_tags({"ADJ", "NOUN", "O"}));
  CHECK_FALSE(are_entity_tags({"O"}));
  CHECK_FALSE(are_entity_tags({"B-PER", "NOUN"}));
  CHECK_FALSE(are_entity_tags({"0", "1"}));
}

}  // namespace rote::testing
