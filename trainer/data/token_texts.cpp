#include "trainer/data/token_texts.h"

#include <algorithm>
#include <cstddef>

#include "kernels/check.h"
#include "trainer/data/language_collate.h"

namespace rote::data {

std::vector<text::Encoding> encode_texts(const std::vector<Text>& texts, const std::string& path, const text::Tokenizer& tokenizer, const text::EncodeOptions& options) {
  std::vector<text::EncodeInput> inputs;
  for (const Text& text : texts) inputs.push_back({text.text, std::nullopt});
  try {
    return tokenizer.encode_batch(inputs, options);
  } catch (const ArgumentError&) {
    // One of them is at fault: the first that is refused alone.
    for (const Text& text : texts) {
      try {
        tokenizer.encode(text.text, options);
      } catch (const ArgumentError& fault) {
        throw ArgumentError(str(path, ":", text.line, ": ", fault.text));
      }
    }
    throw;
  }
}

void TokenRows::add(std::vector<Text> texts, const text::Tokenizer& tokenizer) {
  text::EncodeOptions encode;
  encode.fields = options_.word_ids ? text::Fields::all : text::Fields::ids;
  if (options_.line_by_line) {
    encode.truncation = text::Truncation{.max_length = options_.length};
    std::erase_if(texts, [](const Text& text) { return text.text.find_first_not_of(" \t\r\n\v\f") == std::string::npos; });
  }
  for (const Text& text : texts) bytes_ += static_cast<int64_t>(text.text.size());
  for (const text::Encoding& text : encode_texts(texts, path_, tokenizer, encode)) {
    ids_.insert(ids_.end(), text.ids.begin(), text.ids.end());
    if (options_.line_by_line) ends_.push_back(tokens());
    if (!options_.word_ids) continue;
    const std::vector<int64_t> words = words_of_offsets(text.offsets, text.special_tokens_mask);
    for (size_t i = 0; i < words.size(); ++i) words_.push_back(words[i] < 0 ? Word::special : i > 0 && words[i] == words[i - 1] ? Word::goes_on : Word::begins);
  }
  if (options_.line_by_line) return;
  while (left_out() >= options_.length) ends_.push_back(tokens() - left_out() + options_.length);
}

void TokenRows::drop() {
  const std::ptrdiff_t end = static_cast<std::ptrdiff_t>(tokens() - left_out());
  ids_.erase(ids_.begin(), ids_.begin() + end);
  if (options_.word_ids) words_.erase(words_.begin(), words_.begin() + end);
  ends_.clear();
}

void TokenRows::refuse() const {
  if (options_.line_by_line) throw ArgumentError(str(path_, ": every line is blank; a row needs a text."));
  throw ArgumentError(str(path_, ": has ", tokens(), " tokens, fewer than the ", options_.length, " of one block; give more text, or a smaller --block_size."));
}

Example TokenRows::at(int64_t row) const {
  const auto begin = static_cast<std::ptrdiff_t>(row > 0 ? ends_[static_cast<size_t>(row - 1)] : 0), end = static_cast<std::ptrdiff_t>(ends_[static_cast<size_t>(row)]);
  Example example = {{"input_ids", Feature::list(std::vector<int64_t>(ids_.begin() + begin, ids_.begin() + end))}};
  if (options_.labels) example.emplace_back("labels", example[0].second);
  if (!options_.word_ids) return example;
  std::vector<int64_t> words;
  int64_t word = -1;
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    const Word kind = words_[static_cast<size_t>(i)];
    if (kind == Word::begins || (kind == Word::goes_on && i == begin)) ++word;  // what a border has cut begins there
    words.push_back(kind == Word::special ? -1 : word);
  }
  example.emplace_back("word_ids", Feature::list(std::move(words)));
  return example;
}

TokenTexts::TokenTexts(const TextSource& source, const text::Tokenizer& tokenizer, const TokenTextOptions& options) : rows_(source.path, options) {
  TextReader reader(source);
  for (std::vector<Text> texts = reader.next(); !texts.empty(); texts = reader.next()) rows_.add(std::move(texts), tokenizer);
  if (rows_.size() == 0) rows_.refuse();
}

TokenStream::TokenStream(const TextSource& source, const text::Tokenizer& tokenizer, const TokenTextOptions& options)
    : source_(source), tokenizer_(tokenizer), options_(options), texts_(source), rows_(source.path, options) {}

void TokenStream::restart(int64_t) {
  texts_ = TextReader(source_);
  rows_ = TokenRows(source_.path, options_);
  at_ = 0;
  has_rows_ = false;
}

std::optional<Example> TokenStream::next() {
  while (at_ == rows_.size()) {
    std::vector<Text> texts = texts_.next();
    if (texts.empty() && !has_rows_) rows_.refuse();
    if (texts.empty()) return {};
    rows_.drop();
    at_ = 0;
    rows_.add(std::move(texts), tokenizer_);
  }
  has_rows_ = true;
  return rows_.at(at_++);
}

std::string TokenStream::fingerprint() const {
  return name_and_size(source_.path) + (options_.line_by_line ? " line by line" : str(" in blocks of ", options_.length));
}

}  // namespace rote::data
