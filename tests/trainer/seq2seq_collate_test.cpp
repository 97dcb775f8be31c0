// tests/trainer/seq2seq_collate_test.cpp — labels beside padded inputs, and what a decoder reads.
#include "trainer/data/seq2seq_collate.h"

#include <doctest/doctest.h>

#include "kernels/check.h"

namespace rote::testing {

namespace {

using data::Example;
using data::Feature;
using Ids = std::vector<int64_t>;

Ids whole(const Tensor& x) { return {x.data<int64_t>(), x.data<int64_t>() + x.numel()}; }
Example row(Ids ids, Ids labels, const char* name = "labels") {
  return {{"input_ids", Feature::list(std::move(ids))}, {name, Feature::list(std::move(labels))}};
}

}  // namespace

TEST_CASE("Seq2SeqCollator: labels are padded with -100 to their own longest, inputs to theirs") {
  const std::vector<Example> rows = {row({5, 6, 7}, {8}), row({9}, {3, 4})};
  const nn::Batch batch = data::Seq2SeqCollator(data::PadOptions{})(rows);
  CHECK(whole(batch["input_ids"]) == Ids{5, 6, 7, 9, 0, 0});
  CHECK(whole(batch["attention_mask"]) == Ids{1, 1, 1, 1, 0, 0});
  CHECK(whole(batch["labels"]) == Ids{8, -100, 3, 4});
  CHECK_FALSE(batch.contains("decoder_input_ids"));
  const nn::Batch left = data::Seq2SeqCollator(data::PadOptions{.side = text::Side::left, .pad_to_multiple_of = 4}, {.label_pad_token_id = -1})(rows);
  CHECK(describe(left["input_ids"]) == "i64[2,4]");
  CHECK(whole(left["labels"]) == Ids{-1, -1, -1, 8, -1, -1, 3, 4});
}

TEST_CASE("Seq2SeqCollator: max_length holds for both, the model's limit for inputs alone, and nothing is cut") {
  const std::vector<Example> rows = {row({5, 6}, {8, 9, 7}), row({9}, {3})};
  const nn::Batch given = data::Seq2SeqCollator(data::PadOptions{.padding = data::PadTo::max_length, .max_length = 4})(rows);
  CHECK(describe(given["input_ids"]) == "i64[2,4]");
  CHECK(describe(given["labels"]) == "i64[2,4]");
  const nn::Batch limit = data::Seq2SeqCollator(data::PadOptions{.padding = data::PadTo::max_length, .model_max_length = 5})(rows);
  CHECK(describe(limit["input_ids"]) == "i64[2,5]");
  CHECK(whole(limit["labels"]) == Ids{8, 9, 7, 3, -100, -100});
  const nn::Batch shorter = data::Seq2SeqCollator(data::PadOptions{.padding = data::PadTo::max_length, .max_length = 2})({row({5, 6}, {8, 9, 7})});
  CHECK(whole(shorter["labels"]) == Ids{8, 9, 7});
  CHECK_THROWS_AS(data::Seq2SeqCollator(data::PadOptions{.padding = data::PadTo::do_not_pad})({row({5}, {8, 9}), row({9}, {3})}), ArgumentError);
}

TEST_CASE("Seq2SeqCollator: a decoder reads the labels one place to the right") {
  const std::vector<Example> rows = {row({5, 6}, {8, 9, 7}, "label"), row({9, 1}, {3}, "label")};
  const nn::Batch batch = data::Seq2SeqCollator(data::PadOptions{}, {.decoder = data::DecoderShift{.decoder_start_token_id = 2, .pad_token_id = 1}})(rows);
  CHECK(whole(batch["labels"]) == Ids{8, 9, 7, 3, -100, -100});
  CHECK(whole(batch["decoder_input_ids"]) == Ids{2, 8, 9, 2, 3, 1});
  CHECK_FALSE(batch.contains("label"));
  const nn::Batch without = data::Seq2SeqCollator(data::PadOptions{}, {.decoder = data::DecoderShift{}})({{{"input_ids", Feature::list(Ids{5})}}});
  CHECK_FALSE(without.contains("labels"));
  CHECK_FALSE(without.contains("decoder_input_ids"));
}

}  // namespace rote::testing
