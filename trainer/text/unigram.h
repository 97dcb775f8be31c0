// trainer/text/unigram.h — the Unigram model: the most probable split of one word. Trains none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/text/piece.h"
#include "trainer/text/vocabulary.h"

namespace rote::text {

// Keys over code points, walked one character at a time so that all keys that begin somewhere are found in one pass. Nodes are numbers; 0 is
// the root.
class Trie {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  // Returns the node where `key` ends.
  uint32_t insert(std::u32string_view key);
  uint32_t child(uint32_t node, char32_t c) const;  // or kNone
  uint32_t nodes() const { return nodes_; }

 private:
  struct Entry {
    uint64_t key = 0;  // 1 + node and character; 0: free
    uint32_t child = 0;
  };
  static uint64_t key_of(uint32_t node, char32_t c) { return ((uint64_t{node} + 1) << 21) | c; }
  size_t slot_of(uint64_t key) const;

  std::vector<Entry> entries_;
  uint32_t nodes_ = 1;
};

// Kudo 2018, arXiv:1804.10959. Immutable once built; any thread may call it.
class Unigram {
 public:
  struct Options {
    std::optional<int64_t> unk_id = std::nullopt;
    bool byte_fallback = false;  // unknown characters as the tokens <0x00> … <0xFF> of their bytes
  };

  // `tokens` by id, with their log probabilities; of equal ones the later is found. Throws ArgumentError where unk_id is not among them.
  Unigram(const std::vector<std::string>& tokens, std::vector<double> scores, Options options);

  // Throws StateError where a character is unknown and there is no unk_id.
  void tokenize(std::u32string_view word, std::vector<Piece>& pieces) const;

  // Equal tokens once; token_of() knows them all.
  const Vocabulary& vocabulary() const { return vocabulary_; }
  std::optional<std::string_view> token_of(int64_t id) const;
  int64_t size() const { return static_cast<int64_t>(scores_.size()); }
  const Options& options() const { return options_; }

 private:
  void push_unknown(std::u32string_view word, uint32_t begin, uint32_t end, std::vector<Piece>& pieces) const;

  std::vector<double> scores_;
  Options options_;
  Vocabulary vocabulary_;
  std::map<int64_t, std::string> hidden_;  // tokens of which there is a later equal one
  Trie trie_;
  std::vector<int32_t> ids_;  // by node of the trie: the token that ends there, or -1
  double unk_score_ = 0;
};

}  // namespace rote::text
