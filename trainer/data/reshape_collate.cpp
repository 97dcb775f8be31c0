#include "trainer/data/reshape_collate.h"

#include <algorithm>

#include "autograd/ops/view.h"

namespace rote::data {

namespace {

// The choices of an example, each as an example of its own.
std::vector<Example> choices_of(const Example& example, size_t choices, const std::string& label) {
  std::vector<Example> rows(choices);
  for (const auto& [name, feature] : example) {
    if (name == label) continue;
    ROTE_CHECK(feature.parts.size() == choices, ArgumentError, "collate: ", name, " of a row holds ", feature.parts.size(), " choices and input_ids of the first row ",
               choices, "; every row has as many.");
    auto begin = feature.whole.begin();
    for (size_t i = 0; i < choices; ++i) {
      const auto end = begin + feature.parts[i];
      rows[i].emplace_back(name, Feature::list(std::vector<int64_t>(begin, end)));
      begin = end;
    }
  }
  return rows;
}

Tensor in_one_row(const std::vector<int64_t>& values, DType dtype) {
  return converted(from_values({1, static_cast<int64_t>(values.size())}, values), dtype);
}

}  // namespace

nn::Batch MultipleChoiceCollator::operator()(const std::vector<Example>& examples) const {
  ROTE_CHECK(!examples.empty(), ArgumentError, "collate: no examples; a batch has at least one row.");
  const std::string label = find(examples[0], "label") != nullptr ? "label" : "labels";
  const Feature* ids = find(examples[0], "input_ids");
  ROTE_CHECK(ids != nullptr && !ids->parts.empty(), ArgumentError, "collate: the first row has no choices in input_ids; it must be a list of lists.");
  std::vector<Example> rows, labels;
  for (const Example& example : examples) {
    for (Example& choice : choices_of(example, ids->parts.size(), label)) rows.push_back(std::move(choice));
    const Feature* right = find(example, label);
    ROTE_CHECK(right != nullptr && !right->is_fraction, ArgumentError, "collate: a row has no whole number as ", label, "; every row needs its right choice.");
    labels.push_back({{"labels", *right}});
  }
  const nn::Batch flat = default_collate(padded(std::move(rows), pad_));
  nn::Batch batch;
  const int64_t B = static_cast<int64_t>(examples.size()), choices = static_cast<int64_t>(ids->parts.size());
  for (const auto& [name, x] : flat.entries) batch.set(name, reshape(x, {B, choices, x.size(1)}));
  batch.set("labels", default_collate(labels)["labels"]);
  return batch;
}

nn::Batch FlatteningCollator::operator()(const std::vector<Example>& examples) const {
  std::vector<int64_t> ids, labels, positions, sequence, begins = {0};
  int64_t longest = 0, number = 0;
  bool with_labels = false;
  for (const Example& example : examples) {
    const Feature* own = find(example, "input_ids");
    ROTE_CHECK(own != nullptr, ArgumentError, "collate: a row has no input_ids; they are what is put in one row.");
    const int64_t length = own->length();
    if (length == 0) continue;
    if (ids.empty()) with_labels = find(example, "labels") != nullptr;
    const Feature* targets = with_labels ? find(example, "labels") : own;
    ROTE_CHECK(targets != nullptr && targets->length() == length, ArgumentError, "collate: a row of ", length, " tokens has ", targets == nullptr ? 0 : targets->length(),
               " labels; it needs as many.");
    ids.insert(ids.end(), own->whole.begin(), own->whole.end());
    labels.push_back(options_.separator_id);
    labels.insert(labels.end(), targets->whole.begin() + 1, targets->whole.end());
    for (int64_t i = 0; i < length; ++i) positions.push_back(options_.position_ids_start + i);
    sequence.insert(sequence.end(), static_cast<size_t>(length), number++);
    begins.push_back(begins.back() + length);
    longest = std::max(longest, length);
  }
  ROTE_CHECK(!ids.empty(), ArgumentError, "collate: every example is empty; a batch needs at least one token.");
  nn::Batch batch;
  batch.set("input_ids", in_one_row(ids, DType::i64));
  batch.set("labels", in_one_row(labels, DType::i64));
  if (options_.return_position_ids) batch.set("position_ids", in_one_row(positions, DType::i64));
  if (options_.return_seq_idx) batch.set("seq_idx", in_one_row(sequence, DType::i32));
  if (options_.return_flash_attn_kwargs) {
    const Tensor bounds = converted(from_values({static_cast<int64_t>(begins.size())}, begins), DType::i32);
    for (const char* name : {"cu_seq_lens_q", "cu_seq_lens_k"}) batch.set(name, bounds);
    for (const char* name : {"max_length_q", "max_length_k"}) batch.set(name, scalar(static_cast<double>(longest), DType::i64));
  }
  return batch;
}

}  // namespace rote::data
