// trainer/text/word_counts.cpp — counting, a block of lines a task.
#include "trainer/text/word_counts.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "kernels/check.h"
#include "kernels/pool.h"
#include "tensor/file.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

constexpr size_t kBlock = 1 << 18;  // bytes, and then to the end of the line
constexpr size_t kTasks = 64;       // whose counts are held at once

using Counts = std::unordered_map<std::u32string, int64_t>;

void count(std::string_view block, const Normalizer& normalizer, const PreTokenizer& pre_tokenizer, Counts& counts) {
  std::vector<Span> words;
  std::u32string word;
  for (size_t begin = 0; begin < block.size();) {
    const size_t end = std::min(block.find('\n', begin), block.size() - 1) + 1;
    NormalizedText text = NormalizedText::of(decode_text(block.substr(begin, end - begin), "tokenizer train"));
    normalize(normalizer, text);
    pre_tokenize(pre_tokenizer, text, words);
    for (const Span& span : words) {
      word.assign(text.chars, span.begin, span.end - span.begin);
      ++counts[word];
    }
    begin = end;
  }
}

}  // namespace

WordCounts count_words(const std::vector<std::string>& files, const Normalizer& normalizer, const PreTokenizer& pre_tokenizer) {
  Counts all;
  for (const std::string& file : files) {
    const std::string bytes = read_file(file);
    const size_t bad = find_malformed(bytes);
    ROTE_CHECK(bad == kWellFormed, ArgumentError, "tokenizer train: ", file, " is not UTF-8 at byte ", bad, "; texts must be encoded as UTF-8.");
    std::vector<std::string_view> blocks;
    for (size_t begin = 0; begin < bytes.size();) {
      const size_t near = std::min(begin + kBlock, bytes.size() - 1);
      const size_t end = std::min(bytes.find('\n', near), bytes.size() - 1) + 1;
      blocks.push_back(std::string_view(bytes).substr(begin, end - begin));
      begin = end;
    }
    for (size_t first = 0; first < blocks.size(); first += kTasks) {
      std::vector<Counts> counts(std::min(kTasks, blocks.size() - first));
      parallel(static_cast<int64_t>(counts.size()), [&](int64_t task) {
        count(blocks[first + static_cast<size_t>(task)], normalizer, pre_tokenizer, counts[static_cast<size_t>(task)]);
        return 0u;
      });
      for (const Counts& part : counts) {
        for (const auto& [word, n] : part) all[word] += n;
      }
    }
  }
  WordCounts sorted(all.begin(), all.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace rote::text
