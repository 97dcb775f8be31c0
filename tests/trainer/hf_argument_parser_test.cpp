// tests/trainer/hf_argument_parser_test.cpp — HfArgumentParser: every type of field a user's struct can have, flags by hand, remaining words, maps and files.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "trainer/arguments.h"
#include "trainer/hf_argument_parser.h"

using namespace rote;
using Words = std::vector<std::string>;

namespace {

enum class Kind { titi, toto };
WordList words_of(Kind) { return {"titi", "toto"}; }

const std::vector<std::string>& modes() {
  static const std::vector<std::string> words = {"fast", "slow"};
  return words;
}

// A user's own arguments: the struct, and its table once.
struct Mine {
  int64_t foo_count = 0;
  Number rate = 0.5;
  std::string title;
  bool on_flag = false;
  std::optional<bool> opt_on = true;
  std::vector<Number> floats = {1.0, 2.5};
  std::optional<Words> opt_words = {};
  Kind kind = Kind::titi;
  std::string mode = "fast";
  std::variant<bool, std::string> seen = false;
  std::variant<int64_t, std::string> amount = 5;
  std::optional<std::variant<ValueMap, std::string>> extra_kw = {};

  static const ArgumentTable<Mine>& table() {
    static const ArgumentTable<Mine> rows = {"Mine",
                                             {
                                                 field(&Mine::foo_count, {.name = "foo_count", .help = "a count", .required = true}),
                                                 field(&Mine::rate, {.name = "rate", .help = "a rate", .aliases = {"eta", "e"}}),
                                                 field(&Mine::title, {.name = "title", .help = "a title", .required = true}),
                                                 field(&Mine::on_flag, {.name = "on_flag", .help = "a flag", .required = true}),
                                                 field(&Mine::opt_on, {.name = "opt_on", .help = "a flag that is on"}),
                                                 field(&Mine::floats, {.name = "floats", .help = "a list"}),
                                                 field(&Mine::opt_words, {.name = "opt_words", .help = "a list or nothing"}),
                                                 field(&Mine::kind, {.name = "kind", .help = "an enum"}),
                                                 field(&Mine::mode, {.name = "mode", .help = "one of two words", .words = modes}),
                                                 field(&Mine::seen, {.name = "seen", .help = "a flag or a text"}),
                                                 field(&Mine::amount, {.name = "amount", .help = "a number or a text"}),
                                                 field(&Mine::extra_kw, {.name = "extra_kw", .help = "a map or a text"}),
                                             }};
    return rows;
  }
};

const Words kLeast = {"--foo_count", "3", "--title", "hi"};

Words with(Words more) {
  more.insert(more.begin(), kLeast.begin(), kLeast.end());
  return more;
}

Mine line(const Words& more) { return std::get<0>(HfArgumentParser<Mine>().parse_args_into_dataclasses(with(more)).values); }

std::string fault_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& fault) {
    return fault.text;
  }
  return "";
}

}  // namespace

TEST_CASE("HfArgumentParser: fields of every type from a line") {
  CHECK(line({}).foo_count == 3);
  CHECK_FALSE(line({}).on_flag);  // without a default a flag is false on a line
  CHECK(line({"--on-flag"}).on_flag);
  CHECK_FALSE(*line({"--no_opt_on"}).opt_on);
  CHECK(line({"-e0.25"}).rate == 0.25);
  CHECK(line({"--floats", "1", "-2.5", "1e3"}).floats.size() == 3);
  CHECK(*line({"--opt_words", "one"}).opt_words == Words{"one"});
  CHECK(line({"--kind", "toto"}).kind == Kind::toto);
  CHECK(line({"--mode=slow"}).mode == "slow");
  CHECK(std::get<bool>(line({"--seen"}).seen));
  CHECK(std::get<int64_t>(line({"--amount", "12"}).amount) == 12);
  CHECK(std::get<std::string>(*line({"--extra_kw", "{\"a\": 1}"}).extra_kw) == "{\"a\": 1}");
  CHECK(fault_of([] { line({"--seen", "words", "--amount", "many", "--mode", "fats"}); }) ==
        "--seen: got words; it must be true or false or a text.\n--amount: got many; it must be a whole number or a text.\n--mode: there is no fats; did you mean fast? The words are fast, slow.");
  CHECK(fault_of([] { HfArgumentParser<Mine>().parse_args_into_dataclasses(Words{}); }) ==
        "--foo_count: is required; it must be a whole number.\n--title: is required; it must be a text.");
}

