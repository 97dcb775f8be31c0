// tests/trainer/tagged_words_test.cpp — CoNLL-like text and JSON lines into sentences of tagged words.
#include "trainer/data/tagged_words.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"

namespace rote::testing {

namespace {

using Words = std::vector<std::string>;

data::TaggedText conll(const std::string& text) { return data::parse_conll(text, "x.tsv"); }
data::TaggedText lines(const std::string& text) { return data::parse_tagged_lines(text, "x.jsonl"); }

}  // namespace

TEST_CASE("conll: sentences between blank lines, comments and -DOCSTART- left out, with or without CRLF and byte-order mark") {
  for (const std::string end : {"\n", "\r\n"}) {
    std::string text = "\xEF\xBB\xBF# sent_id = 1\nThe\tDET\n#\tSYM\n\n \n# text\n-DOCSTART-\tX\nn\xC3\xA9\tNOUN\n# inside\n1 000\tNUM";
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += end.size()) text.replace(at, 1, end);
    const data::TaggedText read = conll(text);
    REQUIRE(read.sentences.size() == 2);
    CHECK(read.sentences[0].words == Words{"The", "#"});
    CHECK(read.sentences[0].tags == Words{"DET", "SYM"});
    CHECK(read.place(0) == "x.tsv:2");
    CHECK(read.sentences[1].words == Words{"n\u00e9", "1 000"});
    CHECK(read.sentences[1].tags == Words{"NOUN", "NUM"});
    CHECK(read.place(1) == "x.tsv:8");
    CHECK_FALSE(read.numbered);
  }
}

TEST_CASE("conll: between blanks too, with columns in the middle that are passed over") {
  const data::TaggedText read = conll("-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects  VBZ B-VP O \n\n\n");
  REQUIRE(read.sentences.size() == 1);
  CHECK(read.sentences[0].words == Words{"EU", "rejects"});
  CHECK(read.sentences[0].tags == Words{"B-ORG", "O"});
  CHECK(conll("a\tb c\tX\n").sentences[0].words == Words{"a"});
}

TEST_CASE("conll: hostile text is refused with file and line") {
  struct Row {
    std::string text, said;
  };
  const Row table[] = {
      {"", "x.tsv: holds no token; a line is a form and a tag between tabs or blanks."},
      {"\n\n# only a comment\n", "x.tsv: holds no token; a line is a form and a tag between tabs or blanks."},
      {"one\n", "x.tsv:1: has one column; a line is a token with its form first and its tag last, between tabs or blanks."},
      {"a\tX\nb\n", "x.tsv:2: has one column; a line is a token with its form first and its tag last, between tabs or blanks."},
      {"a\tX\n\nb\tY\tZ\n", "x.tsv:3: has 3 columns where the first token has 2; each line needs as many."},
      {"a\tX\n\tY\n", "x.tsv:2: the form is empty; a token has both."},
      {"a\tX\nb\t\n", "x.tsv:2: has one column; a line is a token with its form first and its tag last, between tabs or blanks."},
      {"a\tX\n\xff\tY\n", "x.tsv:2: is not UTF-8; save the file in that encoding."},
      {std::string("a\tX\nb\0\tY\n", 9), "x.tsv:2: holds a NUL byte; a text file has none."},
  };
  for (const Row& row : table) {
    CAPTURE(row.text);
    CHECK_THROWS_WITH_AS(conll(row.text), row.said.c_str(), ArgumentError);
  }
}

TEST_CASE("conll: a line of millions of characters, and a million lines, are read as they are") {
  const std::string word(3000000, 'x');
  CHECK(conll(word + "\tX\n").sentences[0].words[0] == word);
  std::string many;
  for (int i = 0; i < 300000; ++i) many += "w\tX\n";
  CHECK(conll(many).sentences[0].words.size() == 300000);
}

TEST_CASE("tagged lines: tags as words or as class numbers") {
  const data::TaggedText named = lines("{\"tokens\": [\"a\", \"b\"], \"ner_tags\": [\"X\", \"Y\"]}\n\n{\"ner_tags\": [], \"tokens\": []}\n");
  REQUIRE(named.sentences.size() == 2);
  CHECK(named.sentences[0].tags == Words{"X", "Y"});
  CHECK(named.place(1) == "x.jsonl:3");
  CHECK_FALSE(named.numbered);
  const data::TaggedText numbered = lines("{\"tokens\": [\"a\", \"b\"], \"ner_tags\": [0, 12]}");
  CHECK(numbered.sentences[0].tags == Words{"0", "12"});
  CHECK(numbered.numbered);
  const data::TaggedText renamed = data::parse_tagged_lines("{\"w\": [\"a\"], \"t\": [\"X\"]}", "x.jsonl", {.words = "w", .tags = "t"});
  CHECK(renamed.sentences[0].words == Words{"a"});
}

TEST_CASE("tagged lines: hostile lines are refused with file and line") {
  struct Row {
    std::string text, said;
  };
  const Row table[] = {
      {"", "x.jsonl: is empty; each line is an object with tokens and ner_tags."},
      {"{\"tokens\": [\"a\"]}", "x.jsonl:1: has no ner_tags; it has tokens."},
      {"{\"tokens\": \"a\", \"ner_tags\": [\"X\"]}", "x.jsonl:1: tokens is string; it must be a list."},
      {"{\"tokens\": [1], \"ner_tags\": [\"X\"]}", "x.jsonl:1: tokens holds number; each word must be a text."},
      {"{\"tokens\": [\"a\"], \"ner_tags\": [1.5]}", "x.jsonl:1: ner_tags holds 1.5; each tag must be a text or a class number."},
      {"{\"tokens\": [\"a\"], \"ner_tags\": [\"\"]}", "x.jsonl:1: ner_tags holds an empty tag; each word needs one."},
      {"{\"tokens\": [\"a\", \"b\"], \"ner_tags\": [\"X\"]}", "x.jsonl:1: has 2 tokens and 1 ner_tags; each word needs its tag."},
  };
  for (const Row& row : table) {
    CAPTURE(row.text);
    CHECK_THROWS_WITH_AS(lines(row.text), row.said.c_str(), ArgumentError);
  }
}

TEST_CASE("read_tagged: the end of the name decides") {
  const TempFolder folder;
  for (const char* name : {"a.tsv", "a.conll", "a.txt"}) CHECK(data::read_tagged(folder.file(name, "a\tX\n")).sentences.size() == 1);
  CHECK(data::read_tagged(folder.file("a.jsonl", "{\"tokens\": [\"a\"], \"ner_tags\": [\"X\"]}\n")).sentences.size() == 1);
  const std::string other = folder.file("a.conllu", "a\tX\n");
  CHECK_THROWS_WITH_AS(data::read_tagged(other), (other + ": ends in .conllu; .tsv, .conll, .txt and .jsonl can be read.").c_str(), ArgumentError);
}

}  // namespace rote::testing
