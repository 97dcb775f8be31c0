// trainer/text/pre_tokenizer.cpp — the pre-tokenizers.
#include "trainer/text/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "trainer/text/byte_level.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

using Matches = std::vector<Match>;

// Every character for which is_match(c) holds is a match of its own.
template <class F>
void match_characters(std::u32string_view chars, const F& is_match, Matches& matches) {
  matches.clear();
  uint32_t done = 0;
  const auto n = static_cast<uint32_t>(chars.size());
  for (uint32_t i = 0; i < n; ++i) {
    if (!is_match(chars[i])) continue;
    if (done < i) matches.push_back({{done, i}, false});
    matches.push_back({{i, i + 1}, true});
    done = i + 1;
  }
  if (done < n) matches.push_back({{done, n}, false});
}

// Joins the stretches that stay together, which then all count as kept.
void merge(Matches& matches, SplitBehavior behavior) {
  if (behavior == SplitBehavior::removed) return;
  if (behavior == SplitBehavior::merged_with_next) std::reverse(matches.begin(), matches.end());
  size_t kept = 0;
  bool previous = false;
  for (const Match match : matches) {
    const bool joined = behavior == SplitBehavior::contiguous ? match.matched == previous
                        : behavior == SplitBehavior::isolated ? false
                                                              : match.matched && !previous;
    if (!joined || kept == 0) {
      matches[kept++] = {match.span, false};
    } else if (behavior == SplitBehavior::merged_with_next) {
      matches[kept - 1].span.begin = match.span.begin;
    } else {
      matches[kept - 1].span.end = match.span.end;
    }
    previous = match.matched;
  }
  matches.resize(kept);
  if (behavior == SplitBehavior::merged_with_next) std::reverse(matches.begin(), matches.end());
}

// Cuts every word by find(chars, matches) and keeps the stretches that do not count as matches afterwards.
template <class F>
void cut(const NormalizedText& text, std::vector<Span>& words, SplitBehavior behavior, const F& find) {
  std::vector<Span> pieces;
  pieces.reserve(words.size());
  Matches matches;
  for (const Span& word : words) {
    find(std::u32string_view(text.chars).substr(word.begin, word.end - word.begin), matches);
    merge(matches, behavior);
    for (const Match& match : matches) {
      if (!match.matched && match.span.begin < match.span.end) pieces.push_back({word.begin + match.span.begin, word.begin + match.span.end});
    }
  }
  words = std::move(pieces);
}

template <class F>
void cut_at(const NormalizedText& text, std::vector<Span>& words, SplitBehavior behavior, const F& is_match) {
  cut(text, words, behavior, [&](std::u32string_view chars, Matches& matches) { match_characters(chars, is_match, matches); });
}

void apply(BertPreTokenizer, NormalizedText& text, std::vector<Span>& words) {
  std::vector<Span> pieces;
  for (const Span& word : words) {
    uint32_t begin = word.begin;
    const auto close = [&](uint32_t end) {
      if (begin < end) pieces.push_back({begin, end});
      begin = end + 1;
    };
    for (uint32_t i = word.begin; i < word.end; ++i) {
      const char32_t c = text.chars[i];
      if (c - U'a' <= U'z' - U'a') continue;  // most of any text
      if (is_whitespace(c)) {
        close(i);
      } else if (is_punctuation(c)) {
        close(i);
        pieces.push_back({i, i + 1});
      }
    }
    close(word.end);
  }
  words = std::move(pieces);
}

void apply(Whitespace, NormalizedText& text, std::vector<Span>& words) {
  enum Kind { blank, inside, outside };
  const auto kind_of = [](char32_t c) { return is_word(c) ? inside : is_whitespace(c) ? blank : outside; };
  std::vector<Span> pieces;
  for (const Span& word : words) {
    for (uint32_t begin = word.begin; begin < word.end;) {
      const Kind kind = kind_of(text.chars[begin]);
      uint32_t end = begin + 1;
      while (end < word.end && kind_of(text.chars[end]) == kind) ++end;
      if (kind != blank) pieces.push_back({begin, end});
      begin = end;
    }
  }
  words = std::move(pieces);
}

void apply(WhitespaceSplit, NormalizedText& text, std::vector<Span>& words) { cut_at(text, words, SplitBehavior::removed, is_whitespace); }