TEST_CASE("HfArgumentParser: help writes each flag as it may be given") {
  try {
    HfArgumentParser<Mine>().parse_args_into_dataclasses({"--help"});
    FAIL("shows no help");
  } catch (const HelpRequested& help) {
    const std::string text = help.what();
    CHECK(text.find("  --foo_count, --foo-count INT ") != std::string::npos);
    CHECK(text.find("  --rate, --eta, -e NUMBER ") != std::string::npos);
    CHECK(text.find("  --opt_on, --opt-on, --no_opt_on, --no-opt-on\n") != std::string::npos);
  }
}

TEST_CASE("HfArgumentParser: several structs, remaining words, flags added by hand") {
  HfArgumentParser<Mine, TrainingArguments> parser;
  parser.add_argument({.name = "verbose", .help = "by hand", .kind = FieldKind::integer, .default_value = 0});
  const auto parsed = parser.parse_args_into_dataclasses(with({"--seed", "7", "--unknown", "1", "rest", "--verbose", "2"}), {.return_remaining_strings = true});
  CHECK(std::get<Mine>(parsed.values).title == "hi");
  CHECK(std::get<TrainingArguments>(parsed.values).seed == 7);
  CHECK(parsed.positional == Words{"--unknown", "1", "rest"});
  CHECK(parsed.extra == ValueMap{{"verbose", 2}});
  CHECK(parser.parse_args_into_dataclasses(with({"rest", "--", "--seed"}), {.return_remaining_strings = true}).positional == Words{"rest", "--", "--seed"});
  CHECK(parser.parse_args_into_dataclasses(kLeast).extra == ValueMap{{"verbose", 0}});
  CHECK(fault_of([&] { parser.parse_args_into_dataclasses(with({"--unknown", "rest"})); }).find("--unknown: no such argument") == 0);
  CHECK_THROWS_AS(parser.add_argument({.name = "seed"}), ArgumentError);
  CHECK_THROWS_AS((HfArgumentParser<Mine, Mine>()), ArgumentError);
  CHECK_THROWS_AS(parser.parse_args_into_dataclasses({"-h"}), HelpRequested);
}

TEST_CASE("HfArgumentParser: a map has names of fields, types are checked, nothing may be missing") {
  const HfArgumentParser<Mine> parser;
  const ValueMap least = {{"foo_count", 1}, {"title", "t"}, {"on_flag", true}};
  ValueMap more = least;
  more.set("rate", 3);
  more.set("seen", "non_padding");
  more.set("extra_kw", ValueMap{{"a", 1}});
  more.set("kind", "toto");
  const Mine mine = std::get<0>(parser.parse_dict(more).values);
  CHECK(mine.rate == 3);
  CHECK(std::get<std::string>(mine.seen) == "non_padding");
  CHECK(std::get<ValueMap>(*mine.extra_kw) == ValueMap{{"a", 1}});
  CHECK(mine.kind == Kind::toto);
  CHECK(fault_of([&] { parser.parse_dict({{"foo_count", "one"}, {"zeta", 1}, {"beta", 2}, {"rate", Value()}}); }) ==
        "beta: no such argument; --help lists them.\nfoo_count: got 'one'; it must be a whole number.\nrate: got None; it must be a number.\nzeta: no such argument; --help lists them.\n"
        "title: is required; it must be a text.\non_flag: is required; it must be true or false.");
  more.set("zeta", 1);
  CHECK(std::get<0>(parser.parse_dict(more, {.allow_extra_keys = true}).values).rate == 3);
  CHECK(fault_of([&] { parser.parse_dict({{"foo-count", 1}, {"title", "t"}, {"on_flag", true}}); }).find("foo-count: no such argument") == 0);
}

TEST_CASE("HfArgumentParser: JSON and .args files") {
  const testing::TempFolder folder;
  const HfArgumentParser<Mine> parser;
  const std::string json = folder.file("a.json", R"({"foo_count": 4, "title": "t", "on_flag": false, "floats": [1, NaN]})");
  CHECK(std::get<0>(parser.parse_json_file(json).values).foo_count == 4);
  CHECK(fault_of([&] { parser.parse_json_file(folder.file("b.json", R"({"foo_count": 4.5, "title": "t"})")); }) ==
        folder.file("b.json") + ": foo_count: got 4.5; it must be a whole number.\n" + folder.file("b.json") + ": on_flag: is required; it must be true or false.");
  CHECK_THROWS_AS(parser.parse_json_file(folder.file("none.json")), IoError);
  folder.file("prog.args", "--foo_count 9 --title from_file");
  const std::string program = folder.file("prog");
  const char* argv[] = {program.c_str(), "--foo_count", "2"};
  const Mine mine = std::get<0>(parser.parse_args_into_dataclasses(3, argv).values);
  CHECK(mine.foo_count == 2);
  CHECK(mine.title == "from_file");
}
