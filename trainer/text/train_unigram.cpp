// trainer/text/train_unigram.cpp — substrings to begin with, expectation and maximization, and the dropping of what is least missed.
#include "trainer/text/train_unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "kernels/check.h"
#include "kernels/pool.h"
#include "tensor/sort_stably.h"
#include "trainer/text/unicode.h"
#include "trainer/text/unigram.h"

namespace rote::text {
namespace {

constexpr double kUnknownPenalty = 10;     // below the least probable token
constexpr double kLeastExpected = 0.5;     // occurrences; a token expected less often is dropped
constexpr int64_t kParts = 16;             // of the words, summed on their own whatever the threads
constexpr uint32_t kNone = Trie::kNone;

struct Scored {
  std::u32string token;
  double score = 0;
};

double digamma(double x) {
  double result = 0;
  for (; x < 7; ++x) result -= 1 / x;
  x -= 0.5;
  const double a = 1 / (x * x), b = a * a;
  return result + std::log(x) + a / 24 - 7.0 / 960 * b + 31.0 / 8064 * b * a - 127.0 / 30720 * b * b;
}

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -std::numeric_limits<double>::infinity() ? a : a + std::log1p(std::exp(b - a));
}

// Substrings that occur more than once and could be told apart by what follows them, by occurrences times length; first the characters.
std::vector<Scored> seed_tokens(const WordCounts& words, const UnigramTraining& options) {
  std::u32string text;  // every word and a zero
  std::map<char32_t, int64_t> characters;
  for (const auto& [word, n] : words) {
    text += word;
    text += U'\0';
    for (const char32_t c : word) {
      if (c != U'\0') characters[c] += n;
    }
  }
  const auto longest = static_cast<size_t>(options.max_piece_length);
  const auto rest = [&](uint32_t at) {
    const std::u32string_view from = std::u32string_view(text).substr(at, longest + 1);
    return from.substr(0, from.find(U'\0'));
  };
  std::vector<uint32_t> suffixes;
  for (uint32_t i = 0; i < text.size(); ++i) {
    if (text[i] != U'\0') suffixes.push_back(i);
  }
  std::stable_sort(suffixes.begin(), suffixes.end(), [&](uint32_t a, uint32_t b) { return rest(a) < rest(b); });

  // Runs of suffixes with a common beginning, on a stack by its length: the inner nodes of the suffix tree.
  struct Run {
    size_t length = 0, first = 0;
  };
  std::vector<std::pair<int64_t, std::u32string_view>> found;
  std::vector<Run> stack;
  for (size_t i = 1; i <= suffixes.size(); ++i) {
    size_t common = 0;
    if (i < suffixes.size()) {
      const auto a = rest(suffixes[i - 1]), b = rest(suffixes[i]);
      while (common < std::min(a.size(), b.size()) && a[common] == b[common]) ++common;
    }
    size_t first = i - 1;
    while (!stack.empty() && stack.back().length > common) {
      const Run run = stack.back();
      stack.pop_back();
      first = run.first;
      if (run.length < 2 || run.length > longest) continue;
      found.emplace_back(static_cast<int64_t>((i - run.first) * run.length), rest(suffixes[run.first]).substr(0, run.length));
    }
    if (common > 0 && (stack.empty() || stack.back().length < common)) stack.push_back({common, first});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second > b.second; });

  std::vector<Scored> tokens;
  for (const auto& [c, n] : characters) tokens.push_back({std::u32string(1, c), static_cast<double>(n)});
  sort_stably(tokens, [](const Scored& a, const Scored& b) { return a.score > b.score; });
  for (const auto& [score, token] : found) {
    if (static_cast<int64_t>(tokens.size()) >= options.seed_size) break;
    tokens.push_back({std::u32string(token), static_cast<double>(score)});
  }
  double sum = 0;
  for (const Scored& token : tokens) sum += token.score;
  for (Scored& token : tokens) token.score = std::log(token.score) - std::log(sum);
  return tokens;
}

// All tokens that occur in a word, by where they begin.
class Lattice {
 public:
  struct Node {
    uint32_t begin = 0, end = 0;
    int32_t token = -1;  // -1: an unknown character
    double score = 0;
  };

