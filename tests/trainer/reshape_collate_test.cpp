// tests/trainer/reshape_collate_test.cpp — choices beside each other, and rows in one without padding.
#include "trainer/data/reshape_collate.h"

#include <doctest/doctest.h>

#include "kernels/check.h"

namespace rote::testing {

namespace {

using data::Example;
using data::Feature;
using Ids = std::vector<int64_t>;

Ids whole(const Tensor& x) {
  const Tensor numbers = converted(x, DType::i64);
  return {numbers.data<int64_t>(), numbers.data<int64_t>() + numbers.numel()};
}
Example row(Ids ids) { return {{"input_ids", Feature::list(std::move(ids))}}; }

}  // namespace

TEST_CASE("MultipleChoiceCollator: choices of all rows are padded to one length") {
  const std::vector<Example> rows = {{{"input_ids", Feature::lists({{5}, {6, 7, 8}})}, {"label", Feature::single(int64_t{1})}},
                                     {{"input_ids", Feature::lists({{9, 4}, {3}})}, {"label", Feature::single(int64_t{0})}}};
  const nn::Batch batch = data::MultipleChoiceCollator(data::PadOptions{})(rows);
  CHECK(describe(batch["input_ids"]) == "i64[2,2,3]");
  CHECK(whole(batch["input_ids"]) == Ids{5, 0, 0, 6, 7, 8, 9, 4, 0, 3, 0, 0});
  CHECK(whole(batch["attention_mask"]) == Ids{1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0});
  CHECK(whole(batch["labels"]) == Ids{1, 0});
  CHECK_THROWS_WITH_AS(data::MultipleChoiceCollator(data::PadOptions{})({rows[0], {{"input_ids", Feature::lists({{5}})}, {"label", Feature::single(int64_t{0})}}}),
                       "collate: input_ids of a row holds 1 choices and input_ids of the first row 2; every row has as many.", ArgumentError);
  CHECK_THROWS_WITH_AS(data::MultipleChoiceCollator(data::PadOptions{})({row({5})}), "collate: the first row has no choices in input_ids; it must be a list of lists.", ArgumentError);
}

TEST_CASE("FlatteningCollator: rows follow one another, and each begins anew") {
  const nn::Batch batch = data::FlatteningCollator({.return_flash_attn_kwargs = true, .return_seq_idx = true})({row({}), row({5, 6, 7}), row({8})});
  CHECK(whole(batch["input_ids"]) == Ids{5, 6, 7, 8});
  CHECK(whole(batch["labels"]) == Ids{-100, 6, 7, -100});
  CHECK(whole(batch["position_ids"]) == Ids{0, 1, 2, 0});
  CHECK(describe(batch["seq_idx"]) == "i32[1,4]");
  CHECK(whole(batch["seq_idx"]) == Ids{0, 0, 0, 1});
  CHECK(describe(batch["cu_seq_lens_q"]) == "i32[3]");
  CHECK(whole(batch["cu_seq_lens_k"]) == Ids{0, 3, 4});
  CHECK(batch["max_length_q"].item() == 3);
  CHECK_FALSE(batch.contains("attention_mask"));
}

TEST_CASE("FlatteningCollator: own labels, other separators, and nothing to flatten") {
  Example labelled = row({5, 6});
  labelled.emplace_back("labels", Feature::list(Ids{-100, 9}));
  const nn::Batch batch = data::FlatteningCollator({.position_ids_start = 2, .separator_id = -1})({labelled});
  CHECK(whole(batch["labels"]) == Ids{-1, 9});
  CHECK(whole(batch["position_ids"]) == Ids{2, 3});
  CHECK_FALSE(data::FlatteningCollator({.return_position_ids = false})({row({5})}).contains("position_ids"));
  CHECK_THROWS_WITH_AS(data::FlatteningCollator()({row({}), row({})}), "collate: every example is empty; a batch needs at least one token.", ArgumentError);
  CHECK_THROWS_WITH_AS(data::FlatteningCollator()({labelled, row({7})}), "collate: a row of 1 tokens has 0 labels; it needs as many.", ArgumentError);
}

}  // namespace rote::testing
