// tests/trainer/token_collate_test.cpp — labels padded beside their ids. Against the reference's: rote-conformance.
#include "trainer/data/token_collate.h"

#include <doctest/doctest.h>

#include "kernels/check.h"

namespace rote::testing {

namespace {

using data::Example;
using data::Feature;

Feature ids(std::vector<int64_t> values) { return Feature::list(std::move(values)); }
std::vector<int64_t> whole(const Tensor& x) { return {x.data<int64_t>(), x.data<int64_t>() + x.numel()}; }

std::vector<Example> two_rows(const std::string& name) {
  return {{{"input_ids", ids({5, 6, 7})}, {name, ids({0, 1, -100})}}, {{"input_ids", ids({8})}, {name, ids({2})}}};
}

}  // namespace

TEST_CASE("TokenCollator: labels are padded with -100 on the side of the ids") {
  const nn::Batch right = data::TokenCollator(data::PadOptions{.pad_token_id = 9})(two_rows("labels"));
  CHECK(whole(right["input_ids"]) == std::vector<int64_t>{5, 6, 7, 8, 9, 9});
  CHECK(whole(right["labels"]) == std::vector<int64_t>{0, 1, -100, 2, -100, -100});
  CHECK(describe(right["labels"]) == "i64[2,3]");
  const nn::Batch left = data::TokenCollator(data::PadOptions{.side = text::Side::left, .pad_to_multiple_of = 4}, -1)(two_rows("labels"));
  CHECK(whole(left["labels"]) == std::vector<int64_t>{-1, 0, 1, -100, -1, -1, -1, 2});
  CHECK(whole(left["attention_mask"]) == std::vector<int64_t>{0, 1, 1, 1, 0, 0, 0, 1});
}

TEST_CASE("TokenCollator: a list under label keeps its name; rows without labels are padded alone") {
  const nn::Batch batch = data::TokenCollator(data::PadOptions{})(two_rows("label"));
  CHECK(whole(batch["label"]) == std::vector<int64_t>{0, 1, -100, 2, -100, -100});
  CHECK_FALSE(batch.contains("labels"));
  const nn::Batch bare = data::TokenCollator(data::PadOptions{})({{{"input_ids", ids({5, 6})}}, {{"input_ids", ids({7})}}});
  CHECK(bare.entries.size() == 2);
  CHECK(whole(bare["input_ids"]) == std::vector<int64_t>{5, 6, 7, 0});
}

TEST_CASE("TokenCollator: rows without their labels, and labels without their ids, are refused") {
  const data::TokenCollator collate(data::PadOptions{});
  CHECK_THROWS_WITH_AS(collate({{{"input_ids", ids({1})}, {"labels", ids({1})}}, {{"input_ids", ids({1})}}}),
                       "collate: row 1 of the batch has no list of whole labels; every row needs one.", ArgumentError);
  CHECK_THROWS_WITH_AS(collate({{{"input_ids", ids({1})}, {"labels", ids({1, 2})}}}), "collate: row 0 of the batch has 2 labels for 1 ids; each id needs one.", ArgumentError);
  CHECK_THROWS_AS(collate({{{"input_ids", ids({1})}, {"label", Feature::single(int64_t{1})}}}), ArgumentError);
  CHECK_THROWS_AS(collate({}), ArgumentError);
}

}  // namespace rote::testing
