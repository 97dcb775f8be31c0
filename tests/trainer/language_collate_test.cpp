// tests/trainer/language_collate_test.cpp — what is masked, by which shares, and what moves no draw.
#include "trainer/data/language_collate.h"

#include <doctest/doctest.h>

#include "autograd/mode.h"
#include "kernels/check.h"
#include "tests/support/place.h"
#include "tests/trainer/tiny_model.h"

namespace rote::testing {

namespace {

using data::Example;
using data::Feature;
using data::LanguageModelingCollator;
using data::LanguageModelingOptions;
using Ids = std::vector<int64_t>;

constexpr int64_t kMask = 3, kWords = 50;

Example row(Ids ids) { return {{"input_ids", Feature::list(std::move(ids))}}; }
Ids whole(const Tensor& x) { return {x.data<int64_t>(), x.data<int64_t>() + x.numel()}; }
Ids column(const Tensor& x, int64_t r) { return {x.data<int64_t>() + r * x.size(1), x.data<int64_t>() + (r + 1) * x.size(1)}; }

// Ids 0 pad, 1 and 2 the ends of a text, 3 mask; words from 5 on.
LanguageModelingCollator masking(const LanguageModelingOptions& options = {}, text::Side side = text::Side::right) {
  return LanguageModelingCollator(data::PadOptions{.side = side}, {kMask, kWords, {0, 1, 2, 3}}, options);
}

Example text_of(int64_t n, int64_t number) {
  Ids ids = {1};
  for (int64_t i = 0; i < n; ++i) ids.push_back(5 + (number * 7 + i * 3) % 40);
  ids.push_back(2);
  return row(ids);
}

std::vector<Example> texts(int64_t n, int64_t length) {
  std::vector<Example> rows;
  for (int64_t i = 0; i < n; ++i) rows.push_back(text_of(length, i));
  return rows;
}

nn::Batch in_scope(const LanguageModelingCollator& collate, const std::vector<Example>& rows, uint64_t first_sample, uint64_t seed = 7) {
  const RunScopeGuard scope({.seed = seed, .first_sample = first_sample, .samples = static_cast<int64_t>(rows.size())});
  return collate(rows);
}

// Tokens of a row up to its length, without what padding added on the right.
std::pair<Ids, Ids> drawn(const nn::Batch& batch, int64_t r, size_t length) {
  Ids ids = column(batch["input_ids"], r), labels = column(batch["labels"], r);
  ids.resize(length);
  labels.resize(length);
  return {ids, labels};
}

}  // namespace

TEST_CASE("LanguageModelingCollator: causal labels are the ids, and a mask says where padding is") {
  const LanguageModelingCollator causal(data::PadOptions{.pad_token_id = 9}, {}, {.mlm = false, .pad_to_multiple_of = 4});
  const nn::Batch batch = causal({row({5, 9, 6}), row({7})});
  CHECK(whole(batch["input_ids"]) == Ids{5, 9, 6, 9, 7, 9, 9, 9});
  CHECK(whole(batch["labels"]) == Ids{5, 9, 6, -100, 7, -100, -100, -100});  // the end of a text that serves as padding too is learnt
  CHECK(whole(batch["attention_mask"]) == Ids{1, 1, 1, 0, 1, 0, 0, 0});
  const nn::Batch own = causal({{{"input_ids", Feature::list(Ids{5, 6})}, {"attention_mask", Feature::list(Ids{0, 1})}}});
  CHECK(whole(own["labels"]) == Ids{-100, 6, -100, -100});
  const nn::Batch special = causal({{{"input_ids", Feature::list(Ids{5, 6})}, {"special_tokens_mask", Feature::list(Ids{1, 0})}}});
  CHECK_FALSE(special.contains("special_tokens_mask"));  // no model takes it
  // A model that takes no mask: nothing but the pad id tells.
  const LanguageModelingCollator bare(data::PadOptions{.pad_token_id = 9, .attention_mask = false}, {}, {.mlm = false});
  const nn::Batch ids_only = bare({row({5, 9, 6}), row({7})});
  CHECK(whole(ids_only["labels"]) == Ids{5, -100, 6, 7, -100, -100});
  CHECK_FALSE(ids_only.contains("attention_mask"));
}

TEST_CASE("LanguageModelingCollator: shares of a large sample are those asked for") {
  const std::vector<Example> rows = texts(400, 250);
  const nn::Batch batch = in_scope(masking(), rows, 0);
  double words = 0, selected = 0, masked = 0, random = 0, kept = 0;
  for (int64_t r = 0; r < 400; ++r) {
    const Ids& before = data::find(rows[static_cast<size_t>(r)], "input_ids")->whole;
    const auto [ids, labels] = drawn(batch, r, before.size());
    for (size_t i = 0; i < before.size(); ++i) {
      words += before[i] >= 5;
      if (labels[i] == -100) {
        CHECK(ids[i] == before[i]);
        continue;
      }
      CHECK(before[i] >= 5);  // never the ends of a text
      CHECK(labels[i] == before[i]);
      selected += 1;
      masked += ids[i] == kMask;
      kept += ids[i] == before[i];
      random += ids[i] != kMask && ids[i] != before[i];
    }
  }
  // Four standard errors of 100,000 draws, and of the 15,000 selected among them.
  CHECK(std::abs(selected / words - 0.15) < 0.0046);
  CHECK(std::abs(masked / selected - 0.8) < 0.013);
  CHECK(std::abs(random / selected - 0.098) < 0.01);  // one in fifty random tokens is the token itself, one the mask token
  CHECK(std::abs(kept / selected - 0.102) < 0.01);
}

TEST_CASE("LanguageModelingCollator: shares of nothing and of all") {
  const std::vector<Example> rows = texts(20, 60);
  const nn::Batch none = masking({.mlm_probability = 0})(rows);
  CHECK(whole(none["labels"]) == Ids(static_cast<size_t>(none["labels"].numel()), -100));
  const nn::Batch all = masking({.mlm_probability = 1, .mask_replace_prob = 1, .random_replace_prob = 0})(rows);
  const nn::Batch random = masking({.mlm_probability = 1, .mask_replace_prob = 0, .random_replace_prob = 1})(rows);
  const nn::Batch kept = masking({.mlm_probability = 1, .mask_replace_prob = 0, .random_replace_prob = 0})(rows);
  bool has_special = false, in_range = true;
  for (int64_t r = 0; r < 20; ++r) {
    const Ids& before = data::find(rows[static_cast<size_t>(r)], "input_ids")->whole;
    CHECK(column(kept["input_ids"], r) == before);
    for (size_t i = 1; i + 1 < before.size(); ++i) {
      CHECK(column(all["input_ids"], r)[i] == kMask);
      CHECK(column(all["labels"], r)[i] == before[i]);
      const int64_t id = column(random["input_ids"], r)[i];
      in_range = in_range && id >= 0 && id < kWords;
      has_special = has_special || id < 4;
    }
    CHECK(column(all["input_ids"], r)[0] == 1);
  }
  CHECK(in_range);
  CHECK(has_special);  // any token of the vocabulary
}

TEST_CASE("LanguageModelingCollator: neither the batch split nor the padded length nor the neighbours move a draw") {
  std::vector<Example> rows;
  for (int64_t i = 0; i < 8; ++i) rows.push_back(text_of(10 + 9 * ((i * 5) % 8), i));
  const nn::Batch whole_batch = in_scope(masking(), rows, 100);
  const nn::Batch wider = in_scope(masking({.pad_to_multiple_of = 64}), rows, 100);
  for (uint64_t first = 0; first < 8; first += 2) {
    const nn::Batch part = in_scope(masking(), {rows[first], rows[first + 1]}, 100 + first);
    for (uint64_t i = 0; i < 2; ++i) {
      const size_t n = data::find(rows[first + i], "input_ids")->whole.size();
      const auto expected = drawn(whole_batch, static_cast<int64_t>(first + i), n);
      CHECK(drawn(part, static_cast<int64_t>(i), n) == expected);
      CHECK(drawn(wider, static_cast<int64_t>(first + i), n) == expected);
    }
  }
  // On the left the same tokens are drawn as on the right.
  const nn::Batch left = in_scope(masking({}, text::Side::left), rows, 100);
  for (int64_t r = 0; r < 8; ++r) {
    const size_t n = data::find(rows[static_cast<size_t>(r)], "input_ids")->whole.size();
    const Ids ids = column(left["input_ids"], r), labels = column(left["labels"], r);
    const auto skipped = static_cast<std::ptrdiff_t>(ids.size() - n);
    CHECK(std::pair(Ids(ids.begin() + skipped, ids.end()), Ids(labels.begin() + skipped, labels.end())) == drawn(whole_batch, r, n));
  }
}

TEST_CASE("LanguageModelingCollator: a later place in the run and another seed mask anew, an own seed does not look at the run's") {
  const std::vector<Example> rows = texts(4, 60);
  const Ids first = whole(in_scope(masking(), rows, 0)["input_ids"]);
  CHECK(whole(in_scope(masking(), rows, 0)["input_ids"]) == first);
  CHECK(whole(in_scope(masking(), rows, 4)["input_ids"]) != first);
  CHECK(whole(in_scope(masking(), rows, 0, 8)["input_ids"]) != first);
  const LanguageModelingCollator own = masking({.seed = 21});
  CHECK(whole(own(rows)["input_ids"]) == whole(own(rows)["input_ids"]));
  CHECK(whole(in_scope(own, rows, 0, 7)["input_ids"]) == whole(own(rows)["input_ids"]));
  CHECK(whole(own(rows)["input_ids"]) != whole(masking({.seed = 22})(rows)["input_ids"]));
  // Outside of a run each call draws further, from the process's seed on.
  manual_seed(5);
  const Ids one = whole(masking()(rows)["input_ids"]), two = whole(masking()(rows)["input_ids"]);
  CHECK(one != two);
  manual_seed(5);
  CHECK(whole(masking()(rows)["input_ids"]) == one);
}

TEST_CASE("LanguageModelingCollator: rows say themselves what is special") {
  Example example = row({5, 6, 7, 8});
  example.emplace_back("special_tokens_mask", Feature::list(Ids{0, 1, 0, 1}));
  const nn::Batch batch = masking({.mlm_probability = 1, .mask_replace_prob = 1, .random_replace_prob = 0})({example, row({5})});
  CHECK(whole(batch["labels"]) == Ids{5, -100, 7, -100, 5, -100, -100, -100});
  CHECK_FALSE(batch.contains("special_tokens_mask"));
  example.back().second = Feature::list(Ids{0});
  CHECK_THROWS_WITH_AS(masking()({example}), "collate: special_tokens_mask has 1 values for 4 input_ids; it needs as many.", ArgumentError);
  CHECK_THROWS_WITH_AS(masking()({{{"x", Feature::list(Ids{0})}}}), "collate: a row has no input_ids; a language model needs them.", ArgumentError);
}

TEST_CASE("LanguageModelingCollator: whole words are masked together, a share of the words") {
  // Words of 1, 2 and 3 tokens in turn.
  std::vector<Example> rows;
  for (int64_t r = 0; r < 200; ++r) {
    Ids ids = {1}, words = {-1};
    for (int64_t w = 0; w < 60; ++w)
      for (int64_t i = 0; i <= w % 3; ++i) ids.push_back(5 + (w + r + i) % 40), words.push_back(w);
    ids.push_back(2), words.push_back(-1);
    rows.push_back({{"input_ids", Feature::list(ids)}, {"word_ids", Feature::list(words)}});
  }
  const nn::Batch batch = in_scope(masking({.whole_word_mask = true, .mask_replace_prob = 1, .random_replace_prob = 0}), rows, 0);
  CHECK_FALSE(batch.contains("word_ids"));
  double selected = 0;
  for (int64_t r = 0; r < 200; ++r) {
    const Ids ids = column(batch["input_ids"], r), labels = column(batch["labels"], r), &words = data::find(rows[static_cast<size_t>(r)], "word_ids")->whole;
    for (size_t i = 1; i + 1 < ids.size(); ++i) {
      CHECK((labels[i] != -100) == (ids[i] == kMask));
      if (words[i] == words[i - 1]) CHECK((labels[i] != -100) == (labels[i - 1] != -100));
      else selected += labels[i] != -100;
    }
    CHECK(labels.front() == -100);
    CHECK(labels.back() == -100);
  }
  CHECK(std::abs(selected / 12000 - 0.15) < 0.014);  // four standard errors
}

TEST_CASE("words_of_offsets: a word begins behind a gap and behind a special token") {
  using Offsets = std::vector<std::pair<int64_t, int64_t>>;
  // [CLS] un ##believ ##able , he [SEP] she [SEP] of "unbelievable, he" and "she": the comma stands at the word's end.
  const Offsets offsets = {{0, 0}, {0, 2}, {2, 8}, {8, 12}, {12, 13}, {14, 16}, {0, 0}, {0, 3}, {0, 0}};
  CHECK(data::words_of_offsets(offsets, {1, 0, 0, 0, 0, 0, 1, 0, 1}) == Ids{-1, 0, 0, 0, 0, 1, -1, 2, -1});
  CHECK(data::words_of_offsets({{3, 5}, {5, 6}}, {0, 0}) == Ids{0, 0});
  Example by_offsets = row({1, 5, 6, 7, 2}), by_words = by_offsets;
  by_offsets.emplace_back("offset_mapping", Feature::lists({{0, 0}, {0, 2}, {2, 5}, {6, 8}, {0, 0}}));
  by_words.emplace_back("word_ids", Feature::list(Ids{-1, 0, 0, 1, -1}));
  const LanguageModelingCollator collate = masking({.whole_word_mask = true, .mlm_probability = 0.5, .mask_replace_prob = 1, .random_replace_prob = 0, .seed = 3});
  CHECK(whole(collate(std::vector<Example>(9, by_offsets))["labels"]) == whole(collate(std::vector<Example>(9, by_words))["labels"]));
  by_words.back().second = Feature::list(Ids{-1, 0});
  CHECK_THROWS_WITH_AS(collate({by_words}), "whole_word_mask: a row of 5 tokens has 2 word_ids; it needs one number for each token.", ArgumentError);
  CHECK_THROWS_WITH_AS(collate({row({1, 5})}), "whole_word_mask: a row has neither word_ids nor offset_mapping; words are found by one of them.", ArgumentError);
}

TEST_CASE("LanguageModelingCollator: options that make no sense are refused") {
  CHECK_THROWS_WITH_AS(masking({.mlm_probability = 1.5}), "mlm_probability: is 1.5; it must be a share, 0 to 1.", ArgumentError);
  CHECK_THROWS_WITH_AS(masking({.mask_replace_prob = -0.5}), "mask_replace_prob: is -0.5; it must be a share, 0 to 1.", ArgumentError);
  CHECK_THROWS_WITH_AS(masking({.mask_replace_prob = 0.75, .random_replace_prob = 0.5}),
                       "mask_replace_prob: is 0.75 and random_replace_prob 0.5; together they must not exceed 1.", ArgumentError);
  CHECK_THROWS_WITH_AS(masking({.mlm = false, .whole_word_mask = true}), "whole_word_mask: needs mlm; a causal language model masks no words.", ArgumentError);
  CHECK_THROWS_WITH_AS(LanguageModelingCollator(data::PadOptions{}, {}, {}),
                       "mlm: the tokenizer has no mask token; masked language modelling needs one, causal language modelling none.", ArgumentError);
  const TempFolder folder;
  const text::Tokenizer tokenizer = text::Tokenizer::from_file(folder.file("tokenizer.json", tiny_tokenizer_json()));
  CHECK(tokenizer.special_token_ids() == Ids{0, 1, 2, 3});
  CHECK_THROWS_AS(LanguageModelingCollator(tokenizer, {}), ArgumentError);  // no [MASK] there
  CHECK_NOTHROW(LanguageModelingCollator(tokenizer, {.mlm = false}));
}

}  // namespace rote::testing
