// trainer/data/token_texts.h — the texts of a file as tokens: all of them cut into blocks of one length, or each text a row. What is learnt of them: tasks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/data/dataset_file.h"
#include "trainer/text/tokenizer.h"

namespace rote::data {

struct TokenTextOptions {
  int64_t length = 1024;      // tokens of a block; the most tokens of a text, which is cut there
  bool line_by_line = false;  // each text that is not blank is a row; else all tokens follow one another, and those behind the last whole block are left out
  bool labels = false;        // rows have labels, equal to input_ids
  bool word_ids = false;      // rows have word_ids: the number of each token's word, -1 at special tokens (words_of_offsets)
};

// Rows of input_ids, special tokens as the tokenizer's template puts them around each text. Held are four bytes a token and eight a row.
class TokenTexts : public Dataset {
 public:
  // Throws as read_texts(), ArgumentError that names the line of a text that is not UTF-8, and where there is not one row.
  TokenTexts(const TextSource& source, const text::Tokenizer& tokenizer, const TokenTextOptions& options);

  int64_t size() const override { return static_cast<int64_t>(ends_.size()); }
  Example at(int64_t row) const override;
  int64_t tokens() const { return static_cast<int64_t>(ids_.size()); }  // those left out too
  int64_t left_out() const { return tokens() - ends_.back(); }
  int64_t bytes() const { return bytes_; }                               // of the texts

 private:
  void add(const text::Encoding& text, const TokenTextOptions& options);

  bool labels_;
  std::vector<int32_t> ids_;
  enum class Word : uint8_t { special, begins, goes_on };
  std::vector<Word> words_;    // of each token, where word_ids are wanted
  std::vector<int64_t> ends_;  // of each row
  int64_t bytes_ = 0;
};

// All texts, in order, shared among threads. Throws ArgumentError that names the line of a text that is not UTF-8.
std::vector<text::Encoding> encode_texts(const std::vector<Text>& texts, const std::string& path, const text::Tokenizer& tokenizer, const text::EncodeOptions& options);

}  // namespace rote::data
