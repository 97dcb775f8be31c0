// tests/trainer/parser_map_test.cpp — maps against rows, joining what two sources say, what is missing, and whose fault is told.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "trainer/parser.h"

using namespace rote;
using Words = std::vector<std::string>;

namespace {

ArgumentRow row(const char* name, FieldKind kind, Value default_value = {}) {
  ArgumentRow made{.name = name, .help = "a field"};
  made.kind = kind;
  made.default_value = std::move(default_value);
  return made;
}

std::vector<RowGroup> groups() {
  ArgumentRow older = row("old_size", FieldKind::any);
  older.action = FieldAction::map;
  older.maps_to = "size";
  older.detached = true;
  ArgumentRow needed = row("needed", FieldKind::text);
  needed.required = true;
  ArgumentRow mixed = row("mixed", FieldKind::text, "titi");
  mixed.words = {"titi", 42};
  ArgumentRow list = row("list", FieldKind::real, ValueList());
  list.list = true;
  return {{"first", {row("size", FieldKind::integer, 1), older, needed}}, {"second", {mixed, list, row("map", FieldKind::map, ValueMap())}}};
}

}  // namespace

TEST_CASE("read_map: values in the type of the row, wherever the row stands") {
  const Reading reading = read_map({{"size", 3}, {"mixed", 42}, {"list", ValueList{1, 2.5}}, {"map", "{\"a\": \"2\"}"}}, groups());
  CHECK(reading.faults.empty());
  CHECK(*reading.values[0][0] == Value(3));
  CHECK(*reading.values[1][0] == Value(42));
  CHECK(*reading.values[1][1] == Value(ValueList{1, 2.5}));
  CHECK(*reading.values[1][2] == Value(ValueMap{{"a", 2}}));
  CHECK_FALSE(reading.values[0][2]);
}

TEST_CASE("read_map: an older name fills in for the present one, which wins") {
  CHECK(*read_map({{"old_size", 4}}, groups()).values[0][0] == Value(4));
  const Reading both = read_map({{"old_size", 4}, {"size", 5}}, groups(), {.who = "f"});
  CHECK(*both.values[0][0] == Value(5));
  CHECK(both.warnings == Words{"f: old_size: is the older name of size, which is given too and wins."});
  CHECK(both.sources.size() == 1);
}

TEST_CASE("read_map: faults begin with the file") {
  const Reading reading = read_map({{"size", 1.5}, {"mixed", 43}, {"list", 3}, {"sise", 1}}, groups(), {.who = "c.json"});
  CHECK(reading.faults == Words{"c.json: list: got 3; it must be a list, each a number.", "c.json: mixed: there is no 43; did you mean 42? The words are titi, 42.",
                                "c.json: sise: no such argument; did you mean size?", "c.json: size: got 1.5; it must be a whole number."});
  CHECK(read_map({{"sise", 1}}, groups(), {.allow_extra_keys = true}).faults.empty());
}

TEST_CASE("merged: the second source wins, and check_required sees both") {
  Reading both = merged(read_map({{"size", 3}, {"needed", "x"}}, groups(), {.who = "f"}), read_words({"--size", "4"}, groups()), groups());
  CHECK(*both.values[0][0] == Value(4));
  CHECK(*both.values[0][2] == Value("x"));
  check_required(both, groups(), Given::line);
  CHECK(both.faults.empty());
  Reading line = read_words({}, groups());
  check_required(line, groups(), Given::line);
  CHECK(line.faults == Words{"--needed: is required; it must be a text."});
  Reading map = read_map({}, groups());
  check_required(map, groups(), Given::map, "f");
  CHECK(map.faults == Words{"f: needed: is required; it must be a text."});
}

TEST_CASE("add_resolved: a fault of what a file gave names the file; one about a name that was not understood is left out") {
  Reading reading = read_map({{"size", 3}}, groups(), {.who = "f"});
  reading.faulty_names = {"list"};
  detail::add_resolved(reading, {"--size: is too small.", "--needed: is odd, since --list is empty.", "--needed: is odd."});
  CHECK(reading.faults == Words{"f: size: is too small.", "--needed: is odd."});
}
