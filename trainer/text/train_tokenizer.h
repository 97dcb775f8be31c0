// trainer/text/train_tokenizer.h — a whole tokenizer out of texts: the usual components of its kind around a vocabulary that is learnt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/text/tokenizer_text.h"

namespace rote::text {

// Options that a kind does not have are not looked at. Names are those of the trainers of the Hugging Face tokenizers library.
struct TokenizerTraining {
  enum class Kind { bpe, wordpiece, unigram } kind = Kind::bpe;
  int64_t vocab_size = 30000;
  int64_t min_frequency = 0;
  std::optional<std::vector<std::string>> special_tokens = std::nullopt;  // absent: those of the kind
  std::optional<std::string> unk_token = std::nullopt;                    // absent: that of the kind
  std::optional<int64_t> limit_alphabet = std::nullopt;
  std::string initial_alphabet = "";  // characters; byte-level has all its letters besides
  std::optional<std::string> continuing_subword_prefix = std::nullopt;  // absent: ## for wordpiece, none for bpe
  std::string end_of_word_suffix = "";
  std::optional<int64_t> max_token_length = std::nullopt;
  bool byte_level = true;         // bpe: bytes as letters; otherwise words at blanks and punctuation
  bool add_prefix_space = false;  // bpe, byte-level
  bool lowercase = true;          // wordpiece
  double shrinking_factor = 0.75;
  int64_t n_sub_iterations = 2;
  int64_t max_piece_length = 16;
};

// Throws IoError where a file cannot be read, ArgumentError where an option cannot be met.
TokenizerText train_tokenizer(const std::vector<std::string>& files, const TokenizerTraining& options);

}  // namespace rote::text
