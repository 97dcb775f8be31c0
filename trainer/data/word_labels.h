// trainer/data/word_labels.h — tagged words into rows of ids and a label for each id. Reads no file (tagged_words.h), pads nothing (token_collate.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/data/tagged_words.h"
#include "trainer/text/tokenizer.h"

namespace rote::data {

// The tags of a text, each once, sorted as labels are. Throws ArgumentError where there is one alone.
std::vector<std::string> tag_set(const TaggedText& text);

struct WordLabelOptions {
  int64_t max_length = 128;
  bool label_all_tokens = false;  // the pieces after a word's first one have its label, or the I-X of a B-X, in place of -100
  bool blank_before_words = false;  // for byte-level tokenizers, whose words begin with their blank
};

// Rows of input_ids, token_type_ids and labels: of a word's first piece its class, -100 of its others and of special tokens. Words beyond max_length are
// cut off. Throws ArgumentError, naming the sentence, for a tag that `labels` lacks; numbered tags that are no label stand for classes.
std::unique_ptr<Dataset> labelled_words(const TaggedText& text, const std::vector<std::string>& labels, const text::Tokenizer& tokenizer,
                                        const WordLabelOptions& options);

}  // namespace rote::data
