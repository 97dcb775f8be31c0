// trainer/text/wordpiece.h — the WordPiece model: the longest-match-first split of one word. Knows no special token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/text/piece.h"
#include "trainer/text/vocabulary.h"

namespace rote::text {

// Ids by key. Open addressing with the hash built one character at a time, so that all prefixes of a word are looked up in one walk.
class PieceTable {
 public:
  using Hash = uint64_t;
  static constexpr Hash kStart = 0xCBF29CE484222325;
  static Hash extend(Hash hash, char32_t c) { return (hash ^ c) * 0x9E3779B97F4A7C15; }
  static Hash hash_of(std::u32string_view key);

  void reserve(size_t keys, size_t characters);
  // A key given twice keeps the later id.  REQUIRES: no more keys than were reserved; id >= 0.
  void insert(std::u32string_view key, int64_t id);
  // The id of `key`, whose hash is given, or -1.
  int64_t find(Hash hash, std::u32string_view key) const;
  // Characters of the longest key.
  size_t longest() const { return longest_; }

 private:
  struct Entry {
    uint32_t tag = 0;
    uint32_t offset = 0;
    uint32_t length = 0;
    int32_t id = -1;  // -1: free
  };
  size_t slot_of(Hash hash, std::u32string_view key) const;

  std::vector<Entry> entries_;
  std::u32string characters_;
  int shift_ = 64;
  size_t longest_ = 0;
};

// Wu et al. 2016, arXiv:1609.08144, as BERT uses it. Immutable once built; any thread may call it.
class WordPiece {
 public:
  struct Options {
    std::string unk_token = "[UNK]";
    std::string continuing_subword_prefix = "##";  // marks the pieces that do not begin a word
    int64_t max_input_chars_per_word = 100;        // a longer word is unknown, in code points
  };

  // Throws ArgumentError where a token is not UTF-8.
  WordPiece(Vocabulary vocabulary, Options options);

  // Appends the pieces of `word`: the longest token that begins it, then the longest continuing one, and so on; one unknown token for the
  // whole word where that comes to no end. Throws StateError where the vocabulary then has no unknown token.
  void tokenize(std::u32string_view word, std::vector<Piece>& pieces) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::string& unk_token() const { return options_.unk_token; }
  const std::string& continuing_subword_prefix() const { return options_.continuing_subword_prefix; }

 private:
  void append_unknown(std::u32string_view word, std::vector<Piece>& pieces) const;

  Options options_;
  Vocabulary vocabulary_;
  PieceTable words_;       // every token as written
  PieceTable continuing_;  // those with the prefix, without it
  std::optional<int64_t> unk_id_;
};

}  // namespace rote::text
