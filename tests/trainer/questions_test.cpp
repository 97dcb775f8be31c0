// tests/trainer/questions_test.cpp — questions out of SQuAD's JSON and JSON lines.
#include "trainer/data/questions.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"

namespace rote::testing {

namespace {

data::Questions squad(const std::string& text) { return data::parse_squad(text, "x.json"); }
data::Questions flat(const std::string& text) { return data::parse_question_lines(text, "x.jsonl"); }

// One question on "né à Paris".
std::string one(const std::string& answers) {
  return R"({"data": [{"paragraphs": [{"context": "n\u00e9 \u00e0 Paris", "qas": [{"id": "q1", "question": "where", "answers": )" + answers + "}]}]}]}";
}

}  // namespace

TEST_CASE("questions: SQuAD's articles, contexts shared by their questions, places in code points") {
  const data::Questions read = squad(R"({"version": "1.1", "data": [{"title": "t", "paragraphs": [
    {"context": "né à Paris", "qas": [{"id": "q1", "question": "where", "answers": [{"text": "Paris", "answer_start": 5}, {"text": "à Paris", "answer_start": 3}]},
                                       {"id": "q2", "question": "why", "is_impossible": true, "answers": [{"text": "Paris", "answer_start": 5}]}]}]},
    {"paragraphs": [{"context": "", "qas": [{"id": 3, "question": "what", "answers": []}]}]}]})");
  CHECK(read.contexts == std::vector<std::string>{"né à Paris", ""});
  REQUIRE(read.rows.size() == 3);
  REQUIRE(read.rows[0].answers.size() == 2);
  CHECK(read.rows[0].answers[1].text == "à Paris");
  CHECK(read.rows[0].answers[1].start == 3);
  CHECK(read.rows[1].answers.empty());
  CHECK(read.rows[1].context == 0);
  CHECK(read.rows[2].context == 1);
  CHECK(read.rows[2].id == "3");
  CHECK(read.place(1) == "x.json: question q2");
}

TEST_CASE("questions: flat rows, a line each or under data, with lists of answers or a list of them") {
  const std::string a = R"({"id": "a", "question": "q", "context": "in Rome", "answers": {"text": ["Rome"], "answer_start": [3]}})";
  const std::string b = R"({"id": "b", "question": "q", "context": "in Rome", "answers": [{"text": "in", "answer_start": 0}], "title": "t"})";
  const std::string c = R"({"id": "c", "question": "q", "context": "in Rome"})";
  for (const data::Questions& read : {flat(a + "\n\n" + b + "\n" + c), squad("{\"data\": [" + a + ", " + b + ", " + c + "]}")}) {
    REQUIRE(read.rows.size() == 3);
    CHECK(read.rows[0].answers[0].text == "Rome");
    CHECK(read.rows[1].answers[0].start == 0);
    CHECK(read.rows[2].answers.empty());
    CHECK(read.contexts.size() == 3);
  }
}

TEST_CASE("questions: hostile files are refused in one sentence with the place") {
  struct Row {
    std::string text, said;
  };
  const Row table[] = {
      {"", "x.json: is not JSON; SQuAD's form is {\"data\": [{\"paragraphs\": [{\"context\": \"…\", \"qas\": […]}]}]}."},
      {"{\"data\": [", "x.json: is not JSON; SQuAD's form is {\"data\": [{\"paragraphs\": [{\"context\": \"…\", \"qas\": […]}]}]}."},
      {std::string(100000, '{'), "x.json: is not JSON; SQuAD's form is {\"data\": [{\"paragraphs\": [{\"context\": \"…\", \"qas\": […]}]}]}."},
      {"\xff", "x.json:1: is not UTF-8; save the file in that encoding."},
      {"[]", "x.json: is array; it must be an object with named values."},
      {"{\"rows\": []}", "x.json: has no data; it has rows."},
      {"{\"data\": []}", "x.json: holds no question; it needs one with an id, a context and answers."},
      {"{\"data\": [1]}", "x.json: data[0]: is number; it must be an object with named values."},
      {"{\"data\": [{\"paragraphs\": [{\"qas\": []}]}]}", "x.json: data[0].paragraphs[0]: has no context; it has qas."},
      {"{\"data\": [{\"paragraphs\": [{\"context\": \"c\", \"qas\": [{\"question\": \"q\"}]}]}]}", "x.json: data[0].paragraphs[0].qas[0]: has no id; it has question."},
      {one("[{\"text\": \"Paris\", \"answer_start\": 7}]"),
       "x.json: question q1: the answer \"Paris\" does not stand at character 7 of the context, which has 10; answer_start counts code points."},
      {one("[{\"text\": \"Paris\", \"answer_start\": 999999999999}]"),
       "x.json: question q1: the answer \"Paris\" does not stand at character 999999999999 of the context, which has 10; answer_start counts code points."},
      {one("[{\"text\": \"Paris\", \"answer_start\": -1}]"),
       "x.json: data[0].paragraphs[0].qas[0]: answer_start is -1; it must be a whole number of characters, 0 or more."},
      {one("[{\"text\": \"Paris\"}]"), "x.json: data[0].paragraphs[0].qas[0]: has no answer_start; it has text."},
      {one("[3]"), "x.json: data[0].paragraphs[0].qas[0]: is number; it must be an object with named values."},
      {one("{\"text\": [\"Paris\"], \"answer_start\": []}"),
       "x.json: data[0].paragraphs[0].qas[0]: has more answers than places of answers; each text needs its answer_start."},
      {one("{\"text\": [], \"answer_start\": [5]}"), "x.json: data[0].paragraphs[0].qas[0]: has 0 answers and 1 places of answers; each text needs its answer_start."},
      {one("\"Paris\""), "x.json: data[0].paragraphs[0].qas[0]: is string; it must be an object with named values."},
  };
  for (const Row& row : table) {
    CAPTURE(row.text.substr(0, 200));
    CHECK_THROWS_WITH_AS(squad(row.text), row.said.c_str(), ArgumentError);
  }
  const std::string line = R"({"id": "a", "question": "q", "context": "c", "answers": []})";
  CHECK_THROWS_WITH_AS(flat(line + "\n" + line), "x.jsonl:2: the id a comes twice; each question needs its own.", ArgumentError);
  CHECK_THROWS_WITH_AS(flat(""), "x.jsonl: holds no question; it needs one with an id, a context and answers.", ArgumentError);
}

TEST_CASE("read_questions: the end of the name decides") {
  const TempFolder folder;
  CHECK(data::read_questions(folder.file("a.json", one("[]"))).rows.size() == 1);
  CHECK(data::read_questions(folder.file("a.jsonl", R"({"id": "a", "question": "q", "context": "c"})")).rows.size() == 1);
  const std::string other = folder.file("a.csv", "x");
  CHECK_THROWS_WITH_AS(data::read_questions(other), (other + ": ends in .csv; .json and .jsonl can be read.").c_str(), ArgumentError);
}

}  // namespace rote::testing