void apply(const Punctuation& options, NormalizedText& text, std::vector<Span>& words) { cut_at(text, words, options.behavior, is_punctuation); }

void apply(const Digits& options, NormalizedText& text, std::vector<Span>& words) {
  cut_at(text, words, options.individual_digits ? SplitBehavior::isolated : SplitBehavior::contiguous, is_numeric);
}

void apply(const CharDelimiterSplit& options, NormalizedText& text, std::vector<Span>& words) {
  cut_at(text, words, SplitBehavior::removed, [&](char32_t c) { return c == options.delimiter; });
}

void apply(const FixedLength& options, NormalizedText&, std::vector<Span>& words) {
  std::vector<Span> pieces;
  for (const Span& word : words) {
    for (uint32_t begin = word.begin; begin < word.end;) {
      const uint32_t end = word.end - begin > options.length ? begin + options.length : word.end;
      pieces.push_back({begin, end});
      begin = end;
    }
  }
  words = std::move(pieces);
}

void apply(const Split& options, NormalizedText& text, std::vector<Span>& words) {
  cut(text, words, options.behavior, [&](std::u32string_view chars, Matches& matches) {
    if (const auto* known = std::get_if<WordPattern>(&options.pattern)) {
      matches.clear();
      const auto n = static_cast<uint32_t>(chars.size());
      for (uint32_t at = 0; at < n;) {
        const uint32_t end = known->end_of_word(chars, at);
        matches.push_back({{at, end}, true});
        at = end;
      }
    } else {
      std::get<Regex>(options.pattern).split(chars, matches);
    }
    if (options.invert) {
      for (Match& match : matches) match.matched = !match.matched;
    }
  });
}

void apply(const ByteLevel& options, NormalizedText& text, std::vector<Span>& words) {
  NormalizedText out;
  out.first = text.first;
  out.reserve(text.chars.size() + words.size());
  std::vector<Span> pieces;
  std::u32string spaced;
  for (const Span& word : words) {
    std::u32string_view chars = std::u32string_view(text.chars).substr(word.begin, word.end - word.begin);
    const bool prefix = options.add_prefix_space && chars[0] != U' ';
    if (prefix) {
      spaced = U' ';
      chars = spaced.append(chars);
    }
    const auto n = static_cast<uint32_t>(chars.size());
    for (uint32_t at = 0; at < n;) {
      const uint32_t end = options.use_regex ? WordPattern{}.end_of_word(chars, at) : n;
      const auto begin = static_cast<uint32_t>(out.chars.size());
      for (; at < end; ++at) push_letters(chars[at], text.origin[word.begin + at - (prefix && at > 0)], out);
      pieces.push_back({begin, static_cast<uint32_t>(out.chars.size())});
    }
  }
  text = std::move(out);
  words = std::move(pieces);
}

void apply(const Metaspace& options, NormalizedText& text, std::vector<Span>& words) {
  NormalizedText out;
  out.first = text.first;
  out.reserve(text.chars.size() + words.size());
  for (Span& word : words) {
    const char32_t first = text.chars[word.begin];
    const bool wanted = options.prepend == Metaspace::Prepend::always ||
                        (options.prepend == Metaspace::Prepend::first && text.origin[word.begin].begin == 0);
    const auto begin = static_cast<uint32_t>(out.chars.size());
    if (wanted && first != U' ' && first != options.replacement) out.push(options.replacement, text.origin[word.begin]);
    for (uint32_t i = word.begin; i < word.end; ++i) out.push(text.chars[i] == U' ' ? options.replacement : text.chars[i], text.origin[i]);
    word = {begin, static_cast<uint32_t>(out.chars.size())};
  }
  text = std::move(out);
  if (options.split) cut_at(text, words, SplitBehavior::merged_with_next, [&](char32_t c) { return c == options.replacement; });
}

}  // namespace

void pre_tokenize(const PreTokenizer& pre_tokenizer, NormalizedText& text, std::vector<Span>& words) {
  words.clear();
  if (!text.chars.empty()) words.push_back({0, static_cast<uint32_t>(text.chars.size())});
  for (const PreTokenizerStep& step : pre_tokenizer) std::visit([&](const auto& options) { apply(options, text, words); }, step);
}

}  // namespace rote::text
