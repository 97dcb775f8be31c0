// trainer/text/decoder.h — the decoders of tokenizer.json: from tokens back to text. Knows no ids.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "trainer/text/regex.h"

namespace rote::text {

// A blank before every token that does not carry the prefix; the prefix itself goes.
struct WordPieceDecoder {
  std::string prefix = "##";
  bool cleanup = true;  // takes the blank before . ? ! , and before n't 'm 's 've 're away
};
// The suffix is a blank, and nothing in the last token.
struct BpeDecoder {
  std::string suffix = "</w>";
};
// Letters as the bytes they stand for; all tokens become one.
struct ByteLevelDecoder {};
// Runs of tokens <0x00> … <0xFF> as the characters of these bytes, or as many U+FFFD where they are not UTF-8.
struct ByteFallbackDecoder {};
struct MetaspaceDecoder {
  std::string replacement = "\u2581";
  bool drop_first = true;  // in the first token it is nothing, elsewhere a blank
};
// Joins all tokens to one.
struct FuseDecoder {};
// Takes up to `start` and `stop` of a character from the ends of each token.
struct StripDecoder {
  char32_t content = U' ';
  size_t start = 0;
  size_t stop = 0;
};
struct ReplaceDecoder {
  Regex pattern;
  std::string content;
};
// Connectionist temporal classification: equal neighbours once, without padding.
struct CtcDecoder {
  std::string pad_token = "<pad>";
  std::string word_delimiter_token = "|";
  bool cleanup = true;
};

using DecoderStep = std::variant<WordPieceDecoder, BpeDecoder, ByteLevelDecoder, ByteFallbackDecoder, MetaspaceDecoder, FuseDecoder, StripDecoder,
                                 ReplaceDecoder, CtcDecoder>;
// The steps in order, what they leave joined. `given` false: the tokens, a blank between any two.
struct Decoder {
  bool given = false;
  std::vector<DecoderStep> steps;
};

// What a tokenizer_config.json with clean_up_tokenization_spaces does to a decoded text: as WordPieceDecoder's cleanup, without its "do not".
void clean_up_spaces(std::string& text);

std::string join_tokens(const Decoder& decoder, std::vector<std::string> tokens);

}  // namespace rote::text
