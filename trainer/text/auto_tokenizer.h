// trainer/text/auto_tokenizer.h — the tokenizer of a model by its name: a folder, a .gguf file, or a name in the hub's cache.
#pragma once

#include <optional>
#include <string>

#include "trainer/text/tokenizer.h"

namespace rote::text {

struct AutoTokenizerOptions {
  // Of byte-level tokenizers, in place of what the file says: whether a text begins as if a blank stood before it.
  std::optional<bool> add_prefix_space = {};
  std::string revision = "main", cache_dir = {};  // of names of the hub (nn/hub.h)
};

// Not made, but by from_pretrained.
struct AutoTokenizer {
  AutoTokenizer() = delete;
  // Throws as nn::model_place and Tokenizer::from_folder, and ArgumentError for add_prefix_space of a tokenizer that is not byte-level.
  static Tokenizer from_pretrained(const std::string& name, const AutoTokenizerOptions& options = {});
};

}  // namespace rote::text
