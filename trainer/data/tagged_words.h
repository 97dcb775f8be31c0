// trainer/data/tagged_words.h — sentences of tagged words, out of CoNLL-like text or JSON lines. No tokens, no classes (word_labels.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rote::data {

struct TaggedSentence {
  int64_t line = 0;  // of the source on which it begins, from 1
  std::vector<std::string> words, tags;  // equally many
};

struct TaggedText {
  std::string source;  // file name for error texts
  std::vector<TaggedSentence> sentences;
  bool numbered = false;  // every tag is a number of the JSON, which may stand for a class

  // `x.tsv:17`, for error texts about a sentence.
  std::string place(size_t sentence) const;
};

// A token a line: the form is the first column, the tag the last, between tabs where the first such line has one, else between blanks. A blank line
// ends a sentence; lines that begin with `# ` or are a bare #, and -DOCSTART- lines, are skipped.
// Throws ArgumentError, here and below, led by `source` and the line: not UTF-8, NUL, ragged columns, no tokens.
TaggedText parse_conll(std::string_view text, const std::string& source);

struct WordColumns {
  std::string words = "tokens", tags = "ner_tags";
};
// JSON lines with a list of words and a list of as many tags, texts or class numbers.
TaggedText parse_tagged_lines(std::string_view text, const std::string& source, const WordColumns& columns = {});

// Reads `path` by the end of its name: .tsv, .conll and .txt, or .jsonl. Throws as read_rows() does, too.
TaggedText read_tagged(const std::string& path, const WordColumns& columns = {});

}  // namespace rote::data
