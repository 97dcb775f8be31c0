// tests/trainer/yaml_text_test.cpp — YAML 1.1: how plain scalars read, quotes, tags, merging, and what is refused.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "trainer/json_text.h"
#include "trainer/yaml_text.h"

using namespace rote;

namespace {

std::string as_json(const std::string& yaml) { return json_text(parse_yaml(yaml, "c.yaml"), {.indent = -1}); }

std::string fault_of(const std::string& yaml) {
  try {
    parse_yaml(yaml, "c.yaml");
  } catch (const ArgumentError& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace

TEST_CASE("YAML 1.1: plain scalars") {
  if (!has_yaml()) return;  // the one sentence: argument_files_test.cpp
  struct Row {
    const char *yaml, *json;
  };
  const Row table[] = {
      {"yes", "true"}, {"No", "false"}, {"ON", "true"}, {"off", "false"}, {"True", "true"}, {"y", "\"y\""}, {"~", "null"}, {"null", "null"}, {"", "null"},
      {"12", "12"}, {"-3", "-3"}, {"+4", "4"}, {"1_000", "1000"}, {"0x1F", "31"}, {"0b101", "5"}, {"010", "8"}, {"0", "0"}, {"08", "\"08\""}, {"1:30", "90"}, {"1:60", "\"1:60\""},
      {"1.5", "1.5"}, {".5", "0.5"}, {"3.", "3.0"}, {"-2.0", "-2.0"}, {"1.5e-3", "0.0015"}, {"1.5e3", "\"1.5e3\""}, {"1e-3", "\"1e-3\""}, {"1_0.5", "10.5"},
      {".inf", "Infinity"}, {"-.INF", "-Infinity"}, {".nan", "NaN"}, {"inf", "\"inf\""}, {"nan", "\"nan\""}, {"1.2.3", "\"1.2.3\""}, {".", "\".\""}, {"-", "[null]"},
      {"'yes'", "\"yes\""}, {"\"12\"", "\"12\""}, {"!!str 12", "\"12\""}, {"!!float 12", "12.0"}, {"plain words here", "\"plain words here\""},
      {"99999999999999999999", "\"99999999999999999999\""}, {"-.5", "\"-.5\""},
  };
  for (const Row& row : table) {
    CAPTURE(std::string(row.yaml));
    CHECK(as_json(row.yaml) == row.json);
  }
}

TEST_CASE("YAML 1.1: lists, maps, blocks, merging; the last of two keys wins") {
  if (!has_yaml()) return;
  CHECK(as_json("a: [1, 2.5, x]\nb:\n  - yes\n  - {c: ~}\n") == R"({"a": [1, 2.5, "x"], "b": [true, {"c": null}]})");
  CHECK(as_json("a: |\n  two\n  lines\nb: >\n  folded\n  text\n") == R"({"a": "two\nlines\n", "b": "folded text\n"})");
  CHECK(as_json("a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n") == R"({"a": {"p": 1, "q": 2}, "b": {"q": 3, "p": 1}})");
  CHECK(as_json("a: 1\na: 2\n") == R"({"a": 2})");
}

TEST_CASE("YAML: what is refused, with the line") {
  if (!has_yaml()) return;
  struct Row {
    const char *yaml, *fault;
  };
  const Row table[] = {
      {"size: [1\n", "c.yaml:2: is not YAML, end of sequence flow not found; a line is name: value, a list is [a, b]."},
      {"a: 1\nb: {\n", "c.yaml:3: is not YAML, end of map flow not found; a line is name: value, a list is [a, b]."},
      {"a: b: c\n", "c.yaml:1: is not YAML, illegal map value; a line is name: value, a list is [a, b]."},
      {"a: *x\n", "c.yaml:1: is not YAML, the referenced anchor is not defined; a line is name: value, a list is [a, b]."},
      {"a: 1\nb: 'x\n", "c.yaml:3: a quote is not closed; the same quote ends the text."},
      {"a: [\"x", "c.yaml:"},
      {"a: 1\n---\nb: 2\n", "c.yaml:2: a second document begins; one is read."},
      {",b: 1\n", "c.yaml:1: a second document begins; one is read."},
      {"1: a\n", "c.yaml:1: a name is no text; put it in quotes."},
      {"a: 1\nyes: 2\n", "c.yaml:2: a name is no text; put it in quotes."},
      {"? [a]\n: b\n", "c.yaml:1: a name is no text; put it in quotes."},
      {"a: !!int x\n", "c.yaml:1: a tag does not fit its value; leave the tag out."},
      {"a: 1\n<<: 3\n", "c.yaml:2: << stands before a map or a list of maps."},
      {"a: &a [*a]\n", "c.yaml:1: a list or map holds itself; write it out."},
  };
  for (const Row& row : table) {
    CAPTURE(std::string(row.yaml));
    CHECK_MESSAGE(fault_of(row.yaml).starts_with(row.fault), fault_of(row.yaml));
  }
}

TEST_CASE("YAML: hostile documents end with a word") {
  if (!has_yaml()) return;
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + below + ", " + below + ", " + below + ", " + below + ", " + below + ", " + below + "]\n";
  }
  CHECK(fault_of(bomb).find("there are more values than the file has bytes") != std::string::npos);
  for (const std::string& deep : {std::string("["), std::string("- "), std::string("{a: ")}) {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += deep;
    CHECK(fault_of(text) == "c.yaml:1: lists and maps are nested too deep; 100 is the most.");
  }
  const std::string good = "a: [1, \"x\\n\", {b: 'c'}]\nd: |-\n  e\n  f\ng: &h !!str 5\n<<: {i: *h}\n";
  CHECK(as_json(good) == R"({"a": [1, "x\n", {"b": "c"}], "d": "e\nf", "g": "5", "i": "5"})");
  for (size_t cut = 0; cut <= good.size(); ++cut) {  // whatever a file is cut to or has in one place, it is read or refused
    for (const char* put : {"", ",", "'", "\"", "]", "{", ": ", "- ", "\n", "\t", "&", "%", "!"}) {
      const std::string fault = fault_of(good.substr(0, cut) + put + (*put ? good.substr(cut) : ""));
      CHECK((fault.empty() || fault.starts_with("c.yaml:")));
    }
  }
}
