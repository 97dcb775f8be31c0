// trainer/text/added_tokens.h — tokens that are cut out of a text before the model sees it, special ones among them. Normalizes no text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainer/text/model.h"
#include "trainer/text/normalizer.h"

namespace rote::text {

struct AddedToken {
  std::string content;
  bool single_word = false;  // only where no word character stands beside it
  bool lstrip = false;       // takes the blanks before it along
  bool rstrip = false;       // and those after it
  bool normalized = true;    // looked for in the normalized text, itself normalized; otherwise in the text as given
  bool special = false;      // left out of decoded text on request
};

// A stretch of a text, in characters: an added token, or what lies between two (id -1). Only lstrip and rstrip make neighbours overlap.
struct Stretch {
  int64_t id = -1;
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Finds a set of tokens in a text, from left to right, the longest where several begin at one place.
class TokenFinder {
 public:
  struct Pattern {
    std::u32string content;
    int64_t id = 0;
    bool single_word = false;
    bool lstrip = false;
    bool rstrip = false;
  };

  // Of two patterns with the same content the earlier is found; one without content is never.
  explicit TokenFinder(std::vector<Pattern> patterns);
  TokenFinder() : TokenFinder(std::vector<Pattern>{}) {}

  // `chars` as stretches that cover it, in order. Replaces `stretches`.
  void split(std::u32string_view chars, std::vector<Stretch>& stretches) const;

 private:
  const Pattern* at(std::u32string_view rest) const;

  std::vector<Pattern> patterns_;                                 // by first character, then longest first
  std::unordered_map<char32_t, std::pair<size_t, size_t>> first_;  // first character -> its range of patterns_
  bool ascii_[128] = {};                                          // whether any pattern begins with this character
};

// All added tokens of a tokenizer. Immutable once built; any thread may call it.
class AddedTokens {
 public:
  AddedTokens() = default;
  // In the order of the file. A token that the model has keeps its id; the others are numbered on from the end of the vocabulary.
  AddedTokens(const std::vector<AddedToken>& tokens, const Model& model, const Normalizer& normalizer);

  // Tokens looked for in the text as given, and in the normalized text.
  const TokenFinder& in_text() const { return in_text_; }
  const TokenFinder& in_normalized() const { return in_normalized_; }

  std::optional<int64_t> token_to_id(std::string_view token) const;
  // The token in the form in which it is looked for, so a normalized one is not as written in the file. Null where none has this id.
  const std::string* id_to_token(int64_t id) const;
  bool is_special(const std::string& token) const { return special_.count(token) > 0; }
  const std::map<std::string, int64_t, std::less<>>& ids() const { return ids_; }

 private:
  std::map<std::string, int64_t, std::less<>> ids_;
  std::unordered_map<int64_t, std::string> forms_;
  std::set<std::string> special_;
  TokenFinder in_text_, in_normalized_;
};

}  // namespace rote::text
