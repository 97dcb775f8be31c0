// trainer/data/token_texts.h — the texts of a file as tokens: all of them cut into blocks of one length, or each text a row; held, or as a stream. What
// is learnt of them: tasks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/data/dataset_file.h"
#include "trainer/data/stream.h"
#include "trainer/text/tokenizer.h"

namespace rote::data {

struct TokenTextOptions {
  int64_t length = 1024;      // tokens of a block; the most tokens of a text, which is cut there
  bool line_by_line = false;  // each text that is not blank is a row; else all tokens follow one another, and those behind the last whole block are left out
  bool labels = false;        // rows have labels, equal to input_ids
  bool word_ids = false;      // rows have word_ids: the number of each token's word, -1 at special tokens (words_of_offsets)
};

// Texts on their way into rows. Held are four bytes a token and eight a row.
class TokenRows {
 public:
  // `path` leads error texts.
  TokenRows(std::string path, const TokenTextOptions& options) : path_(std::move(path)), options_(options) {}
  void add(std::vector<Text> texts, const text::Tokenizer& tokenizer);
  void drop();  // forgets the whole rows; what is left begins the next one

  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  Example at(int64_t row) const;
  int64_t tokens() const { return static_cast<int64_t>(ids_.size()); }  // those that fill no row too
  int64_t left_out() const { return tokens() - (ends_.empty() ? 0 : ends_.back()); }
  int64_t bytes() const { return bytes_; }  // of all texts
  // Throws ArgumentError that says why there is not one row.
  [[noreturn]] void refuse() const;

 private:
  std::string path_;
  TokenTextOptions options_;
  std::vector<int32_t> ids_;
  enum class Word : uint8_t { special, begins, goes_on };
  std::vector<Word> words_;    // of each token, where word_ids are wanted
  std::vector<int64_t> ends_;  // of each row
  int64_t bytes_ = 0;
};

// Rows of input_ids, special tokens as the tokenizer's template puts them around each text.
class TokenTexts : public Dataset {
 public:
  // Throws as TextReader, ArgumentError that names the line of a text that is not UTF-8, and where there is not one row.
  TokenTexts(const TextSource& source, const text::Tokenizer& tokenizer, const TokenTextOptions& options);

  int64_t size() const override { return rows_.size(); }
  Example at(int64_t row) const override { return rows_.at(row); }
  int64_t tokens() const { return rows_.tokens(); }
  int64_t left_out() const { return rows_.left_out(); }
  int64_t bytes() const { return rows_.bytes(); }

 private:
  TokenRows rows_;
};

// The same rows, of which no more are held than those of a megabyte of text, or of a line that is longer.
class TokenStream : public Stream {
 public:
  // Throws where the file cannot be opened; of its content at the row that is at fault, and at the end of a pass without one.
  TokenStream(const TextSource& source, const text::Tokenizer& tokenizer, const TokenTextOptions& options);
  void restart(int64_t epoch) override;
  std::optional<Example> next() override;
  std::string fingerprint() const override;

 private:
  TextSource source_;
  text::Tokenizer tokenizer_;
  TokenTextOptions options_;
  TextReader texts_;
  TokenRows rows_;
  int64_t at_ = 0;        // of rows_
  bool has_rows_ = false;  // in this pass
};

// All texts, in order, shared among threads. Throws ArgumentError that names the line of a text that is not UTF-8.
std::vector<text::Encoding> encode_texts(const std::vector<Text>& texts, const std::string& path, const text::Tokenizer& tokenizer, const text::EncodeOptions& options);

}  // namespace rote::data
