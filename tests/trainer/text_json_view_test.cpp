// tests/trainer/text_json_view_test.cpp — JSON read where it lies: what is JSON, what it holds.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernels/check.h"
#include "trainer/text/json_view.h"

using namespace rote::text;

TEST_CASE("json: what is JSON and what is not") {
  for (const char* good : {"{}", "[]", " [ 1 , -2.5e+3, \"a\\u00e9\\\"\", true, false, null, {\"a\":[]}] ", "\"\\ud83d\\ude42\"", "0", "-0.0"}) {
    CAPTURE(good);
    CHECK(JsonView::parse(good).has_value());
  }
  for (const char* bad : {"", " ", "{", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "1.", ".5", "+1", "1e", "\"", "\"\\x\"", "\"\\u12\"",
                          "\"\\ud83d\"", "\"\\ude42\"", "\"\n\"", "tru", "nul", "[1]]", "{}{}", "\"\xC3(\"", "{\"a\":1,}", "[,1]", "\"\\"}) {
    CAPTURE(bad);
    CHECK_FALSE(JsonView::parse(bad).has_value());
  }
  CHECK(JsonView::parse(std::string(64, '[') + std::string(64, ']')).has_value());
  CHECK_FALSE(JsonView::parse(std::string(65, '[') + std::string(65, ']')).has_value());
  CHECK_FALSE(JsonView::parse(std::string(100000, '[')).has_value());
}

TEST_CASE("json: values, strings and the last of equal names") {
  const std::string text = R"( { "a" : [1, 2.5, "x\n\ud83d\ude42\u00e9\/", {"b": null}], "n": 1, "\u006e": -7, "big": 9223372036854775808, "[\"}": {} } )";
  const JsonNode root = read_json_object(text, "t");
  CHECK(root.value.size() == 5);
  CHECK(root.at("a").value.size() == 4);
  const auto items = root.at("a").items();
  CHECK(items[0].count() == 1);
  CHECK(items[1].number() == 2.5);
  CHECK(items[2].text() == "x\n\U0001F642\u00E9/");
  CHECK_FALSE(items[3].has("b"));
  CHECK(root.at("n").value.integer() == -7);
  CHECK(root.has("[\"}"));
  CHECK_THROWS_WITH_AS(root.at("n").count(), "tokenizer: t.n is -7; it must be an integer in [0, 2^31).", rote::IoError);
  CHECK_THROWS_WITH_AS(root.at("big").count(), "tokenizer: t.big is 9223372036854775808; it must be an integer in [0, 2^31).", rote::IoError);
  CHECK_THROWS_WITH_AS(root.at("a").text(), "tokenizer: t.a is array; it must be a string.", rote::IoError);
  CHECK_THROWS_AS(root.at("z"), rote::IoError);
  CHECK_THROWS_AS(read_json_object("[1]", "t"), rote::IoError);
}

TEST_CASE("json: quoted text reads back") {
  const std::string text = "a\"\\\n\x01\u00E9\U0001F642/";
  const std::string json = quoted(text);
  const auto view = JsonView::parse(json);
  REQUIRE(view.has_value());
  CHECK(view->string() == text);
}
