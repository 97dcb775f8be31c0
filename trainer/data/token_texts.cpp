#include "trainer/data/token_texts.h"

#include <algorithm>

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

TokenTexts::TokenTexts(const TextSource& source, const text::Tokenizer& tokenizer, const TokenTextOptions& options) : labels_(options.labels) {
  text::EncodeOptions encode;
  encode.fields = options.word_ids ? text::Fields::all : text::Fields::ids;
  if (options.line_by_line) encode.truncation = text::Truncation{.max_length = options.length};
  read_texts(source, [&](std::vector<Text>& texts) {
    if (options.line_by_line) std::erase_if(texts, [](const Text& text) { return text.text.find_first_not_of(" \t\r\n\v\f") == std::string::npos; });
    for (const Text& text : texts) bytes_ += static_cast<int64_t>(text.text.size());
    for (const text::Encoding& one : encode_texts(texts, source.path, tokenizer, encode)) add(one, options);
  });
  if (!options.line_by_line)
    for (int64_t end = options.length; end <= tokens(); end += options.length) ends_.push_back(end);
  ROTE_CHECK(!ends_.empty() || !options.line_by_line, ArgumentError, source.path, ": every line is blank; a row needs a text.");
  ROTE_CHECK(!ends_.empty(), ArgumentError, source.path, ": has ", tokens(), " tokens, fewer than the ", options.length, " of one block; give more text, or a smaller --block_size.");
}

void TokenTexts::add(const text::Encoding& text, const TokenTextOptions& options) {
  ids_.insert(ids_.end(), text.ids.begin(), text.ids.end());
  if (options.line_by_line) ends_.push_back(tokens());
  if (!options.word_ids) return;
  const std::vector<int64_t> words = words_of_offsets(text.offsets, text.special_tokens_mask);
  for (size_t i = 0; i < words.size(); ++i) words_.push_back(words[i] < 0 ? Word::special : i > 0 && words[i] == words[i - 1] ? Word::goes_on : Word::begins);
}

Example TokenTexts::at(int64_t row) const {
  const auto begin = static_cast<std::ptrdiff_t>(row > 0 ? ends_[static_cast<size_t>(row - 1)] : 0), end = static_cast<std::ptrdiff_t>(ends_[static_cast<size_t>(row)]);
  Example example = {{"input_ids", Feature::list(std::vector<int64_t>(ids_.begin() + begin, ids_.begin() + end))}};
  if (labels_) example.emplace_back("labels", example[0].second);
  if (words_.empty()) return example;
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

}  // namespace rote::data
