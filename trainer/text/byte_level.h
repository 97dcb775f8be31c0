// trainer/text/byte_level.h — the letters that stand for bytes in the vocabularies of GPT-2 and its kin: every byte as a printable character.
#pragma once

#include <optional>

#include "trainer/text/normalized_text.h"

namespace rote::text {

// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2, and its published tokenizer: printable bytes of
// Latin-1 stand for themselves, the other 68 are U+0100 … U+0143 in their order.
char32_t letter_of(unsigned char byte);
std::optional<unsigned char> byte_of(char32_t letter);

// Appends the letters of the UTF-8 bytes of c, all of the same origin.
void push_letters(char32_t c, Span origin, NormalizedText& out);

}  // namespace rote::text
