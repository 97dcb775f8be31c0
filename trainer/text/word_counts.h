// trainer/text/word_counts.h — the words of texts and how often each occurs: all that the training of a vocabulary sees of a text.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainer/text/normalizer.h"
#include "trainer/text/pre_tokenizer.h"

namespace rote::text {

// Sorted by word, code point by code point; no word twice.
using WordCounts = std::vector<std::pair<std::u32string, int64_t>>;

// Of the lines of UTF-8 files, each with its line end, normalized and cut into words. The same for any number of threads.
// Throws IoError where a file cannot be read, ArgumentError where it is not UTF-8.
WordCounts count_words(const std::vector<std::string>& files, const Normalizer& normalizer, const PreTokenizer& pre_tokenizer);

}  // namespace rote::text
