#include "trainer/data/collate.h"

#include <algorithm>

namespace rote::data {

namespace {

Tensor stacked(const std::string& name, const std::vector<Example>& examples) {
  const Feature& first = *find(examples[0], name);
  const int64_t rows = static_cast<int64_t>(examples.size()), length = first.length();
  const Shape shape = first.is_single ? Shape{rows} : Shape{rows, length};
  const Tensor x = empty(shape, {.dtype = first.is_fraction ? DType::f32 : DType::i64});
  for (int64_t row = 0; row < rows; ++row) {
    const Feature* feature = find(examples[static_cast<size_t>(row)], name);
    ROTE_CHECK(feature != nullptr, ArgumentError, "collate: row ", row, " of the batch has no ", name, " but the first row has; every row needs it.");
    ROTE_CHECK(feature->length() == length && feature->is_fraction == first.is_fraction, ArgumentError, "collate: ", name, " has ", feature->length(),
               " values in row ", row, " of the batch and ", length, " in the first; they must be equally long and of one kind.");
    if (first.is_fraction) std::copy(feature->fractions.begin(), feature->fractions.end(), x.data<float>() + row * length);
    else std::copy(feature->whole.begin(), feature->whole.end(), x.data<int64_t>() + row * length);
  }
  return x;
}

struct Padded {
  const char* name;
  int64_t filler;
};

}  // namespace

nn::Batch default_collate(const std::vector<Example>& examples) {
  ROTE_CHECK(!examples.empty(), ArgumentError, "collate: no examples; a batch has at least one row.");
  nn::Batch batch;
  for (const auto& [name, feature] : examples[0]) {
    const bool is_label = name == "label" || name == "label_ids";
    batch.set(is_label ? "labels" : name, stacked(name, examples));
  }
  return batch;
}

PadCollator::PadCollator(const text::Tokenizer& tokenizer) {
  const std::optional<int64_t> pad = tokenizer.pad_token_id();
  ROTE_CHECK(pad.has_value(), ArgumentError, "collate: the tokenizer has no pad token; batches of unequal rows need one.");
  options_.pad_token_id = *pad;
  options_.side = tokenizer.padding_side();
}

nn::Batch PadCollator::operator()(const std::vector<Example>& examples) const {
  std::vector<Example> padded = examples;
  int64_t longest = 0;
  for (const Example& example : examples)
    if (const Feature* ids = find(example, "input_ids")) longest = std::max(longest, ids->length());
  if (options_.pad_to_multiple_of) {
    const int64_t m = *options_.pad_to_multiple_of;
    longest = (longest + m - 1) / m * m;
  }
  const Padded rules[] = {{"input_ids", options_.pad_token_id}, {"attention_mask", 0}, {"token_type_ids", options_.pad_token_type_id}};
  for (Example& example : padded) {
    const Feature* ids = find(example, "input_ids");
    if (ids == nullptr) continue;
    const int64_t length = ids->length();
    if (find(example, "attention_mask") == nullptr)
      example.emplace_back("attention_mask", Feature::list(std::vector<int64_t>(static_cast<size_t>(length), 1)));
    for (auto& [name, feature] : example)
      for (const Padded& rule : rules) {
        if (name != rule.name) continue;
        auto& values = feature.whole;
        const size_t missing = static_cast<size_t>(longest - feature.length());
        values.insert(options_.side == text::Side::right ? values.end() : values.begin(), missing, rule.filler);
      }
  }
  return default_collate(padded);
}

}  // namespace rote::data
