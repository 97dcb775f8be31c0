// trainer/text/bpe.h — the BPE model: characters of one word, merged pair by pair. Knows no bytes as letters; byte_level.h does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/text/piece.h"
#include "trainer/text/vocabulary.h"

namespace rote::text {

// Pairs of ids that are one token together. Of two entries for one pair the later counts.
class MergeTable {
 public:
  struct Merge {
    uint32_t rank = 0;  // the least is merged first
    int32_t id = -1;    // of the token that results; -1: none
  };

  void insert(int64_t left, int64_t right, Merge merge);
  Merge find(int64_t left, int64_t right) const;

 private:
  struct Entry {
    uint64_t pair = 0;
    Merge merge;
  };
  size_t slot_of(uint64_t pair) const;

  std::vector<Entry> entries_ = std::vector<Entry>(16);
  size_t size_ = 0;
};

// Sennrich et al. 2016, arXiv:1508.07909. Immutable once built; any thread may call it.
class Bpe {
 public:
  struct Options {
    std::optional<std::string> unk_token = std::nullopt;  // absent: what is unknown is left out
    std::string continuing_subword_prefix = "";           // of the characters that do not begin a word
    std::string end_of_word_suffix = "";                  // of the last one
    bool fuse_unk = false;                                // neighbouring unknown characters are one token
    bool byte_fallback = false;                           // unknown characters as the tokens <0x00> … <0xFF> of their bytes
    bool ignore_merges = false;                           // a word that is a token is that token
  };

  // `merges` by ids of `vocabulary`.
  Bpe(Vocabulary vocabulary, MergeTable merges, Options options);

  // Throws StateError where the unknown token is asked for and not in the vocabulary.
  void tokenize(std::u32string_view word, std::vector<Piece>& pieces) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::optional<std::string>& unk_token() const { return options_.unk_token; }
  const std::string& continuing_subword_prefix() const { return options_.continuing_subword_prefix; }

 private:
  // A token of a word on its way; length in bytes, 0 once it was merged into the one before it.
  struct Symbol {
    int64_t id = 0;
    uint32_t length = 0;
  };
  int64_t initial_id(char32_t c, bool first, bool last) const;
  int64_t look_up(char32_t c, bool first, bool last) const;
  void split(std::u32string_view word, std::vector<Symbol>& symbols) const;
  void merge_short(std::vector<Symbol>& symbols) const;
  void merge_long(std::vector<Symbol>& symbols) const;
  void merge(std::vector<Symbol>& symbols) const;

  static constexpr char32_t kTabled = 0x250;

  Vocabulary vocabulary_;
  MergeTable merges_;
  Options options_;
  std::optional<int64_t> unk_id_;
  std::vector<int32_t> initial_;      // initial_id() of the characters below kTabled, for each of the four places
  std::vector<int32_t> byte_tokens_;  // with byte_fallback: ids of <0x00> … <0xFF>, -1 where there is none
  std::vector<bool> whole_;           // by id: whether merging the token's own characters gives the token, so that it need not be done
};

}  // namespace rote::text
