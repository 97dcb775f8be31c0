// trainer/text/tokenizer_json.h — what the files of a tokenizer say, as plain values. Opens no file and encodes no text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/text/added_tokens.h"
#include "trainer/text/decoder.h"
#include "trainer/text/encoding.h"
#include "trainer/text/model.h"
#include "trainer/text/normalizer.h"
#include "trainer/text/pre_tokenizer.h"
#include "trainer/text/processor.h"

namespace rote::text {

// tokenizer.json but its `truncation` and `padding`, which callers decide.
struct TokenizerSpec {
  Model model;
  Normalizer normalizer = {};
  PreTokenizer pre_tokenizer = {};
  PostProcessor post_processor = {};
  Decoder decoder = {};
  std::vector<AddedToken> added_tokens = {};
};

// Throws IoError, with `path`, where `bytes` is not such a file, and ArgumentError where it names a component that Rote does not have.
TokenizerSpec read_tokenizer_json(std::string_view bytes, const std::string& path);

// tokenizer_config.json and special_tokens_map.json, as far as they concern a tokenizer.
struct TokenizerConfig {
  std::map<std::string, std::string> roles;  // "pad_token" -> "[PAD]", likewise cls_ sep_ mask_ unk_ bos_ eos_
  std::optional<int64_t> model_max_length;   // absent: no limit
  std::optional<Side> padding_side;
  std::optional<Side> truncation_side;
  std::optional<bool> clean_up_tokenization_spaces;
};

// Adds what `bytes` says to `config`; what is already there stays. Throws IoError, with `path`, where `bytes` is not a JSON object.
void read_tokenizer_config(std::string_view bytes, const std::string& path, TokenizerConfig& config);

}  // namespace rote::text
