#include "trainer/data/word_labels.h"

#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "kernels/check.h"
#include "trainer/data/labelled_rows.h"

namespace rote::data {

namespace {

constexpr int64_t kNotScored = -100;

using Classes = std::unordered_map<std::string, int64_t>;

Classes classes_of(const std::vector<std::string>& labels) {
  Classes classes;
  for (size_t i = 0; i < labels.size(); ++i) classes.emplace(labels[i], static_cast<int64_t>(i));
  return classes;
}

// By class, that of the pieces after the first: I-X of B-X where it is a label.
std::vector<int64_t> continuations(const std::vector<std::string>& labels, const Classes& classes) {
  std::vector<int64_t> inside;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto found = labels[i].starts_with("B-") ? classes.find("I-" + labels[i].substr(2)) : classes.end();
    inside.push_back(found != classes.end() ? found->second : static_cast<int64_t>(i));
  }
  return inside;
}

int64_t class_of(const TaggedText& text, size_t sentence, const std::string& tag, const std::vector<std::string>& labels, const Classes& classes) {
  if (const auto found = classes.find(tag); found != classes.end()) return found->second;
  int64_t number = -1;
  if (text.numbered) std::from_chars(tag.data(), tag.data() + tag.size(), number);
  if (number >= 0 && number < static_cast<int64_t>(labels.size())) return number;
  return data::class_of(tag, labels, text.place(sentence));  // throws
}

text::Encoding encoded(const TaggedText& text, size_t sentence, const text::Tokenizer& tokenizer, const WordLabelOptions& options) {
  text::EncodeOptions encode;
  encode.truncation = text::Truncation{.max_length = options.max_length, .direction = tokenizer.truncation_side()};
  std::vector<std::string> words = text.sentences[sentence].words;
  if (options.blank_before_words)
    for (std::string& word : words)
      if (!word.starts_with(' ')) word.insert(0, 1, ' ');
  try {
    return tokenizer.encode(words, encode);
  } catch (const ArgumentError& fault) {
    throw ArgumentError(str(text.place(sentence), ": ", fault.text));
  }
}

}  // namespace

std::vector<std::string> tag_set(const TaggedText& text) {
  std::unordered_set<std::string> distinct;
  for (const TaggedSentence& sentence : text.sentences) distinct.insert(sentence.tags.begin(), sentence.tags.end());
  std::vector<std::string> tags = sorted_labels({distinct.begin(), distinct.end()});
  ROTE_CHECK(tags.size() > 1, ArgumentError, text.source, ": has ", tags.empty() ? "no tag" : "the tag " + tags[0] + " alone",
             "; a classifier needs two or more.");
  return tags;
}

std::unique_ptr<Dataset> labelled_words(const TaggedText& text, const std::vector<std::string>& labels, const text::Tokenizer& tokenizer,
                                        const WordLabelOptions& options) {
  const Classes classes = classes_of(labels);
  const std::vector<int64_t> inside = continuations(labels, classes);
  std::vector<Example> rows;
  rows.reserve(text.sentences.size());
  for (size_t i = 0; i < text.sentences.size(); ++i) {
    std::vector<int64_t> word_classes;
    for (const std::string& tag : text.sentences[i].tags) word_classes.push_back(class_of(text, i, tag, labels, classes));
    text::Encoding e = encoded(text, i, tokenizer, options);
    std::vector<int64_t> piece_classes;
    for (size_t piece = 0; piece < e.ids.size(); ++piece) {
      const int64_t word = e.word_ids[piece];
      const bool is_first = piece == 0 || e.word_ids[piece - 1] != word;
      if (word < 0) piece_classes.push_back(kNotScored);
      else if (is_first) piece_classes.push_back(word_classes[static_cast<size_t>(word)]);
      else piece_classes.push_back(options.label_all_tokens ? inside[static_cast<size_t>(word_classes[static_cast<size_t>(word)])] : kNotScored);
    }
    rows.push_back({{"input_ids", Feature::list(std::move(e.ids))},
                    {"token_type_ids", Feature::list(std::move(e.type_ids))},
                    {"labels", Feature::list(std::move(piece_classes))}});
  }
  return std::make_unique<ListDataset>(std::move(rows));
}

}  // namespace rote::data
