// trainer/text/plain_files.h — folders of before tokenizer.json: vocab.txt of BERT's kinds, vocab.json and merges.txt of GPT-2's and
// RoBERTa's. Makes the tokenizer.json that transformers makes of them. Opens no file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainer/text/tokenizer_text.h"

namespace rote::text {

// `files`: name and bytes of what a folder has of vocab.txt, vocab.json, merges.txt, added_tokens.json, tokenizer_config.json and
// special_tokens_map.json. Throws IoError, with `folder`, where no vocabulary is among them or a file is not what its name says, and
// ArgumentError where tokenizer_config.json names a class that Rote does not know.
TokenizerText read_plain_files(const std::vector<std::pair<std::string, std::string>>& files, const std::string& folder);

}  // namespace rote::text
