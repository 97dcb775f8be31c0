// tests/trainer/numerics_table_test.cpp — reading a numerics.jsonl, its table, and what is refused.
#include "trainer/numerics_table.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"

namespace rote::testing {

namespace {

std::string entry(const std::string& module, const std::string& what, const std::string& amax, const std::string& headroom, const std::string& underflow = "0.0") {
  return R"({"module": ")" + module + R"(", "what": ")" + what + R"(", "dtype": "f16", "source": "linear", "amax": )" + amax + R"(, "headroom_bits": )" + headroom + R"(, "underflow": )" + underflow + "}";
}

std::string line(int64_t step, const std::string& entries) { return str(R"({"step": )", step, R"(, "loss_scale": 1.0, "numerics": [)", entries, "]}\n"); }

std::string text_of(const std::string& file, const NumericsTable& table = {}) { return numerics_text(read_numerics(file), table); }

}  // namespace

TEST_CASE("numerics table: least headroom first, at its step; falling ones are marked") {
  const TempFolder folder;
  std::string text;
  const char* falling[] = {"6.0", "5.5", "4.5", "3.5"};
  const char* amax[] = {"1023.5", "1447.0", "2895.0", "5790.0"};
  for (int i = 0; i < 4; ++i)
    text += line(10 * (i + 1), entry("wo", "activations", amax[i], falling[i]) + ", " + entry("", "weights", i == 1 ? "2.0" : "1.0", i == 1 ? "15.0" : "16.0", "0.25") + ", " + entry("zero", "weights", "0.0", "null"));
  folder.file("numerics.jsonl", text);
  const RunNumerics run = read_numerics(folder.path());
  CHECK(run.lines == 4);
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[0].module == "wo");
  CHECK(run.rows[0].step == 40);
  CHECK(run.rows[0].amax == 5790);
  CHECK(run.rows[0].fallen == 2.5);
  CHECK(run.rows[1].step == 20);
  CHECK(run.rows[1].fallen == 0);
  CHECK(text_of(folder.file("numerics.jsonl")) ==
        "module     what         dtype  amax  headroom  underflow  step\n"
        "wo         activations  f16    5790       3.5          0    40  near, falling, by 2.5\n"
        "the model  weights      f16       2      15.0       0.25    20\n"
        "1 row comes within 4 bits of the end of its format (4 lines, of steps 10 to 40).\n");
}

TEST_CASE("numerics table: a plain sentence where none is near; rows beyond --rows are counted; of gradients the scale is told") {
  const TempFolder folder;
  folder.file("n.jsonl", line(5, entry("a", "activations", "4.0", "14.0") + ", " + entry("b", "gradients", "16000.0", "2.0") + ", " + entry("c", "weights", "1.0", "16.0")));
  const std::string far = text_of(folder.file("n.jsonl"), {.near = 1});
  CHECK(far.ends_with("No module comes within 1 bit of the end of its format (1 line, of step 5).\n"));
  const std::string few = text_of(folder.file("n.jsonl"), {.near = 4, .rows = 1});
  CHECK(few.find("\nb ") < few.find("\na "));
  CHECK(few.find("\nc ") == std::string::npos);
  CHECK(few.find("and 1 more with more headroom (--rows 0 shows all)\n") != std::string::npos);
  CHECK(few.ends_with("Gradients hold the loss scale, which grows until they come near: the run lowers it by itself.\n"));
  CHECK(text_of(folder.file("n.jsonl"), {.near = 4, .rows = 0}).find("\nc ") != std::string::npos);
}

TEST_CASE("numerics table: a line that a kill cut off is left out; what moves a cursor is not printed") {
  const TempFolder folder;
  folder.file("n.jsonl", line(1, entry("a\\u001b[2Jb\\u009bc\u00e9", "weights", "1.0", "16.0")) + R"({"step": 2, "num)");
  const RunNumerics run = read_numerics(folder.file("n.jsonl"));
  CHECK(run.lines == 1);
  CHECK(run.rows[0].module == "a?[2Jb?cé");
}

TEST_CASE("numerics table: what is no such file is refused with its line") {
  const TempFolder folder;
  const std::string good = line(3, entry("a", "weights", "1.0", "16.0"));
  struct Row {
    std::string text, part;
  };
  const Row table[] = {
      {"", "holds no whole line; the run has not logged yet"},
      {"{\"step\": 1", "holds no whole line"},
      {"[]\n", "n.jsonl:1: is no map"},
      {"{\n", "n.jsonl:1: "},
      {"{\"numerics\": []}\n", "n.jsonl:1: has no step"},
      {"{\"step\": 1}\n", "n.jsonl:1: has no numerics"},
      {"{\"step\": 1.5, \"numerics\": []}\n", "step is no whole number"},
      {"{\"step\": 1, \"numerics\": {}}\n", "numerics is no list"},
      {"{\"step\": 1, \"numerics\": [3]}\n", "an entry of numerics is no map"},
      {good + good, "n.jsonl:2: step 3 comes after step 3"},
      {line(1, entry("a", "weights", "\"x\"", "16.0")), "amax is no finite number"},
      {line(1, entry("a", "weights", "1.0", "NaN")), "headroom_bits is no finite number"},
      {line(1, entry("a", "weights", "1.0", "-1e300")), "n.jsonl:1: headroom_bits is -1e+300, more than lie between any two numbers of a format"},
      {line(1, R"({"headroom_bits": 1.0, "module": 3})"), "module is no text"},
  };
  for (const Row& row : table) {
    CAPTURE(row.text);
    folder.file("n.jsonl", row.text);
    CHECK_THROWS_WITH_AS(read_numerics(folder.file("n.jsonl")), doctest::Contains(row.part.c_str()), ArgumentError);
  }
  CHECK_THROWS_WITH_AS(read_numerics(folder.file("none")), doctest::Contains("does not exist; give a run folder or its numerics.jsonl."), IoError);
  CHECK_THROWS_WITH_AS(read_numerics(folder.path()), doctest::Contains("holds no numerics.jsonl; a run with --log_numerics true writes it."), IoError);
}

}  // namespace rote::testing
