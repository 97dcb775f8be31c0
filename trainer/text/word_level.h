// trainer/text/word_level.h — the WordLevel model: every word is a token or unknown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/text/piece.h"
#include "trainer/text/vocabulary.h"

namespace rote::text {

// Immutable once built; any thread may call it.
class WordLevel {
 public:
  WordLevel(Vocabulary vocabulary, std::string unk_token);

  // Throws StateError where the word is not in the vocabulary and the unknown token is not either.
  void tokenize(std::u32string_view word, std::vector<Piece>& pieces) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::string& unk_token() const { return unk_token_; }

 private:
  Vocabulary vocabulary_;
  std::string unk_token_;
  std::optional<int64_t> unk_id_;
};

}  // namespace rote::text
