// tests/trainer/table_test.cpp — CSV, TSV and JSON lines, and what is wrong with broken ones.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/table.h"

using namespace rote;
using namespace rote::data;

namespace {

using ArgumentRow = std::vector<std::string>;

Table csv(const std::string& text) { return parse_table(text, TableFormat::csv, "x.csv"); }
Table tsv(const std::string& text) { return parse_table(text, TableFormat::tsv, "x.tsv"); }
Table jsonl(const std::string& text) { return parse_table(text, TableFormat::jsonl, "x.jsonl"); }

template <class F>
std::string fault(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("csv: quotes, separators and line ends inside them, both line ends, no line end at the end") {
  const Table table = csv("text,label\r\n\"a, \"\"b\"\"\nc\",pos\r\nplain \"quoted\" word,neg\n\n\"\",\n\"last\",x");
  CHECK(table.columns == ArgumentRow{"text", "label"});
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[0] == ArgumentRow{"a, \"b\"\nc", "pos"});
  CHECK(table.rows[1] == ArgumentRow{"plain \"quoted\" word", "neg"});
  CHECK(table.rows[2] == ArgumentRow{"", ""});
  CHECK(table.rows[3] == ArgumentRow{"last", "x"});
  CHECK(table.lines == std::vector<int64_t>{2, 4, 6, 7});
  CHECK(table.place(1) == "x.csv:4");
}

TEST_CASE("tsv: a field that begins with a quote is quoted, others take quotes as they are") {
  const Table table = tsv("\xEF\xBB\xBFtext\tlabel\nit's a 5\" disk, \"new\"\tpos\n\"tab\there\"\tneg\n");
  CHECK(table.columns[0] == "text");
  CHECK(table.rows[0] == ArgumentRow{"it's a 5\" disk, \"new\"", "pos"});
  CHECK(table.rows[1] == ArgumentRow{"tab\there", "neg"});
}

TEST_CASE("jsonl: texts and numbers, keys in any order") {
  const Table table = jsonl("{\"text\": \"a\\nb é\", \"label\": 1}\n\n{\"label\": 2.5, \"text\": \"c\"}");
  CHECK(table.columns == ArgumentRow{"text", "label"});
  CHECK(table.rows[0] == ArgumentRow{"a\nb é", "1"});
  CHECK(table.rows[1] == ArgumentRow{"c", "2.5"});
  CHECK(table.lines == std::vector<int64_t>{1, 3});
}

TEST_CASE("TableReader: some rows at a time, quoted fields across lines, faults where they stand") {
  const std::string text = "\xEF\xBB\xBF \n\ntext,label\n\"a\n\"\"b,\",x\n\nc,y\r\nd,z";
  const auto lines = [&text](TableFormat format) {
    return TableReader([rest = std::string_view(text)](std::string_view& line) mutable {
      line = rest.substr(0, rest.find('\n') == std::string_view::npos ? rest.size() : rest.find('\n') + 1);
      rest.remove_prefix(line.size());
      return !line.empty();
    }, format, "x.csv");
  };
  TableReader reader = lines(TableFormat::csv);
  const Table first = reader.next(2), second = reader.next(2), third = reader.next(2);
  CHECK(first.columns == ArgumentRow{"text", "label"});
  REQUIRE(first.rows.size() == 2);
  CHECK(first.rows[0] == ArgumentRow{"a\n\"b,", "x"});
  CHECK(first.lines == std::vector<int64_t>{4, 7});
  REQUIRE(second.rows.size() == 1);
  CHECK(second.place(0) == "x.csv:8");
  CHECK(second.columns == first.columns);
  CHECK(third.rows.empty());
  CHECK(fault([] { csv("a,b\n1,2\n3,\"4\n\n5,6\n"); }) == "x.csv:3: a quoted field begins here and does not end; quotes inside one are written twice.");
  CHECK(fault([] { csv("a,b\n1,2\n3\n"); }) == "x.csv:3: has 1 field where the header names 2 (a, b).");
  CHECK(fault([] { csv("a,b\n1,\"\n\xff\"\n"); }) == "x.csv:3: is not UTF-8; save the file in that encoding.");
}

TEST_CASE("table: a column by name, or those there are") {
  const Table table = csv("text,label\na,b\n");
  CHECK(table.column("label") == 1);
  CHECK(fault([&] { table.column("lable"); }) == "x.csv: has no column lable; did you mean label? It has text, label.");
  CHECK(fault([&] { table.column("sentence"); }) == "x.csv: has no column sentence; it has text, label.");
}

TEST_CASE("table: every fault is one sentence with the line") {
  CHECK(fault([] { csv(""); }) == "x.csv: is empty; it must have named columns and at least one row.");
  CHECK(fault([] { csv("\n \n"); }) == "x.csv: is empty; it must have named columns and at least one row.");
  CHECK(fault([] { csv("text,label\n"); }) == "x.csv: has a header (text, label) and no rows.");
  CHECK(fault([] { csv("a,b\n1,2\n3\n"); }) == "x.csv:3: has 1 field where the header names 2 (a, b).");
  CHECK(fault([] { csv("a,b\n1,2,3\n"); }) == "x.csv:2: has 3 fields where the header names 2 (a, b).");
  CHECK(fault([] { csv("a,b,a\n1,2,3\n"); }) == "x.csv:1: two columns are named a; rename one.");
  CHECK(fault([] { tsv("a\tb\n1\t2\n\"open\t2\n3\t4\n"); }) ==
        "x.tsv:3: a quoted field begins here and does not end; quotes inside one are written twice.");
  CHECK(
      fault([] { tsv("a\tb\n\"so\" it was\t2\n"); }) ==
      "x.tsv:2: text follows the closing quote of a field; a field that begins with a quote ends with one, and quotes inside it are written twice.");
  CHECK(fault([] { jsonl("{\"a\": 1}\n{\"b\": 1}\n"); }) == "x.jsonl:2: has no a; the first row has a.");
  CHECK(fault([] { jsonl("{\"a\": 1}\n{\"a\": 1, \"b\": 1}\n"); }) == "x.jsonl:2: has a, b where the first row has a.");
  CHECK(fault([] { jsonl("{\"a\": 1}\n{\"a\": [1\n"); }) .find("x.jsonl:2: is not JSON; ") == 0);
  CHECK(fault([] { jsonl("{\"a\": null}\n"); }) == "x.jsonl:1: a is null; only texts, numbers and lists of texts without commas are read.");
  CHECK(fault([] { jsonl("[1]\n"); }).find("x.jsonl:1: is no object with named values;") == 0);
}

TEST_CASE("table: bytes that are no UTF-8, and NUL, are found by line") {
  const std::string not_utf8 = "x.csv:3: is not UTF-8; save the file in that encoding.";
  for (const char* bad : {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xf0\x9f\x98"})
    CHECK(fault([&] { csv(std::string("a,b\n1,2\n") + bad + ",2\n"); }) == not_utf8);
  CHECK(csv("a\n\xf0\x9f\x98\x80\n").rows[0] == ArgumentRow{"😀"});
  CHECK(fault([] { csv(std::string("a,b\n1,") + '\0' + "\n"); }) == "x.csv:2: holds a NUL byte; a text file has none.");
}

TEST_CASE("read_table: files by the end of their name") {
  const testing::TempFolder folder;
  CHECK(read_table(folder.file("t.tsv", "a\tb\n1,5\t2\n")).rows[0] == ArgumentRow{"1,5", "2"});
  CHECK(read_table(folder.file("t.jsonl", "{\"a\": 1}")).source == folder.file("t.jsonl"));
  CHECK(fault([&] { read_table(folder.file("t.txt", "a\n")); }) == folder.file("t.txt") + ": ends in .txt; .csv, .tsv and .jsonl can be read.");
  CHECK(fault([&] { read_table(folder.file("none.csv")); }) == folder.file("none.csv") + ": cannot be read (No such file or directory).");
  CHECK(fault([&] { read_table(folder.path()); }) == folder.path() + ": is a folder; a .csv, .tsv or .jsonl file is needed.");
}