  explicit Lattice(const std::vector<Scored>& tokens) : tokens_(tokens) {
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < tokens.size(); ++i) {
      const uint32_t node = trie_.insert(tokens[i].token);
      ids_.resize(std::max<size_t>(ids_.size(), trie_.nodes()), -1);
      ids_[node] = static_cast<int32_t>(i);
      least = std::min(least, tokens[i].score);
    }
    unknown_ = least - kUnknownPenalty;
  }

  std::vector<Node> nodes(std::u32string_view word) const {
    std::vector<Node> nodes;
    const auto n = static_cast<uint32_t>(word.size());
    for (uint32_t begin = 0; begin < n; ++begin) {
      bool single = false;
      uint32_t node = 0;
      for (uint32_t end = begin; end < n;) {
        node = trie_.child(node, word[end++]);
        if (node == kNone) break;
        if (ids_[node] < 0) continue;
        nodes.push_back({begin, end, ids_[node], tokens_[static_cast<size_t>(ids_[node])].score});
        single = single || end == begin + 1;
      }
      if (!single) nodes.push_back({begin, begin + 1, -1, unknown_});
    }
    return nodes;
  }

  // The tokens of the best path; without the single token that is the whole word, if `split`.
  std::vector<int32_t> best(std::u32string_view word, bool split) const {
    struct Best {
      double score = -std::numeric_limits<double>::infinity();
      Node node;
    };
    const auto n = static_cast<uint32_t>(word.size());
    std::vector<Best> best(n + 1);
    best[0].score = 0;
    for (const Node& node : nodes(word)) {
      if (split && node.begin == 0 && node.end == n) continue;
      const double score = best[node.begin].score + node.score;
      if (score > best[node.end].score) best[node.end] = {score, node};
    }
    std::vector<int32_t> path;
    if (n == 0 || best[n].score == -std::numeric_limits<double>::infinity()) return path;
    for (uint32_t end = n; end > 0; end = best[end].node.begin) path.push_back(best[end].node.token);
    std::reverse(path.begin(), path.end());
    return path;
  }

  // Adds to `expected`, by token, how often it stands in `word` on average over all paths, times `count`.
  void expect(std::u32string_view word, double count, std::vector<double>& expected) const {
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    const std::vector<Node> all = nodes(word);
    std::vector<double> before(word.size() + 1, kNever), after(word.size() + 1, kNever);  // log sums over the paths to and from a place
    before[0] = after[word.size()] = 0;
    for (const Node& node : all) before[node.end] = log_add(before[node.end], before[node.begin] + node.score);
    for (size_t i = all.size(); i-- > 0;) after[all[i].begin] = log_add(after[all[i].begin], after[all[i].end] + all[i].score);
    for (const Node& node : all) {
      if (node.token < 0) continue;
      expected[static_cast<size_t>(node.token)] += count * std::exp(before[node.begin] + node.score + after[node.end] - before[word.size()]);
    }
  }

 private:
  const std::vector<Scored>& tokens_;
  Trie trie_;
  std::vector<int32_t> ids_;  // by node of the trie
  double unknown_ = 0;
};

// The sum of f(word, count, sum) over all words, each part of them summed on its own.
template <class F>
std::vector<double> total(const WordCounts& words, size_t size, const F& f) {
  std::vector<std::vector<double>> parts(kParts);
  const auto n = static_cast<int64_t>(words.size());
  parallel(kParts, [&](int64_t part) {
    std::vector<double>& sum = parts[static_cast<size_t>(part)];
    sum.assign(size, 0);
    for (auto i = static_cast<size_t>(n * part / kParts); i < static_cast<size_t>(n * (part + 1) / kParts); ++i) {
      f(words[i].first, static_cast<double>(words[i].second), sum);
    }
    return 0u;
  });
  std::vector<double> sum(size, 0);
  for (const std::vector<double>& part : parts) {
    for (size_t i = 0; i < size; ++i) sum[i] += part[i];
  }
  return sum;
}

// Expected occurrences, then the scores that fit them best under a sparse prior (the digamma of a count for its logarithm).
std::vector<Scored> fitted(const std::vector<Scored>& tokens, const WordCounts& words) {
  const Lattice lattice(tokens);
  const std::vector<double> expected =
      total(words, tokens.size(), [&](std::u32string_view word, double n, std::vector<double>& sum) { lattice.expect(word, n, sum); });
  std::vector<Scored> kept;
  double sum = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (expected[i] < kLeastExpected) continue;
    kept.push_back({tokens[i].token, expected[i]});
    sum += expected[i];
  }
  for (Scored& token : kept) token.score = digamma(token.score) - digamma(sum);
  return kept;
}

