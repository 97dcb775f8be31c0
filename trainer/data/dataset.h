// trainer/data/dataset.h — rows for training: named features, and datasets of them by index. No batches (collate.h), no files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensor/shape.h"

namespace rote::data {

// One feature of a row: whole numbers or fractions, a list, a list of lists of whole numbers, an array of fractions, or a single value.
struct Feature {
  std::vector<int64_t> whole;
  std::vector<float> fractions;  // used where is_fraction
  bool is_fraction = false;
  bool is_single = false;        // a label, a length: no axis of its own
  std::vector<int64_t> parts;    // of a list of lists: the length of each, whose values follow one another in `whole`
  Shape shape = {};              // of an array; of all else no axes

  static Feature list(std::vector<int64_t> values) { return {std::move(values), {}, false, false, {}}; }
  static Feature list(std::vector<float> values) { return {{}, std::move(values), true, false, {}}; }
  static Feature lists(const std::vector<std::vector<int64_t>>& values);
  // REQUIRES: as many values as the shape has.
  static Feature array(std::vector<float> values, const Shape& shape) { return {{}, std::move(values), true, false, {}, shape}; }
  static Feature single(int64_t value) { return {{value}, {}, false, true, {}}; }
  static Feature single(float value) { return {{}, {value}, true, true, {}}; }
  int64_t length() const { return static_cast<int64_t>(is_fraction ? fractions.size() : whole.size()); }
};

// Features of one row in the order of the dataset's columns.
using Example = std::vector<std::pair<std::string, Feature>>;
const Feature* find(const Example& example, const std::string& name);  // nullptr where there is none
Feature* find(Example& example, const std::string& name);

// A dataset that any row of can be had at any time, by several threads.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual Example at(int64_t row) const = 0;
};

// Rows held in memory.
class ListDataset : public Dataset {
 public:
  explicit ListDataset(std::vector<Example> rows) : rows_(std::move(rows)) {}
  int64_t size() const override { return static_cast<int64_t>(rows_.size()); }
  Example at(int64_t row) const override { return rows_[static_cast<size_t>(row)]; }

 private:
  std::vector<Example> rows_;
};

// Length of each row for samplers that look at it: the column `length_column` where rows have it, else the size of `main_input`.
// Throws ArgumentError where a row has neither.
std::vector<int64_t> lengths_of(const Dataset& dataset, const std::string& length_column, const std::string& main_input);

}  // namespace rote::data
