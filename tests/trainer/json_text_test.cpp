// tests/trainer/json_text_test.cpp — numbers as Python spells them, and JSON there and back.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernels/check.h"
#include "trainer/json_text.h"
#include "trainer/python_text.h"

using namespace rote;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}

TEST_CASE("python_float: the shortest digits, and Python's place for the point") {
  // Printed by Python 3.11: print(repr(x)).
  const std::pair<double, const char*> cases[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {100.0, "100.0"},
      {123456789.0, "123456789.0"},
      {0.1, "0.1"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1.0 / 3, "0.3333333333333333"},
      {1e-4, "0.0001"},
      {9.999e-5, "9.999e-05"},
      {5e-5, "5e-05"},
      {1e-7, "1e-07"},
      {1e15, "1000000000000000.0"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e16, "1e+16"},
      {1e22, "1e+22"},
      {1.5e300, "1.5e+300"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {kInfinity, "inf"},
      {-kInfinity, "-inf"},
      {std::nan(""), "nan"},
  };
  for (const auto& [value, text] : cases) CHECK(python_float(value) == text);
}

TEST_CASE("general_float and rounded: C's %.4g, and rounding from the exact binary value") {
  CHECK(general_float(0.31718, 4) == "0.3172");
  CHECK(general_float(12344.5, 4) == "1.234e+04");
  CHECK(general_float(5e-5, 4) == "5e-05");
  CHECK(general_float(-0.0, 4) == "-0");
  CHECK(rounded(2.675, 2) == 2.67);  // 2.675 lies below its decimal spelling
  CHECK(rounded(0.125, 2) == 0.12);  // an exact tie goes to even
  CHECK(rounded(1e300, 4) == 1e300);
}

TEST_CASE("python_repr: quotes, escapes and containers") {
  CHECK(python_repr(Value("it's")) == "\"it's\"");
  CHECK(python_repr(Value("both ' and \"")) == "'both \\' and \"'");
  CHECK(python_repr(Value("tab\tnew\n\x01")) == "'tab\\tnew\\n\\x01'");
  CHECK(python_repr(Value("a\u00a0b\u200b\u2028\ufeff\U000e0001")) == "'a\\xa0b\\u200b\\u2028\\ufeff\\U000e0001'");
  CHECK(python_repr(Value("\u00e9\u4e2d\U0001f600")) == "'\u00e9\u4e2d\U0001f600'");
  CHECK(python_repr(Value("\x80 of no character")) == "'\\x80 of no character'");
  CHECK(python_repr(ValueMap{{"n", {}}, {"l", ValueList{1, 2.5, "x", true}}}) == "{'n': None, 'l': [1, 2.5, 'x', True]}");
  CHECK(code_points("é中") == 2);
  CHECK(joined({"a", "b"}) == "a, b");
  CHECK(joined({"a"}, " ") + joined({}) == "a");
}

TEST_CASE("json_text: Python's json.dumps, byte for byte") {
  const ValueMap map{{"b", ValueList{}},    {"a", ValueMap{}},   {"x", ValueList{1, 2.0, {}, true}},
                     {"s", "é\"\\\n\x7f😀"}, {"n", std::nan("")}, {"i", -kInfinity}};
  CHECK(json_text(map) ==
        "{\n  \"b\": [],\n  \"a\": {},\n  \"x\": [\n    1,\n    2.0,\n    null,\n    true\n  ],\n  \"s\": "
        "\"\\u00e9\\\"\\\\\\n\\u007f\\ud83d\\ude00\",\n  \"n\": NaN,\n  \"i\": -Infinity\n}");
  CHECK(json_text(ValueMap{{"b", 1}, {"a", ValueMap{{"d", 1}, {"c", 2}}}}, {.indent = 1, .sort_keys = true}) ==
        "{\n \"a\": {\n  \"c\": 2,\n  \"d\": 1\n },\n \"b\": 1\n}");
  CHECK(json_text("\xff") == "\"\\ufffd\"");
}

TEST_CASE("parse_json: what json_text wrote comes back") {
  const ValueMap map{
      {"int", 9007199254740993},        {"float", 3.0}, {"text", "NaN, \"Infinity\""}, {"words", ValueList{kInfinity, -kInfinity}}, {"none", {}},
      {"deep", ValueMap{{"e", 5e-324}}}};
  const Value read = parse_json(json_text(map), "case");
  CHECK(read == Value(map));
  CHECK(std::isnan(*parse_json("NaN", "case").as_float()));
  CHECK(parse_json("{\"a\": 1, \"a\": 2}", "case") == Value(ValueMap{{"a", 2}}));
}

TEST_CASE("parse_json: faults name the source and the line") {
  CHECK_THROWS_WITH_AS(parse_json("{\n\"a\": 1,\n}", "x.json"),
                       "x.json: is not JSON at line 3; names and texts stand in double quotes, parts are parted by commas.", ArgumentError);
  CHECK_THROWS_AS(parse_json("", "x.json"), ArgumentError);
  CHECK_THROWS_AS(parse_json("{\"a\": 1} 2", "x.json"), ArgumentError);
  CHECK_THROWS_WITH_AS(parse_json(std::string(1000, '[') + std::string(1000, ']'), "x.json"), "x.json: is nested deeper than 200 levels.",
                       ArgumentError);
}
