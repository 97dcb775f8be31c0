// trainer/text/train_bpe.cpp — the alphabet and the merges.
#include "trainer/text/train_bpe.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <unordered_map>

#include "tensor/sort_stably.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

using Pair = std::pair<uint32_t, uint32_t>;

struct PairHash {
  size_t operator()(const Pair& pair) const { return ((uint64_t{pair.first} << 32) | pair.second) * 0x9E3779B97F4A7C15 >> 7; }
};

// A pair and the words in which it was seen since it was last queued.
struct Candidate {
  int64_t count = 0;
  Pair pair;
  std::vector<uint32_t> words;

  bool operator<(const Candidate& other) const { return count != other.count ? count < other.count : pair > other.pair; }
};

class BpeTrainer {
 public:
  BpeTrainer(const WordCounts& words, const BpeTraining& options) : words_(words), options_(options) {}

  BpeResult run() {
    for (const std::string& token : options_.special_tokens) id_of(token);
    add_alphabet();
    split_words();
    merge();
    return {std::move(tokens_), ordered_merges()};
  }

 private:
  uint32_t id_of(const std::string& token) {
    const auto [at, added] = ids_.try_emplace(token, static_cast<uint32_t>(tokens_.size()));
    if (added) tokens_.push_back(token);
    return at->second;
  }

  void add_alphabet() {
    std::map<char32_t, int64_t> counts;
    for (const auto& [word, n] : words_) {
      for (const char32_t c : word) counts[c] += n;
    }
    for (const char32_t c : options_.initial_alphabet) counts[c] = std::numeric_limits<int64_t>::max();
    std::vector<std::pair<int64_t, char32_t>> kept;
    for (const auto& [c, n] : counts) kept.emplace_back(n, c);
    const auto limit = static_cast<size_t>(options_.limit_alphabet.value_or(static_cast<int64_t>(kept.size())));
    if (limit < kept.size()) {
      sort_stably(kept, [](const auto& a, const auto& b) { return a.first > b.first; });
      kept.resize(limit);
      std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    }
    for (const auto& [n, c] : kept) id_of(to_utf8(std::u32string(1, c)));
  }

  // The words as ids of their characters; what is not in the alphabet is left out.
  void split_words() {
    std::string token;
    for (const auto& [word, n] : words_) {
      std::vector<uint32_t> symbols;
      for (size_t i = 0; i < word.size(); ++i) {
        token.clear();
        append_utf8(word[i], token);
        if (!ids_.count(token)) continue;
        if (i > 0) token.insert(0, options_.continuing_subword_prefix);
        if (i + 1 == word.size()) token += options_.end_of_word_suffix;
        symbols.push_back(id_of(token));
      }
      lengths_.emplace_back(symbols.size(), 1);
      symbols_.push_back(std::move(symbols));
    }
  }

  void see(Pair pair, uint32_t word, int64_t change) {
    counts_[pair] += change * words_[word].second;
    if (change > 0) seen_[pair].push_back(word);
  }

  void queue_seen() {
    for (auto& [pair, words] : seen_) {
      const int64_t count = counts_[pair];
      if (count <= 0) continue;
      words.erase(std::unique(words.begin(), words.end()), words.end());
      queue_.push({count, pair, std::move(words)});
    }
    seen_.clear();
  }

  void merge() {
    for (uint32_t w = 0; w < symbols_.size(); ++w) {
      for (size_t i = 0; i + 1 < symbols_[w].size(); ++i) see({symbols_[w][i], symbols_[w][i + 1]}, w, 1);
    }
    queue_seen();
    while (static_cast<int64_t>(tokens_.size()) < options_.vocab_size && !queue_.empty()) {
      Candidate top = queue_.top();
      queue_.pop();
      const int64_t count = counts_[top.pair];
      if (top.count != count) {  // merges since have changed it
        top.count = count;
        queue_.push(std::move(top));
        continue;
      }
      if (count < 1 || count < options_.min_frequency) break;
      std::string right = tokens_[top.pair.second];
      if (right.starts_with(options_.continuing_subword_prefix)) right.erase(0, options_.continuing_subword_prefix.size());
      const uint32_t merged = id_of(tokens_[top.pair.first] + right);
      ranks_[top.pair] = rank_++;
      for (const uint32_t word : top.words) merge_word(word, top.pair, merged);
      queue_seen();
    }
  }

  void merge_word(uint32_t w, Pair pair, uint32_t merged) {
    std::vector<uint32_t>& symbols = symbols_[w];
    std::vector<int64_t>& lengths = lengths_[w];
    const int64_t longest = options_.max_token_length.value_or(std::numeric_limits<int64_t>::max());
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      if (symbols[i] != pair.first || symbols[i + 1] != pair.second) continue;
      const auto at = static_cast<std::ptrdiff_t>(i);
      const int64_t length = lengths[i] + lengths[i + 1];
      if (i > 0) {
        see({symbols[i - 1], pair.first}, w, -1);
        if (lengths[i - 1] + length < longest) see({symbols[i - 1], merged}, w, 1);
      }
      symbols[i] = merged;
      lengths[i] = length;
      symbols.erase(symbols.begin() + at + 1);
      lengths.erase(lengths.begin() + at + 1);
      if (i + 1 < symbols.size()) {
        see({pair.second, symbols[i + 1]}, w, -1);
        if (lengths[i + 1] + length < longest) see({merged, symbols[i + 1]}, w, 1);
      }
    }
  }

  // A pair that was merged twice, because its right side came to be in a second way, stands where it was merged last.
  std::vector<Pair> ordered_merges() const {
    std::vector<std::pair<int64_t, Pair>> ordered;
    for (const auto& [pair, rank] : ranks_) ordered.emplace_back(rank, pair);
    std::sort(ordered.begin(), ordered.end());
    std::vector<Pair> merges;
    for (const auto& [rank, pair] : ordered) merges.push_back(pair);
    return merges;
  }

  const WordCounts& words_;
  const BpeTraining& options_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<std::vector<uint32_t>> symbols_;  // of each word
  std::vector<std::vector<int64_t>> lengths_;   // of each symbol, in characters
  std::unordered_map<Pair, int64_t, PairHash> counts_;
  std::unordered_map<Pair, std::vector<uint32_t>, PairHash> seen_;
  std::priority_queue<Candidate> queue_;
  std::unordered_map<Pair, int64_t, PairHash> ranks_;
  int64_t rank_ = 0;
};

}  // namespace

BpeResult train_bpe(const WordCounts& words, const BpeTraining& options) { return BpeTrainer(words, options).run(); }

}  // namespace rote::text
