// trainer/text/bpe.cpp — the merging of one word.
#include "trainer/text/bpe.h"

#include <algorithm>
#include <cstdio>
#include <queue>
#include <utility>

#include "kernels/check.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

constexpr size_t kShort = 40;  // symbols up to which a scan for the best pair beats a queue
constexpr uint32_t kNoRank = 0xFFFFFFFF;

uint64_t key_of(int64_t left, int64_t right) { return (static_cast<uint64_t>(left) << 32) | static_cast<uint32_t>(right); }

uint32_t utf8_length(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

}  // namespace

size_t MergeTable::slot_of(uint64_t pair) const {
  const size_t mask = entries_.size() - 1;
  size_t slot = (pair * 0x9E3779B97F4A7C15) >> 32 & mask;
  while (entries_[slot].merge.id >= 0 && entries_[slot].pair != pair) slot = (slot + 1) & mask;
  return slot;
}

void MergeTable::insert(int64_t left, int64_t right, Merge merge) {
  const uint64_t pair = key_of(left, right);
  Entry& entry = entries_[slot_of(pair)];
  const bool added = entry.merge.id < 0;
  entry = {pair, merge};
  if (!added || 2 * ++size_ < entries_.size()) return;
  std::vector<Entry> old(2 * entries_.size());
  old.swap(entries_);
  for (const Entry& one : old) {
    if (one.merge.id >= 0) entries_[slot_of(one.pair)] = one;
  }
}

MergeTable::Merge MergeTable::find(int64_t left, int64_t right) const { return entries_[slot_of(key_of(left, right))].merge; }

Bpe::Bpe(Vocabulary vocabulary, MergeTable merges, Options options)
    : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), options_(std::move(options)) {
  if (options_.unk_token) unk_id_ = vocabulary_.id_of(*options_.unk_token);
  if (options_.byte_fallback) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      char token[8];
      std::snprintf(token, sizeof token, "<0x%02X>", byte);
      byte_tokens_.push_back(static_cast<int32_t>(vocabulary_.id_of(token).value_or(-1)));
    }
  }
  for (int place = 0; place < 4; ++place) {
    for (char32_t c = 0; c < kTabled; ++c) initial_.push_back(static_cast<int32_t>(look_up(c, (place & 1) != 0, (place & 2) != 0)));
  }
  if (options_.ignore_merges) return;
  std::vector<Symbol> symbols;
  vocabulary_.for_each([&](std::string_view token, int64_t id) {
    if (token.size() > kShort) return;
    symbols.clear();
    const std::u32string word = decode_text(token, "bpe");
    for (size_t i = 0; i < word.size(); ++i) {
      const int64_t first = initial_id(word[i], i == 0, i + 1 == word.size());
      if (first < 0) return;
      symbols.push_back({first, 1});
    }
    merge_short(symbols);
    if (symbols.size() != 1 || symbols[0].id != id) return;
    const auto index = static_cast<size_t>(id);
    if (whole_.size() <= index && index < 4 * static_cast<size_t>(vocabulary_.size())) whole_.resize(index + 1, false);
    if (index < whole_.size()) whole_[index] = true;
  });
}

int64_t Bpe::look_up(char32_t c, bool first, bool last) const {
  std::string token = first ? "" : options_.continuing_subword_prefix;
  append_utf8(c, token);
  if (last) token += options_.end_of_word_suffix;
  return vocabulary_.id_of(token).value_or(-1);
}

// The id of a character in its place, or -1.
int64_t Bpe::initial_id(char32_t c, bool first, bool last) const {
  if (c < kTabled) return initial_[kTabled * (size_t{first} + 2 * size_t{last}) + c];
  return look_up(c, first, last);
}

