// trainer/bleu.cpp — the words of mteval-v13a and counts of n-grams.
#include "trainer/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "kernels/check.h"
#include "trainer/text/unicode.h"

namespace rote {

namespace {

constexpr size_t kOrders = 4;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop(char c) { return c == '.' || c == ','; }
// Of ASCII all but letters, digits, apostrophe, comma, hyphen and period.
bool stands_alone(char c) { return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/'; }

// `text` with `put(a, b)` in place of neighbours a, b for which it gives something, from left to right, each byte in one pair at most.
template <class F>
std::string with_pairs(const std::string& text, F put) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string pair = i + 1 < text.size() ? put(text[i], text[i + 1]) : std::string();
    if (pair.empty()) {
      out += text[i];
      continue;
    }
    out += pair;
    ++i;
  }
  return out;
}

// As Python's str.split() has it.
bool is_space(char32_t c) { return text::is_whitespace(c) || (c >= 0x1C && c <= 0x1F); }

std::string with_trailing_space_cut(const std::string& text) {
  std::u32string points = text::decode_text(text, "corpus_bleu");
  while (!points.empty() && is_space(points.back())) points.pop_back();
  return text::to_utf8(points);
}

std::vector<std::string> split_at_whitespace(const std::string& text) {
  std::vector<std::string> words;
  std::u32string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(text::to_utf8(word));
    word.clear();
  };
  for (const char32_t c : text::decode_text(text, "corpus_bleu")) {
    if (is_space(c)) end_word();
    else word += c;
  }
  end_word();
  return words;
}

using Counts = std::map<std::vector<std::string>, int64_t>;

Counts ngrams(const std::vector<std::string>& words) {
  Counts counts;
  for (size_t n = 1; n <= kOrders; ++n)
    for (size_t i = 0; i + n <= words.size(); ++i) ++counts[{words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i + n)}];
  return counts;
}

void add(Bleu& bleu, const std::string& prediction, const std::vector<std::string>& references) {
  const std::vector<std::string> words = bleu_words(prediction);
  const int64_t length = static_cast<int64_t>(words.size());
  Counts most;  // of each n-gram in one reference
  int64_t nearest = -1;
  for (const std::string& reference : references) {
    const std::vector<std::string> other = bleu_words(reference);
    const int64_t size = static_cast<int64_t>(other.size()), gap = std::abs(size - length), best = std::abs(nearest - length);
    if (nearest < 0 || gap < best || (gap == best && size < nearest)) nearest = size;
    for (const auto& [ngram, count] : ngrams(other)) most[ngram] = std::max(most[ngram], count);
  }
  bleu.prediction_length += length;
  bleu.reference_length += nearest;
  for (const auto& [ngram, count] : ngrams(words)) {
    const size_t order = ngram.size() - 1;
    bleu.totals[order] += count;
    if (const auto found = most.find(ngram); found != most.end()) bleu.counts[order] += std::min(count, found->second);
  }
}

}  // namespace

std::vector<std::string> bleu_words(const std::string& text) {
  std::string line = with_trailing_space_cut(text);
  replace_all(line, "<skipped>", "");
  replace_all(line, "-\n", "");
  replace_all(line, "\n", " ");
  replace_all(line, "&quot;", "\"");
  replace_all(line, "&amp;", "&");
  replace_all(line, "&lt;", "<");
  replace_all(line, "&gt;", ">");
  std::string apart = " ";
  for (const char c : " " + line + " ") apart += stands_alone(c) ? std::string{' ', c, ' '} : std::string{c};
  apart = with_pairs(apart, [](char a, char b) { return !is_digit(a) && is_stop(b) ? std::string{a, ' ', b, ' '} : std::string(); });
  apart = with_pairs(apart, [](char a, char b) { return is_stop(a) && !is_digit(b) ? std::string{' ', a, ' ', b} : std::string(); });
  apart = with_pairs(apart, [](char a, char b) { return is_digit(a) && b == '-' ? std::string{a, ' ', b, ' '} : std::string(); });
  return split_at_whitespace(apart);
}

Bleu corpus_bleu(const std::vector<std::string>& predictions, const std::vector<std::vector<std::string>>& references) {
  ROTE_CHECK(predictions.size() == references.size(), ArgumentError, "corpus_bleu: got ", predictions.size(), " predictions for ", references.size(),
             " lists of references; each row needs both.");
  ROTE_CHECK(!predictions.empty(), ArgumentError, "corpus_bleu: got no rows; a score needs at least one.");
  Bleu bleu;
  for (size_t row = 0; row < predictions.size(); ++row) {
    ROTE_CHECK(!references[row].empty(), ArgumentError, "corpus_bleu: row ", row, " has no reference; it needs at least one.");
    add(bleu, predictions[row], references[row]);
  }
  const double c = static_cast<double>(bleu.prediction_length), r = static_cast<double>(bleu.reference_length);
  if (c < r) bleu.brevity_penalty = c > 0 ? std::exp(1 - r / c) : 0;
  if (std::all_of(bleu.counts.begin(), bleu.counts.end(), [](int64_t n) { return n == 0; })) return bleu;
  double logs = 0, smoothing = 1;
  for (size_t order = 0; order < kOrders; ++order) {
    if (bleu.totals[order] == 0) return bleu;
    const double total = static_cast<double>(bleu.totals[order]);
    if (bleu.counts[order] == 0) smoothing *= 2;
    bleu.precisions[order] = bleu.counts[order] > 0 ? 100.0 * static_cast<double>(bleu.counts[order]) / total : 100.0 / (smoothing * total);
    logs += std::log(bleu.precisions[order]);
  }
  bleu.score = bleu.brevity_penalty * std::exp(logs / kOrders);
  return bleu;
}

}  // namespace rote
