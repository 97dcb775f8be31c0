// tests/trainer/json_row_test.cpp — members of the objects of data files, and what is said where one is missing or of another kind.
#include "trainer/data/json_row.h"

#include <doctest/doctest.h>

#include <vector>

#include "kernels/check.h"

namespace rote::testing {

namespace {

data::JsonRow row_of(const std::string& text) { return data::JsonRow(*text::JsonView::parse(text), "x.json: data[0]"); }

}  // namespace

TEST_CASE("json_row: texts and lists by name; the last of two equal names counts, null is none") {
  const std::string text = R"({"a": "x", "b": [1, 2], "a": "y\u00e9", "c": null})";
  const data::JsonRow row = row_of(text);
  CHECK(row.text("a") == "y\u00e9");
  CHECK(row.list("b").size() == 2);
  CHECK_FALSE(row.find("c"));
  CHECK_FALSE(row.find("d"));
}

TEST_CASE("json_row: faults name the place and what there is") {
  const std::string text = R"({"a": "x", "b": [1, 2]})", number = "3", empty = "{}";
  CHECK_THROWS_WITH_AS(row_of(text).at("c"), "x.json: data[0]: has no c; it has a, b.", ArgumentError);
  CHECK_THROWS_WITH_AS(row_of(empty).at("c"), "x.json: data[0]: has no c; it has nothing.", ArgumentError);
  CHECK_THROWS_WITH_AS(row_of(text).text("b"), "x.json: data[0]: b is array; it must be a text.", ArgumentError);
  CHECK_THROWS_WITH_AS(row_of(text).list("a"), "x.json: data[0]: a is string; it must be a list.", ArgumentError);
  CHECK_THROWS_WITH_AS(row_of(number), "x.json: data[0]: is number; it must be an object with named values.", ArgumentError);
}

TEST_CASE("json lines: blank ones are left out and the others keep their numbers") {
  std::vector<int64_t> numbers;
  const auto count = [&](const std::string& text) {
    numbers.clear();
    data::for_each_json_line(text, "x.jsonl", [&](const data::JsonRow&, int64_t number) { numbers.push_back(number); });
    return numbers;
  };
  CHECK(count("{}\r\n\r\n  \n{}") == std::vector<int64_t>{1, 4});
  CHECK(count("") == std::vector<int64_t>{});
  CHECK_THROWS_WITH_AS(count("{}\n{a}\n"), "x.jsonl:2: is not JSON; each line is an object whose names and texts stand in double quotes.", ArgumentError);
  CHECK_THROWS_WITH_AS(count("[]"), "x.jsonl:1: is array; it must be an object with named values.", ArgumentError);
  CHECK_THROWS_AS(count(std::string(100000, '[')), ArgumentError);
}

}  // namespace rote::testing
