// trainer/text/wordpiece.cpp — the vocabulary's hash table and the split.
#include "trainer/text/wordpiece.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/check.h"
#include "trainer/text/unicode.h"

namespace rote::text {

PieceTable::Hash PieceTable::hash_of(std::u32string_view key) {
  Hash hash = kStart;
  for (const char32_t c : key) hash = extend(hash, c);
  return hash;
}

void PieceTable::reserve(size_t keys, size_t characters) {
  const size_t slots = std::bit_ceil(2 * keys + 2);  // at most half full
  entries_.assign(slots, Entry{});
  shift_ = 64 - std::countr_zero(slots);  // the high bits of a product are its well mixed ones
  characters_.reserve(characters);
}

size_t PieceTable::slot_of(Hash hash, std::u32string_view key) const {
  const auto tag = static_cast<uint32_t>(hash);
  const size_t mask = entries_.size() - 1;
  for (size_t slot = hash >> shift_;; slot = (slot + 1) & mask) {
    const Entry& e = entries_[slot];
    if (e.id < 0) return slot;
    if (e.tag == tag && e.length == key.size() && std::equal(key.begin(), key.end(), characters_.begin() + e.offset)) return slot;
  }
}

void PieceTable::insert(std::u32string_view key, int64_t id) {
  const Hash hash = hash_of(key);
  Entry& e = entries_[slot_of(hash, key)];
  if (e.id < 0) {
    e = {static_cast<uint32_t>(hash), static_cast<uint32_t>(characters_.size()), static_cast<uint32_t>(key.size()), 0};
    characters_.append(key);
    longest_ = std::max(longest_, key.size());
  }
  e.id = static_cast<int32_t>(id);
}

int64_t PieceTable::find(Hash hash, std::u32string_view key) const { return entries_[slot_of(hash, key)].id; }

WordPiece::WordPiece(Vocabulary vocabulary, Options options) : options_(std::move(options)), vocabulary_(std::move(vocabulary)) {
  const std::u32string prefix = decode_text(options_.continuing_subword_prefix, "wordpiece");
  size_t n_continuing = 0, characters = 0;
  vocabulary_.for_each([&](std::string_view token, int64_t) {
    if (!token.starts_with(options_.continuing_subword_prefix)) return;
    ++n_continuing;
    characters += token.size();
  });
  words_.reserve(static_cast<size_t>(vocabulary_.size()), static_cast<size_t>(vocabulary_.bytes()));
  continuing_.reserve(n_continuing, characters);
  vocabulary_.for_each([&](std::string_view token, int64_t id) {
    const std::u32string key = decode_text(token, "wordpiece");
    words_.insert(key, id);
    if (key.size() > prefix.size() && key.starts_with(prefix)) continuing_.insert(std::u32string_view(key).substr(prefix.size()), id);
  });
  unk_id_ = vocabulary_.id_of(options_.unk_token);
}

void WordPiece::tokenize(std::u32string_view word, std::vector<Piece>& pieces) const {
  if (word.size() > static_cast<size_t>(options_.max_input_chars_per_word)) return append_unknown(word, pieces);
  const size_t before = pieces.size();
  for (size_t begin = 0; begin < word.size();) {
    const PieceTable& table = begin == 0 ? words_ : continuing_;
    const std::u32string_view rest = word.substr(begin, table.longest());
    PieceTable::Hash hash = PieceTable::kStart;
    int64_t id = -1;
    size_t end = begin;
    for (size_t n = 1; n <= rest.size(); ++n) {
      hash = PieceTable::extend(hash, rest[n - 1]);
      const int64_t found = table.find(hash, rest.substr(0, n));
      if (found < 0) continue;
      id = found;
      end = begin + n;
    }
    if (id < 0) {
      pieces.resize(before);
      return append_unknown(word, pieces);
    }
    pieces.push_back({id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    begin = end;
  }
}

void WordPiece::append_unknown(std::u32string_view word, std::vector<Piece>& pieces) const {
  ROTE_CHECK(unk_id_.has_value(), StateError, "wordpiece: \"", to_utf8(word), "\" has no pieces and unk_token \"", options_.unk_token,
             "\" is not in the vocabulary; add it to the vocabulary.");
  pieces.push_back({*unk_id_, 0, static_cast<uint32_t>(word.size())});
}

}  // namespace rote::text