void Bpe::split(std::u32string_view word, std::vector<Symbol>& symbols) const {
  uint32_t unknown = 0;  // bytes of unknown characters that wait to become a token
  const auto push_unknown = [&] {
    if (unknown > 0) symbols.push_back({*unk_id_, unknown});
    unknown = 0;
  };
  std::string bytes;
  for (size_t i = 0; i < word.size(); ++i) {
    const uint32_t length = utf8_length(word[i]);
    const bool last = i + 1 == word.size();
    const int64_t id = initial_id(word[i], i == 0, last);
    if (id >= 0) {
      push_unknown();
      symbols.push_back({id, length});
      continue;
    }
    if (options_.byte_fallback) {
      bytes = i == 0 ? "" : options_.continuing_subword_prefix;
      append_utf8(word[i], bytes);
      if (last) bytes += options_.end_of_word_suffix;
      const auto token_of = [&](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
      if (std::all_of(bytes.begin(), bytes.end(), [&](char byte) { return token_of(byte) >= 0; })) {
        for (const char byte : bytes) symbols.push_back({token_of(byte), 1});  // before what waits: as the reference orders them
        continue;
      }
    }
    if (!options_.unk_token) continue;
    ROTE_CHECK(unk_id_.has_value(), StateError, "bpe: \"", to_utf8(word.substr(i, 1)), "\" is unknown and unk_token \"", *options_.unk_token,
               "\" is not in the vocabulary; add it to the vocabulary.");
    if (!options_.fuse_unk) push_unknown();
    unknown += length;
  }
  push_unknown();
}

// Looks at all pairs for each merge: nothing is faster on a word.
void Bpe::merge_short(std::vector<Symbol>& symbols) const {
  size_t n = symbols.size();
  if (n < 2 || n > kShort) return;
  MergeTable::Merge merges[kShort];  // of symbols i and i + 1
  const auto at = [&](size_t i) {
    const auto merge = merges_.find(symbols[i].id, symbols[i + 1].id);
    return merge.id >= 0 ? merge : MergeTable::Merge{kNoRank, -1};
  };
  for (size_t i = 0; i + 1 < n; ++i) merges[i] = at(i);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i) {
      if (merges[i].rank < merges[best].rank) best = i;
    }
    if (merges[best].id < 0) break;
    symbols[best] = {merges[best].id, symbols[best].length + symbols[best + 1].length};
    std::copy(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 2, symbols.begin() + static_cast<std::ptrdiff_t>(n),
              symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    std::copy(merges + best + 1, merges + n - 1, merges + best);
    --n;
    if (best > 0) merges[best - 1] = at(best - 1);
    if (best + 1 < n) merges[best] = at(best);
  }
  symbols.resize(n);
}

// A queue of pairs by rank, then place. A pair that has changed meanwhile is passed over.
void Bpe::merge_long(std::vector<Symbol>& symbols) const {
  struct Candidate {
    uint32_t rank, place;
    int32_t id;
  };
  const auto later = [](const Candidate& a, const Candidate& b) { return a.rank != b.rank ? a.rank > b.rank : a.place > b.place; };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> queue(later);
  const auto n = static_cast<uint32_t>(symbols.size());
  std::vector<uint32_t> next(n), previous(n);
  const auto offer = [&](uint32_t place) {
    const auto merge = merges_.find(symbols[place].id, symbols[next[place]].id);
    if (merge.id >= 0) queue.push({merge.rank, place, merge.id});
  };
  for (uint32_t i = 0; i < n; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;
  }
  for (uint32_t i = 0; i + 1 < n; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate top = queue.top();
    queue.pop();
    Symbol& left = symbols[top.place];
    if (left.length == 0 || next[top.place] >= n) continue;
    const uint32_t right = next[top.place];
    const auto merge = merges_.find(left.id, symbols[right].id);
    if (merge.id != top.id) continue;
    left = {top.id, left.length + symbols[right].length};
    symbols[right].length = 0;
    next[top.place] = next[right];
    if (next[right] < n) previous[next[right]] = top.place;
    if (top.place > 0) offer(previous[top.place]);
    if (next[top.place] < n) offer(top.place);
  }
  std::erase_if(symbols, [](const Symbol& s) { return s.length == 0; });
}

void Bpe::merge(std::vector<Symbol>& symbols) const { symbols.size() <= kShort ? merge_short(symbols) : merge_long(symbols); }

void Bpe::tokenize(std::u32string_view word, std::vector<Piece>& pieces) const {
  if (options_.ignore_merges || word.size() <= kShort) {
    const auto id = vocabulary_.id_of(to_utf8(word));
    if (id && (options_.ignore_merges || (static_cast<size_t>(*id) < whole_.size() && whole_[static_cast<size_t>(*id)]))) {
      pieces.push_back({*id, 0, static_cast<uint32_t>(word.size())});
      return;
    }
  }
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  split(word, symbols);
  merge(symbols);

  // From bytes to characters: a token that begins or ends within a character stands for all of it.
  uint32_t done = 0, before = 0, begin = 0;  // bytes; bytes before the character `begin`
  for (const Symbol& symbol : symbols) {
    while (begin + 1 < word.size() && before + utf8_length(word[begin]) <= done) before += utf8_length(word[begin++]);
    done += symbol.length;
    uint32_t end = begin, bytes = before;
    while (bytes < done && end < word.size()) bytes += utf8_length(word[end++]);
    pieces.push_back({symbol.id, begin, end});
  }
}

}  // namespace rote::text