// Keeps `wanted` tokens: those that cannot be split, then those without which the likelihood of the words falls most.
std::vector<Scored> pruned(const std::vector<Scored>& tokens, const WordCounts& words, size_t wanted) {
  const Lattice lattice(tokens);
  const size_t n = tokens.size();
  const std::vector<double> counts = total(words, n, [&](std::u32string_view word, double count, std::vector<double>& sum) {
    for (const int32_t token : lattice.best(word, false)) {
      if (token >= 0) sum[static_cast<size_t>(token)] += count;
    }
  });
  double words_sum = 0;
  for (const auto& [word, count] : words) words_sum += static_cast<double>(count);
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);

  std::vector<Scored> kept;
  std::vector<std::pair<double, size_t>> losses;
  for (size_t i = 0; i < n; ++i) {
    const bool whole = lattice.best(tokens[i].token, false).size() == 1;
    const std::vector<int32_t> parts = whole ? lattice.best(tokens[i].token, true) : std::vector<int32_t>{};
    if (counts[i] == 0) {
      if (whole && parts.empty()) kept.push_back(tokens[i]);
      continue;
    }
    if (parts.empty()) {
      kept.push_back(tokens[i]);
      continue;
    }
    // Without the token its occurrences go to its parts.
    const double log_sum = std::log(sum + counts[i] * static_cast<double>(parts.size() - 1));
    double others = 0;
    for (const int32_t part : parts) others += std::log((part < 0 ? 0 : counts[static_cast<size_t>(part)]) + counts[i]) - log_sum;
    losses.emplace_back(counts[i] / words_sum * (std::log(counts[i]) - std::log(sum) - others), i);
  }
  sort_stably(losses, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [loss, i] : losses) {
    if (kept.size() >= wanted) break;
    kept.push_back(tokens[i]);
  }
  return kept;
}

}  // namespace

UnigramResult train_unigram(const WordCounts& words, const UnigramTraining& options) {
  std::set<char32_t> required(options.initial_alphabet.begin(), options.initial_alphabet.end());
  for (const auto& [word, n] : words) required.insert(word.begin(), word.end());
  UnigramResult result;
  const auto& special = options.special_tokens;
  result.tokens = special;
  if (options.unk_token) {
    const auto at = std::find(special.begin(), special.end(), *options.unk_token);
    result.unk_id = at == special.end() ? 0 : at - special.begin();
    if (at == special.end()) result.tokens.insert(result.tokens.begin(), *options.unk_token);
  }
  const int64_t room = options.vocab_size - static_cast<int64_t>(result.tokens.size());
  ROTE_CHECK(static_cast<int64_t>(required.size()) <= room, ArgumentError, "tokenizer train: vocab_size is ", options.vocab_size, " but there are ",
             required.size(), " characters and ", result.tokens.size(), " special tokens; it must be greater.");

  const auto desired = static_cast<size_t>(options.vocab_size * 11 / 10);  // some are lost to the characters at the end
  std::vector<Scored> tokens = seed_tokens(words, options);
  while (true) {
    for (int64_t i = 0; i < options.n_sub_iterations; ++i) tokens = fitted(tokens, words);
    if (tokens.size() <= desired) break;
    const auto shrunk = static_cast<size_t>(static_cast<double>(tokens.size()) * options.shrinking_factor);
    const size_t before = tokens.size();
    tokens = pruned(tokens, words, std::max(desired, shrunk));
    if (tokens.size() == before) break;  // none can be spared
  }

  double least = std::numeric_limits<double>::infinity();
  for (const Scored& token : tokens) least = std::min(least, token.score);
  if (tokens.empty()) least = 0;
  std::vector<Scored> chosen;
  std::set<std::u32string> taken;
  double penalty = 0;
  for (const char32_t c : required) {
    const auto known = std::find_if(tokens.begin(), tokens.end(), [&](const Scored& t) { return t.token.size() == 1 && t.token[0] == c; });
    chosen.push_back({std::u32string(1, c), known != tokens.end() ? known->score : least + penalty});
    if (known == tokens.end()) penalty += 0.0001;
    taken.insert(chosen.back().token);
  }
  for (const Scored& token : tokens) {
    if (static_cast<int64_t>(chosen.size()) >= room) break;
    if (taken.insert(token.token).second) chosen.push_back(token);
  }
  sort_stably(chosen, [](const Scored& a, const Scored& b) { return a.score > b.score; });
  result.scores.assign(result.tokens.size(), 0);
  for (const Scored& token : chosen) {
    result.tokens.push_back(to_utf8(token.token));
    result.scores.push_back(token.score);
  }
  return result;
}

}  // namespace rote::text
