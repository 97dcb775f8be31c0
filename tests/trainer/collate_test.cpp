// tests/trainer/collate_test.cpp — examples into batches.
#include "trainer/data/collate.h"

#include <doctest/doctest.h>

#include "kernels/check.h"

namespace rote::testing {

namespace {

using data::Example;
using data::Feature;

Feature ids(std::vector<int64_t> values) { return Feature::list(std::move(values)); }
std::vector<int64_t> whole(const Tensor& x) { return {x.data<int64_t>(), x.data<int64_t>() + x.numel()}; }

}  // namespace

TEST_CASE("default_collate: stacks by name; label and label_ids become labels, whole numbers i64 and fractions f32") {
  const nn::Batch batch = data::default_collate({{{"x", Feature::list(std::vector<float>{1, 2})}, {"n", ids({3})}, {"label", Feature::single(int64_t{1})}},
                                                 {{"x", Feature::list(std::vector<float>{3, 4})}, {"n", ids({5})}, {"label", Feature::single(int64_t{0})}}});
  CHECK(describe(batch["x"]) == "f32[2,2]");
  CHECK(describe(batch["n"]) == "i64[2,1]");
  CHECK(describe(batch["labels"]) == "i64[2]");
  CHECK(whole(batch["labels"]) == std::vector<int64_t>{1, 0});
  CHECK_FALSE(batch.contains("label"));
  const nn::Batch many = data::default_collate({{{"label_ids", Feature::list(std::vector<float>{0, 1, 1})}}});
  CHECK(describe(many["labels"]) == "f32[1,3]");
  CHECK(describe(data::default_collate({{{"label", Feature::single(0.5f)}}})["labels"]) == "f32[1]");
}

TEST_CASE("default_collate: rows that differ in features or length are refused") {
  CHECK_THROWS_WITH_AS(data::default_collate({}), "collate: no examples; a batch has at least one row.", ArgumentError);
  CHECK_THROWS_WITH_AS(data::default_collate({{{"a", ids({1})}}, {{"b", ids({1})}}}), "collate: row 1 of the batch has no a but the first row has; every row needs it.", ArgumentError);
  CHECK_THROWS_WITH_AS(data::default_collate({{{"a", ids({1})}}, {{"a", ids({1, 2})}}}),
                       "collate: a has 2 values in row 1 of the batch and 1 in the first; they must be equally long and of one kind.", ArgumentError);
}

TEST_CASE("default_collate: label before label_ids, whole numbers among fractions, and lists of lists") {
  const nn::Batch both = data::default_collate({{{"label_ids", ids({1, 2})}, {"label", Feature::single(int64_t{7})}}});
  CHECK(whole(both["labels"]) == std::vector<int64_t>{7});
  const nn::Batch mixed = data::default_collate({{{"label", Feature::single(0.5f)}}, {{"label", Feature::single(int64_t{2})}}});
  CHECK(mixed["labels"].data<float>()[1] == 2.0f);
  CHECK_THROWS_AS(data::default_collate({{{"label", Feature::single(int64_t{2})}}, {{"label", Feature::single(0.5f)}}}), ArgumentError);
  const nn::Batch lists = data::default_collate({{{"offsets", Feature::lists({{0, 1}, {1, 3}, {4, 5}})}}});
  CHECK(describe(lists["offsets"]) == "i64[1,3,2]");
  CHECK(whole(lists["offsets"]) == std::vector<int64_t>{0, 1, 1, 3, 4, 5});
  CHECK_THROWS_WITH_AS(data::default_collate({{{"x", Feature::lists({{0, 1}, {1}})}}}),
                       "collate: the lists of x have different lengths in the first row of the batch; they must be equally long.", ArgumentError);
}

TEST_CASE("PadCollator: pads to the longest row of the batch and makes the mask") {
  const std::vector<Example> examples = {{{"input_ids", ids({5, 6, 7})}, {"token_type_ids", ids({0, 1, 1})}, {"label", Feature::single(int64_t{2})}},
                                         {{"input_ids", ids({8})}, {"token_type_ids", ids({0})}, {"label", Feature::single(int64_t{0})}}};
  const nn::Batch right = data::PadCollator(data::PadOptions{.pad_token_id = 9, .pad_token_type_id = 3})(examples);
  CHECK(whole(right["input_ids"]) == std::vector<int64_t>{5, 6, 7, 8, 9, 9});
  CHECK(whole(right["token_type_ids"]) == std::vector<int64_t>{0, 1, 1, 0, 3, 3});
  CHECK(whole(right["attention_mask"]) == std::vector<int64_t>{1, 1, 1, 1, 0, 0});
  CHECK(whole(right["labels"]) == std::vector<int64_t>{2, 0});
  const nn::Batch left = data::PadCollator(data::PadOptions{.side = text::Side::left, .pad_to_multiple_of = 4})(examples);
  CHECK(describe(left["input_ids"]) == "i64[2,4]");
  CHECK(whole(left["input_ids"]) == std::vector<int64_t>{0, 5, 6, 7, 0, 0, 0, 8});
  CHECK(whole(left["attention_mask"]) == std::vector<int64_t>{0, 1, 1, 1, 0, 0, 0, 1});
}

TEST_CASE("PadCollator: a mask that rows bring is kept") {
  const std::vector<Example> examples = {{{"input_ids", ids({5, 6})}, {"attention_mask", ids({1, 0})}}, {{"input_ids", ids({7})}, {"attention_mask", ids({1})}}};
  CHECK(whole(data::PadCollator(data::PadOptions{})(examples)["attention_mask"]) == std::vector<int64_t>{1, 0, 1, 0});
}

TEST_CASE("PadOptions: the length by longest row, maximum and multiple") {
  using data::PadTo;
  CHECK(data::PadOptions{.max_length = 4}.target(9) == 9);  // longest looks at no maximum
  CHECK(data::PadOptions{.pad_to_multiple_of = 4}.target(9) == 12);
  CHECK(data::PadOptions{.pad_to_multiple_of = 4, .padding = PadTo::max_length, .max_length = 6, .model_max_length = 32}.target(9) == 8);
  CHECK(data::PadOptions{.padding = PadTo::max_length, .model_max_length = 32}.target(9) == 32);
  CHECK_FALSE(data::PadOptions{.padding = PadTo::max_length}.target(9).has_value());
  CHECK_FALSE(data::PadOptions{.pad_to_multiple_of = 4, .padding = PadTo::do_not_pad}.target(9).has_value());
  CHECK_THROWS_WITH_AS(data::PadOptions{.pad_to_multiple_of = 0}.target(9), "collate: pad_to_multiple_of is 0; it must be at least 1.", ArgumentError);
}

TEST_CASE("PadCollator: rows longer than the maximum stay whole, unpadded rows must be equal, special tokens are filled with 1") {
  const std::vector<Example> examples = {{{"input_ids", ids({5, 6, 7})}, {"special_tokens_mask", ids({1, 0, 1})}}, {{"input_ids", ids({8})}, {"special_tokens_mask", ids({0})}}};
  const nn::Batch wide = data::PadCollator(data::PadOptions{.padding = data::PadTo::max_length, .max_length = 4, .attention_mask = false})(examples);
  CHECK(whole(wide["input_ids"]) == std::vector<int64_t>{5, 6, 7, 0, 8, 0, 0, 0});
  CHECK(whole(wide["special_tokens_mask"]) == std::vector<int64_t>{1, 0, 1, 1, 0, 1, 1, 1});
  CHECK_FALSE(wide.contains("attention_mask"));
  CHECK_THROWS_AS(data::PadCollator(data::PadOptions{.padding = data::PadTo::max_length, .max_length = 2})(examples), ArgumentError);
  CHECK_THROWS_AS(data::PadCollator(data::PadOptions{.padding = data::PadTo::do_not_pad})(examples), ArgumentError);
  const nn::Batch one = data::PadCollator(data::PadOptions{.padding = data::PadTo::max_length, .max_length = 2})({examples[0]});
  CHECK(whole(one["input_ids"]) == std::vector<int64_t>{5, 6, 7});
}

TEST_CASE("batch_of: encoded texts as a model takes them; rows of different lengths are refused") {
  text::Encoding a, b;
  a.ids = {2, 4, 3}, a.type_ids = {0, 0, 1}, a.attention_mask = {1, 1, 0};
  b.ids = {2, 3}, b.type_ids = {0, 0}, b.attention_mask = {1, 1};
  const nn::Batch batch = data::batch_of({a, a});
  CHECK(describe(batch["input_ids"]) == "i64[2,3]");
  CHECK(whole(batch["token_type_ids"]) == std::vector<int64_t>{0, 0, 1, 0, 0, 1});
  CHECK(whole(batch["attention_mask"]) == std::vector<int64_t>{1, 1, 0, 1, 1, 0});
  CHECK(describe(data::batch_of(b)["input_ids"]) == "i64[1,2]");
  CHECK_THROWS_WITH_AS(data::batch_of({a, b}), "batch: row 0 has 3 tokens and row 1 has 2; encode them with padding, or cut to one length.", ArgumentError);
  CHECK_THROWS_AS(data::batch_of(std::vector<text::Encoding>()), ArgumentError);
}

}  // namespace rote::testing
