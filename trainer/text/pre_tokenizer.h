// trainer/text/pre_tokenizer.h — the pre-tokenizers of tokenizer.json: where a normalized text is cut into words. Changes no character.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "trainer/text/normalizer.h"

namespace rote::text {

// Words end at blanks, which belong to none, and every punctuation character is a word of its own.
struct BertPreTokenizer {};

// std::monostate: the whole text is one word.
using PreTokenizer = std::variant<std::monostate, BertPreTokenizer>;

// The words of `chars`, in order, as ranges of indices into it; none is empty. Replaces `words`.
void split_words(const PreTokenizer& pre_tokenizer, std::u32string_view chars, std::vector<Span>& words);

}  // namespace rote::text
