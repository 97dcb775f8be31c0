#include "trainer/data/token_collate.h"

#include <algorithm>

#include "kernels/check.h"

namespace rote::data {

nn::Batch TokenCollator::operator()(const std::vector<Example>& examples) const {
  const std::string name = !examples.empty() && find(examples[0], "labels") != nullptr ? "labels" : "label";
  if (examples.empty() || find(examples[0], name) == nullptr) return PadCollator(pad_)(examples);
  std::vector<Example> inputs = examples;
  for (Example& example : inputs) std::erase_if(example, [&](const auto& feature) { return feature.first == name; });
  nn::Batch batch = PadCollator(pad_)(inputs);
  const int64_t B = batch.at("input_ids").size(0), T = batch.at("input_ids").size(1);
  const Tensor labels = full({B, T}, static_cast<double>(label_pad_token_id_), {.dtype = DType::i64});
  for (int64_t row = 0; row < B; ++row) {
    const Feature* feature = find(examples[static_cast<size_t>(row)], name);
    ROTE_CHECK(feature != nullptr && !feature->is_fraction && !feature->is_single, ArgumentError, "collate: row ", row, " of the batch has no list of whole ", name,
               "; every row needs one.");
    const int64_t n = feature->length();
    ROTE_CHECK(n <= T, ArgumentError, "collate: row ", row, " of the batch has ", n, " ", name, " for ", T, " ids; each id needs one.");
    std::copy(feature->whole.begin(), feature->whole.end(), labels.data<int64_t>() + row * T + (pad_.side == text::Side::right ? 0 : T - n));
  }
  batch.set(name, labels);
  return batch;
}

}  // namespace rote::data
