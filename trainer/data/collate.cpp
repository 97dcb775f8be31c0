#include "trainer/data/collate.h"

#include <algorithm>

namespace rote::data {

namespace {

Tensor stacked(const std::string& name, const std::vector<Example>& examples) {
  const Feature& first = *find(examples[0], name);
  const int64_t rows = static_cast<int64_t>(examples.size()), length = first.length();
  const bool is_table = !first.parts.empty();
  ROTE_CHECK(!is_table || std::count(first.parts.begin(), first.parts.end(), first.parts[0]) == static_cast<int64_t>(first.parts.size()), ArgumentError,
             "collate: the lists of ", name, " have different lengths in the first row of the batch; they must be equally long.");
  Shape shape = first.is_single ? Shape{rows} : Shape{rows, length};
  if (is_table) shape = {rows, static_cast<int64_t>(first.parts.size()), first.parts[0]};
  if (first.shape.axes() > 0) {
    shape = {rows};
    for (int64_t extent : first.shape) shape.append(extent);
  }
  const Tensor x = empty(shape, {.dtype = first.is_fraction ? DType::f32 : DType::i64});
  for (int64_t row = 0; row < rows; ++row) {
    const Feature* feature = find(examples[static_cast<size_t>(row)], name);
    ROTE_CHECK(feature != nullptr, ArgumentError, "collate: row ", row, " of the batch has no ", name, " but the first row has; every row needs it.");
    ROTE_CHECK(feature->shape == first.shape, ArgumentError, "collate: ", name, " is ", feature->shape, " in row ", row, " of the batch and ", first.shape,
               " in the first; they must have one shape.");
    // A whole number stands for a fraction, a fraction for no whole number.
    ROTE_CHECK(feature->length() == length && feature->parts == first.parts && (first.is_fraction || !feature->is_fraction), ArgumentError, "collate: ", name,
               " has ", feature->length(), " values in row ", row, " of the batch and ", length, " in the first; they must be equally long and of one kind.");
    if (!first.is_fraction) std::copy(feature->whole.begin(), feature->whole.end(), x.data<int64_t>() + row * length);
    else if (feature->is_fraction) std::copy(feature->fractions.begin(), feature->fractions.end(), x.data<float>() + row * length);
    else std::transform(feature->whole.begin(), feature->whole.end(), x.data<float>() + row * length, [](int64_t n) { return static_cast<float>(n); });
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
  const bool has_label = find(examples[0], "label") != nullptr;
  nn::Batch batch;
  for (const auto& [name, feature] : examples[0]) {
    if (name == "label_ids" && has_label) continue;
    const bool is_label = name == "label" || name == "label_ids";
    batch.set(is_label ? "labels" : name, stacked(name, examples));
  }
  return batch;
}

PadOptions pad_options(const text::Tokenizer& tokenizer) {
  const std::optional<int64_t> pad = tokenizer.pad_token_id();
  ROTE_CHECK(pad.has_value(), ArgumentError, "collate: the tokenizer has no pad token; batches of unequal rows need one.");
  return {.pad_token_id = *pad, .side = tokenizer.padding_side(), .model_max_length = tokenizer.model_max_length()};
}

std::optional<int64_t> PadOptions::target(int64_t longest) const {
  std::optional<int64_t> length = max_length ? max_length : model_max_length;
  if (padding == PadTo::longest) length = longest;
  if (padding == PadTo::do_not_pad || !length) return std::nullopt;
  if (!pad_to_multiple_of) return length;
  const int64_t m = *pad_to_multiple_of;
  ROTE_CHECK(m > 0, ArgumentError, "collate: pad_to_multiple_of is ", m, "; it must be at least 1.");
  return (*length + m - 1) / m * m;
}

void pad_list(Feature& list, int64_t length, int64_t filler, text::Side side) {
  const int64_t missing = std::max<int64_t>(0, length - list.length());
  list.whole.insert(side == text::Side::right ? list.whole.end() : list.whole.begin(), static_cast<size_t>(missing), filler);
}

std::vector<Example> padded(std::vector<Example> examples, const PadOptions& options) {
  int64_t longest = 0;
  for (const Example& example : examples)
    if (const Feature* ids = find(example, "input_ids")) longest = std::max(longest, ids->length());
  const std::optional<int64_t> length = options.target(longest);
  const Padded rules[] = {{"input_ids", options.pad_token_id}, {"attention_mask", 0}, {"token_type_ids", options.pad_token_type_id}, {"special_tokens_mask", 1}};
  for (Example& example : examples) {
    const Feature* ids = find(example, "input_ids");
    if (ids == nullptr) continue;
    if (options.attention_mask && find(example, "attention_mask") == nullptr)
      example.emplace_back("attention_mask", Feature::list(std::vector<int64_t>(static_cast<size_t>(ids->length()), 1)));
    for (const Padded& rule : rules)
      if (Feature* feature = find(example, rule.name); feature != nullptr && length) pad_list(*feature, *length, rule.filler, options.side);
  }
  return examples;
}

nn::Batch batch_of(const std::vector<text::Encoding>& rows) {
  const size_t T = rows.empty() ? 0 : rows[0].ids.size();
  for (size_t row = 0; row < rows.size(); ++row)
    ROTE_CHECK(rows[row].ids.size() == T, ArgumentError, "batch: row 0 has ", T, " tokens and row ", row, " has ", rows[row].ids.size(),
               "; encode them with padding, or cut to one length.");
  std::vector<Example> examples;
  for (const text::Encoding& row : rows)
    examples.push_back({{"input_ids", Feature::list(row.ids)}, {"token_type_ids", Feature::list(row.type_ids)}, {"attention_mask", Feature::list(row.attention_mask)}});
  return default_collate(examples);
}

nn::Batch batch_of(const text::Encoding& row) { return batch_of(std::vector<text::Encoding>{row}); }

}  // namespace rote::data
