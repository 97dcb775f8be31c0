// trainer/text/tokenizer_text.h — the files of a tokenizer, written out of its parts: tokenizer.json and its two companions. Reads none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/text/added_tokens.h"

namespace rote::text {

// Every component as JSON. transformers and the tokenizers library read what is made of it.
struct TokenizerText {
  std::string normalizer = "null";
  std::string pre_tokenizer = "null";
  std::string post_processor = "null";
  std::string decoder = "null";
  std::string model;
  std::vector<std::pair<int64_t, AddedToken>> added_tokens;  // by id
  std::string tokenizer_class;                               // of transformers
  std::vector<std::pair<std::string, std::string>> roles;    // "pad_token" -> "[PAD]"
  std::vector<std::pair<std::string, std::string>> settings;  // of tokenizer_config.json beside these; the second is JSON

  std::string tokenizer_json() const;
  std::string tokenizer_config() const;
  std::string special_tokens_map() const;
};

// "[CLS] $A [SEP]" as a TemplateProcessing: words with their ids around the texts A and B, each word of type 0 unless `:1` follows it.
std::string template_json(const std::string& single, const std::string& pair, const std::map<std::string, int64_t>& ids);

// {"the":0,…} of tokens numbered as they come; a token that comes twice keeps the later number.
std::string vocab_json(const std::vector<std::string>& tokens);

}  // namespace rote::text
