// trainer/text/decoder.h — the decoders of tokenizer.json: from tokens back to text. Knows no ids.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace rote::text {

// A blank before every token that does not carry the prefix; the prefix itself goes.
struct WordPieceDecoder {
  std::string prefix = "##";
  bool cleanup = true;  // takes the blank before . ? ! , and before n't 'm 's 've 're away
};

// std::monostate: the tokens, a blank between any two.
using Decoder = std::variant<std::monostate, WordPieceDecoder>;

std::string join_tokens(const Decoder& decoder, const std::vector<std::string>& tokens);

}  // namespace rote::text
