#include "trainer/data/dataset.h"

#include <utility>

#include "kernels/check.h"

namespace rote::data {

Feature Feature::lists(const std::vector<std::vector<int64_t>>& values) {
  Feature feature;
  for (const std::vector<int64_t>& part : values) {
    feature.whole.insert(feature.whole.end(), part.begin(), part.end());
    feature.parts.push_back(static_cast<int64_t>(part.size()));
  }
  return feature;
}

const Feature* find(const Example& example, const std::string& name) {
  for (const auto& [key, feature] : example)
    if (key == name) return &feature;
  return nullptr;
}

Feature* find(Example& example, const std::string& name) { return const_cast<Feature*>(find(std::as_const(example), name)); }

std::vector<int64_t> lengths_of(const Dataset& dataset, const std::string& length_column, const std::string& main_input) {
  std::vector<int64_t> lengths;
  for (int64_t row = 0; row < dataset.size(); ++row) {
    const Example example = dataset.at(row);
    const Feature* length = find(example, length_column);
    const Feature* main = find(example, main_input);
    const bool has_length = length != nullptr && length->is_single && !length->is_fraction;
    ROTE_CHECK(has_length || main != nullptr, ArgumentError, "train_sampling_strategy: row ", row, " has neither a whole length under ", length_column, " nor ",
               main_input, "; it needs one of them.");
    lengths.push_back(has_length ? length->whole[0] : main->length());
  }
  return lengths;
}

}  // namespace rote::data
