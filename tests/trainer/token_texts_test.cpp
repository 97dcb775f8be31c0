// tests/trainer/token_texts_test.cpp — texts into rows of tokens: blocks across lines, a row a line, words across both.
#include "trainer/data/token_texts.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "tests/trainer/tiny_model.h"

namespace rote::testing {

namespace {

using data::TokenTexts;
using Ids = std::vector<int64_t>;

text::Tokenizer tiny_tokenizer() {
  const TempFolder folder;
  return text::Tokenizer::from_file(folder.file("tokenizer.json", tiny_tokenizer_json()));
}

Ids feature(const TokenTexts& rows, int64_t row, const char* name) {
  const data::Example example = rows.at(row);
  const data::Feature* found = data::find(example, name);
  REQUIRE(found != nullptr);
  return found->whole;
}

}  // namespace

TEST_CASE("TokenTexts: blocks of all texts one after the other, the last tokens left out") {
  const TempFolder folder;
  // [CLS] good film ##s [SEP], [CLS] [SEP], [CLS] bad . [SEP]
  const data::TextSource source{.path = folder.file("x.txt", "Good films\n\nbad.\n")};
  const TokenTexts rows(source, tiny_tokenizer(), {.length = 4, .labels = true});
  CHECK(rows.size() == 2);
  CHECK(rows.tokens() == 11);
  CHECK(rows.left_out() == 3);
  CHECK(rows.bytes() == 14);
  CHECK(feature(rows, 0, "input_ids") == Ids{2, 4, 8, 19});
  CHECK(feature(rows, 1, "input_ids") == Ids{3, 2, 3, 2});
  CHECK(feature(rows, 1, "labels") == Ids{3, 2, 3, 2});
  const data::Example plain = TokenTexts(source, tiny_tokenizer(), {.length = 4}).at(0);
  CHECK(plain.size() == 1);
  CHECK_THROWS_WITH_AS(TokenTexts(source, tiny_tokenizer(), {.length = 12}),
                       (source.path + ": has 11 tokens, fewer than the 12 of one block; give more text, or a smaller --block_size.").c_str(), ArgumentError);
}

TEST_CASE("TokenTexts: a row for each line that is not blank, cut to the length") {
  const TempFolder folder;
  const TokenTexts rows({.path = folder.file("x.txt", "Good films\n \t\nbad.")}, tiny_tokenizer(), {.length = 4, .line_by_line = true});
  CHECK(rows.size() == 2);
  CHECK(feature(rows, 0, "input_ids") == Ids{2, 4, 8, 3});
  CHECK(feature(rows, 1, "input_ids") == Ids{2, 5, 24, 3});
  CHECK(rows.left_out() == 0);
  const std::string blank = folder.file("blank.txt", "\n  \n");
  CHECK_THROWS_WITH_AS(TokenTexts({.path = blank}, tiny_tokenizer(), {.length = 4, .line_by_line = true}), (blank + ": every line is blank; a row needs a text.").c_str(), ArgumentError);
}

TEST_CASE("TokenTexts: words by offsets, counted in each row, and begun anew at a border") {
  const TempFolder folder;
  const data::TextSource source{.path = folder.file("x.txt", "films, bad\n")};
  // [CLS] film ##s , bad [SEP]: the comma stands at its word's end.
  const TokenTexts line(source, tiny_tokenizer(), {.length = 9, .line_by_line = true, .word_ids = true});
  CHECK(feature(line, 0, "word_ids") == Ids{-1, 0, 0, 0, 1, -1});
  const TokenTexts blocks(source, tiny_tokenizer(), {.length = 2, .word_ids = true});
  CHECK(feature(blocks, 0, "word_ids") == Ids{-1, 0});
  CHECK(feature(blocks, 1, "word_ids") == Ids{0, 0});
  CHECK(feature(blocks, 2, "word_ids") == Ids{0, -1});
}

TEST_CASE("TokenTexts: many texts at a time are the texts one by one; the line of one that is not UTF-8 is named") {
  const TempFolder folder;
  std::string lines;
  for (int i = 0; i < 5000; ++i) lines += tiny_rows(1 + i % 3, " ");
  const text::Tokenizer tokenizer = tiny_tokenizer();
  const TokenTexts rows({.path = folder.file("x.txt", lines)}, tokenizer, {.length = 16, .line_by_line = true});
  text::EncodeOptions options;
  options.truncation = text::Truncation{.max_length = 16};
  bool equal = true;
  int64_t row = 0;
  for (size_t begin = 0; begin < lines.size(); ++row) {
    const size_t end = lines.find('\n', begin);
    equal = equal && feature(rows, row, "input_ids") == tokenizer.encode(lines.substr(begin, end - begin), options).ids;
    begin = end + 1;
  }
  CHECK(equal);
  CHECK(rows.size() == row);
  const std::string bad = folder.file("bad.txt", "good\nfilm\n\xFF\xFE\nbad\n");
  try {
    TokenTexts({.path = bad}, tokenizer, {.length = 2});
    FAIL("accepted");
  } catch (const ArgumentError& fault) {
    CHECK(std::string(fault.what()).rfind(bad + ":3: ", 0) == 0);
  }
}

TEST_CASE("TokenStream: the rows of TokenTexts, pass after pass, across the texts that are read at a time") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 60000; ++i) text += i % 7 == 3 ? "\n" : "Good films , bad films.\n";  // more than a megabyte
  const data::TextSource source{.path = folder.file("x.txt", text)};
  const text::Tokenizer tokenizer = tiny_tokenizer();
  for (const data::TokenTextOptions& options : {data::TokenTextOptions{.length = 7, .labels = true}, {.length = 9, .word_ids = true}, {.length = 4, .line_by_line = true}}) {
    CAPTURE(options.length);
    const TokenTexts rows(source, tokenizer, options);
    data::TokenStream stream(source, tokenizer, options);
    for (int64_t pass = 0; pass < 2; ++pass) {
      stream.restart(pass);
      int64_t row = 0, different = 0;
      while (const std::optional<data::Example> example = stream.next()) {
        const data::Example expected = rows.at(row++);
        REQUIRE(example->size() == expected.size());
        for (size_t i = 0; i < expected.size(); ++i)
          different += (*example)[i].first != expected[i].first || (*example)[i].second.whole != expected[i].second.whole;
      }
      CHECK(row == rows.size());
      CHECK(different == 0);
      stream.restart(pass);
      stream.next();  // left in the middle
    }
  }
  const std::string named = folder.file("named.txt", "a\nb\n");
  CHECK(data::TokenStream({.path = named}, tokenizer, {.length = 8}).fingerprint() == "named.txt of 4 bytes in blocks of 8");
  CHECK(data::TokenStream({.path = named}, tokenizer, {.line_by_line = true}).fingerprint() == "named.txt of 4 bytes line by line");
  data::TokenStream blank({.path = folder.file("blank.txt", "\n \n")}, tokenizer, {.line_by_line = true});
  blank.restart(0);
  CHECK_THROWS_WITH_AS(blank.next(), (folder.file("blank.txt") + ": every line is blank; a row needs a text.").c_str(), ArgumentError);
  CHECK_THROWS_AS(data::TokenStream({.path = folder.file("none.txt")}, tokenizer, {}), IoError);
}

}  // namespace rote::testing
