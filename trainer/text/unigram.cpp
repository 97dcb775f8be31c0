// trainer/text/unigram.cpp — the trie and the best path through it.
#include "trainer/text/unigram.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "kernels/check.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

constexpr double kUnknownPenalty = 10;  // below the least probable token

}  // namespace

size_t Trie::slot_of(uint64_t key) const {
  const size_t mask = entries_.size() - 1;
  size_t slot = (key * 0x9E3779B97F4A7C15) >> 32 & mask;
  while (entries_[slot].key != 0 && entries_[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

uint32_t Trie::insert(std::u32string_view key) {
  uint32_t node = 0;
  for (const char32_t c : key) {
    if (2 * (size_t{nodes_} + 1) > entries_.size()) {
      std::vector<Entry> old(std::max<size_t>(16, 2 * entries_.size()));
      old.swap(entries_);
      for (const Entry& entry : old) {
        if (entry.key != 0) entries_[slot_of(entry.key)] = entry;
      }
    }
    Entry& entry = entries_[slot_of(key_of(node, c))];
    if (entry.key == 0) entry = {key_of(node, c), nodes_++};
    node = entry.child;
  }
  return node;
}

uint32_t Trie::child(uint32_t node, char32_t c) const {
  if (entries_.empty()) return kNone;
  const Entry& entry = entries_[slot_of(key_of(node, c))];
  return entry.key == 0 ? kNone : entry.child;
}

Unigram::Unigram(const std::vector<std::string>& tokens, std::vector<double> scores, Options options)
    : scores_(std::move(scores)), options_(options) {
  ROTE_CHECK(!options_.unk_id || *options_.unk_id < size(), ArgumentError, "unigram: unk_id is ", options_.unk_id.value_or(0), " but there are ",
             size(), " tokens; it must be one of theirs.");
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (const auto earlier = vocabulary_.id_of(tokens[i])) hidden_[*earlier] = tokens[i];
    vocabulary_.add(tokens[i], static_cast<int64_t>(i));
    const uint32_t node = trie_.insert(decode_text(tokens[i], "unigram"));
    if (ids_.size() < trie_.nodes()) ids_.resize(trie_.nodes(), -1);
    if (node != 0) ids_[node] = static_cast<int32_t>(i);
    least = std::min(least, scores_[i]);
  }
  vocabulary_.sort_ids();
  unk_score_ = least - kUnknownPenalty;
}

std::optional<std::string_view> Unigram::token_of(int64_t id) const {
  const auto hidden = hidden_.find(id);
  return hidden != hidden_.end() ? std::optional<std::string_view>(hidden->second) : vocabulary_.token_of(id);
}

void Unigram::tokenize(std::u32string_view word, std::vector<Piece>& pieces) const {
  constexpr uint32_t kNowhere = 0xFFFFFFFF;
  struct Best {
    double score = 0;
    uint32_t begin = kNowhere;  // of the token that ends here
    int64_t id = 0;
  };
  const auto n = static_cast<uint32_t>(word.size());
  std::vector<Best> best(n + 1);  // by where a token ends
  for (uint32_t begin = 0; begin < n; ++begin) {
    const auto offer = [&](uint32_t end, double score, int64_t id) {
      score += best[begin].score;
      if (best[end].begin == kNowhere || score > best[end].score) best[end] = {score, begin, id};
    };
    bool single = false;
    uint32_t node = 0;
    for (uint32_t end = begin; end < n;) {
      node = trie_.child(node, word[end++]);
      if (node == Trie::kNone) break;
      const int32_t id = ids_[node];
      if (id < 0) continue;
      offer(end, scores_[static_cast<size_t>(id)], id);
      single = single || end == begin + 1;
    }
    if (single) continue;
    ROTE_CHECK(options_.unk_id.has_value(), StateError, "unigram: \"", to_utf8(word.substr(begin, 1)),
               "\" is unknown and there is no unk_id; the file must name one.");
    offer(begin + 1, unk_score_, *options_.unk_id);
  }

  const size_t before = pieces.size();
  for (uint32_t end = n; end > 0; end = best[end].begin) pieces.push_back({best[end].id, best[end].begin, end, true});
  std::reverse(pieces.begin() + static_cast<std::ptrdiff_t>(before), pieces.end());
  if (!options_.unk_id) return;
  const auto is_unknown = [&](const Piece& piece) { return piece.id == *options_.unk_id; };
  if (std::none_of(pieces.begin() + static_cast<std::ptrdiff_t>(before), pieces.end(), is_unknown)) return;
  const std::vector<Piece> path(pieces.begin() + static_cast<std::ptrdiff_t>(before), pieces.end());
  pieces.resize(before);
  for (size_t i = 0; i < path.size();) {  // neighbouring unknown characters are one
    const uint32_t begin = path[i].begin;
    uint32_t end = path[i].end;
    if (!is_unknown(path[i])) {
      pieces.push_back(path[i++]);
      continue;
    }
    while (++i < path.size() && is_unknown(path[i])) end = path[i].end;
    push_unknown(word, begin, end, pieces);
  }
}

// Appends the token, or the byte tokens or the unknown one, that the unknown characters [begin, end) of `word` are.
void Unigram::push_unknown(std::u32string_view word, uint32_t begin, uint32_t end, std::vector<Piece>& pieces) const {
  const std::string text = to_utf8(word.substr(begin, end - begin));
  if (const auto id = vocabulary_.id_of(text)) {
    pieces.push_back({*id, begin, end, true});
    return;
  }
  if (options_.byte_fallback) {
    const size_t before = pieces.size();
    for (const char byte : text) {
      char token[8];
      std::snprintf(token, sizeof token, "<0x%02X>", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      const auto id = vocabulary_.id_of(token);
      if (!id) break;
      pieces.push_back({*id, begin, end});
    }
    if (pieces.size() - before == text.size()) return;
    pieces.resize(before);
  }
  pieces.push_back({*options_.unk_id, begin, end, true});
}

}  // namespace rote::text
