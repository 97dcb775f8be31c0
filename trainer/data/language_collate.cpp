#include "trainer/data/language_collate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "autograd/mode.h"
#include "kernels/philox.h"
#include "tensor/generator.h"

namespace rote::data {

namespace {

constexpr int64_t kIgnored = -100;

// The half words below this are a share p of all (arithmetic.md 7).
uint32_t threshold(double p) { return static_cast<uint32_t>(std::lround(p * 65536.0)); }

void check_share(const char* name, double p) {
  ROTE_CHECK(p >= 0 && p <= 1, ArgumentError, name, ": is ", p, "; it must be a share, 0 to 1.");
}

Feature& need_ids(Example& example) {
  Feature* ids = find(example, "input_ids");
  ROTE_CHECK(ids != nullptr, ArgumentError, "collate: a row has no input_ids; a language model needs them.");
  return *ids;
}

void set(Example& example, const char* name, std::vector<int64_t> values) {
  std::erase_if(example, [&](const auto& feature) { return feature.first == name; });
  example.emplace_back(name, Feature::list(std::move(values)));
}

}  // namespace

// Four words of randomness for each token of each sample.
struct LanguageModelingCollator::Draws {
  uint64_t seed, first_sample;
  uint32_t op;

  PhiloxBlock of(uint64_t sample, size_t token) const { return philox(seed, philox_counter(token, first_sample + sample, op)); }
  static Draws next(const std::optional<uint64_t>& seed) {
    if (const RunScope* scope = current_scope()) return {seed.value_or(scope->seed), scope->first_sample, draw_id("mask")};
    return {seed.value_or(current_seed()), 0, seed ? draw_id("mask", "", 0) : draw_id("mask")};
  }
};

LanguageModelingCollator::LanguageModelingCollator(const text::Tokenizer& tokenizer, const LanguageModelingOptions& options)
    : LanguageModelingCollator(pad_options(tokenizer), {tokenizer.mask_token_id(), tokenizer.vocab_size(), tokenizer.special_token_ids()}, options) {}

LanguageModelingCollator::LanguageModelingCollator(const PadOptions& pad, MaskTokens tokens, const LanguageModelingOptions& options)
    : pad_(pad), tokens_(std::move(tokens)), options_(options) {
  ROTE_CHECK(!options.mlm || tokens_.mask_token_id, ArgumentError,
             "mlm: the tokenizer has no mask token; masked language modelling needs one, causal language modelling none.");
  ROTE_CHECK(options.mlm || !options.whole_word_mask, ArgumentError, "whole_word_mask: needs mlm; a causal language model masks no words.");
  check_share("mlm_probability", options.mlm_probability);
  check_share("mask_replace_prob", options.mask_replace_prob);
  check_share("random_replace_prob", options.random_replace_prob);
  ROTE_CHECK(options.mask_replace_prob + options.random_replace_prob <= 1, ArgumentError, "mask_replace_prob: is ", options.mask_replace_prob,
             " and random_replace_prob ", options.random_replace_prob, "; together they must not exceed 1.");
  if (options.pad_to_multiple_of) pad_.pad_to_multiple_of = options.pad_to_multiple_of;
  if (!options.whole_word_mask || options.mask_replace_prob == 1) return;
  std::fprintf(stderr, "whole_word_mask: every token of a selected word becomes the mask token; mask_replace_prob %g and random_replace_prob %g have no effect\n",
               options.mask_replace_prob, options.random_replace_prob);
  options_.mask_replace_prob = 1;
  options_.random_replace_prob = 0;
}

nn::Batch LanguageModelingCollator::operator()(const std::vector<Example>& examples) const {
  std::vector<Example> rows = examples;
  if (options_.mlm) {
    const Draws draws = Draws::next(options_.seed);
    for (size_t row = 0; row < rows.size(); ++row) mask(rows[row], draws, row);
  }
  rows = padded(std::move(rows), pad_);
  for (Example& row : rows) {
    const Feature ids = need_ids(row);
    if (options_.mlm) {
      pad_list(*find(row, "labels"), ids.length(), kIgnored, pad_.side);
      continue;
    }
    std::erase_if(row, [](const auto& feature) { return feature.first == "special_tokens_mask"; });
    // A pad id inside a row with a mask is a real token: one that serves as the end of a text as well is learnt.
    const Feature* attended = find(row, "attention_mask");
    ROTE_CHECK(attended == nullptr || attended->length() == ids.length(), ArgumentError, "collate: attention_mask has ", attended->length(), " values for ",
               ids.length(), " input_ids; it needs as many.");
    std::vector<int64_t> labels = ids.whole;
    for (size_t i = 0; i < labels.size(); ++i)
      if (attended != nullptr ? attended->whole[i] == 0 : labels[i] == pad_.pad_token_id) labels[i] = kIgnored;
    set(row, "labels", std::move(labels));
  }
  return default_collate(rows);
}

// Selects, sets labels, and replaces what is selected.
void LanguageModelingCollator::mask(Example& example, const Draws& draws, uint64_t sample) const {
  std::vector<int64_t>& ids = need_ids(example).whole;
  std::vector<int64_t> special;
  if (const Feature* given = find(example, "special_tokens_mask")) special = given->whole;
  else
    std::transform(ids.begin(), ids.end(), std::back_inserter(special),
                   [&](int64_t id) { return std::find(tokens_.special.begin(), tokens_.special.end(), id) != tokens_.special.end() ? 1 : 0; });
  ROTE_CHECK(special.size() == ids.size(), ArgumentError, "collate: special_tokens_mask has ", special.size(), " values for ", ids.size(), " input_ids; it needs as many.");
  const std::vector<int64_t> words = options_.whole_word_mask ? words_of(example, special) : std::vector<int64_t>();

  const double rest = 1 - options_.mask_replace_prob;
  const uint32_t select = threshold(options_.mlm_probability), mask = threshold(options_.mask_replace_prob),
                 random = rest > 0 ? threshold(std::min(1.0, options_.random_replace_prob / rest)) : 0;
  std::vector<int64_t> labels(ids.size(), kIgnored);
  size_t first = 0;  // token of the word, which alone is drawn for
  for (size_t i = 0; i < ids.size(); ++i) {
    if (words.empty() || i == 0 || words[i] != words[i - 1]) first = i;
    if (special[i] != 0 || (!words.empty() && words[i] < 0)) continue;
    if ((draws.of(sample, first).word[0] & 0xFFFF) >= select) continue;
    const PhiloxBlock drawn = draws.of(sample, i);
    labels[i] = ids[i];
    if (drawn.word[0] >> 16 < mask) ids[i] = *tokens_.mask_token_id;
    else if ((drawn.word[1] & 0xFFFF) < random) ids[i] = static_cast<int64_t>(uint64_t{drawn.word[2]} * static_cast<uint64_t>(tokens_.vocab_size) >> 32);
  }
  std::erase_if(example, [](const auto& feature) { return feature.first == "special_tokens_mask" || feature.first == "word_ids" || feature.first == "offset_mapping"; });
  set(example, "labels", std::move(labels));
}

std::vector<int64_t> LanguageModelingCollator::words_of(const Example& example, const std::vector<int64_t>& special) const {
  const Feature *words = find(example, "word_ids"), *offsets = find(example, "offset_mapping");
  ROTE_CHECK(words != nullptr || offsets != nullptr, ArgumentError, "whole_word_mask: a row has neither word_ids nor offset_mapping; words are found by one of them.");
  const size_t n = special.size(), given = words != nullptr ? words->whole.size() : offsets->parts.size();
  const bool are_pairs = words != nullptr || std::count(offsets->parts.begin(), offsets->parts.end(), 2) == static_cast<int64_t>(n);
  ROTE_CHECK(given == n && are_pairs, ArgumentError, "whole_word_mask: a row of ", n, " tokens has ", given, words != nullptr ? " word_ids" : " lists in offset_mapping",
             "; it needs ", words != nullptr ? "one number" : "begin and end", " for each token.");
  if (words != nullptr) return words->whole;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < n; ++i) pairs.emplace_back(offsets->whole[2 * i], offsets->whole[2 * i + 1]);
  return words_of_offsets(pairs, special);
}

std::vector<int64_t> words_of_offsets(const std::vector<std::pair<int64_t, int64_t>>& offsets, const std::vector<int64_t>& special_tokens_mask) {
  std::vector<int64_t> words;
  int64_t word = -1;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const bool is_special = special_tokens_mask[i] != 0;
    if (!is_special && (i == 0 || special_tokens_mask[i - 1] != 0 || offsets[i].first != offsets[i - 1].second)) ++word;
    words.push_back(is_special ? -1 : word);
  }
  return words;
}

}  // namespace rote::data
