#include "trainer/apps/conformance/runs.h"

#include <unistd.h>

#include "kernels/check.h"

namespace rote::conformance {

namespace fs = std::filesystem;

Scratch::Scratch() {
  std::string name = (fs::temp_directory_path() / "rote-conformance-XXXXXX").string();
  ROTE_CHECK(mkdtemp(name.data()) != nullptr, IoError, "conformance: cannot create a folder in ", fs::temp_directory_path().string(), ".");
  path = name;
}

Scratch::~Scratch() {
  std::error_code error;
  fs::remove_all(path, error);
}

namespace {

data::Feature feature_of(const Value& value) {
  if (const int64_t* number = value.as_int()) return data::Feature::single(*number);
  if (const double* number = value.as_float()) return data::Feature::single(static_cast<float>(*number));
  std::vector<int64_t> whole;
  std::vector<float> fractions;
  for (const Value& item : *value.as_list()) {
    double number = 0;
    ROTE_CHECK(item.number(number), ArgumentError, "conformance: a row holds something that is no number.");
    if (item.as_int() != nullptr) whole.push_back(*item.as_int());
    fractions.push_back(static_cast<float>(number));
  }
  return whole.size() == fractions.size() ? data::Feature::list(std::move(whole)) : data::Feature::list(std::move(fractions));
}

}  // namespace

data::ListDataset rows_of(const Value& list) {
  std::vector<data::Example> rows;
  if (list.as_list() != nullptr)
    for (const Value& row : *list.as_list()) {
      data::Example example;
      for (const auto& [name, value] : *row.as_map()) example.emplace_back(name, feature_of(value));
      rows.push_back(std::move(example));
    }
  return data::ListDataset(std::move(rows));
}

}  // namespace rote::conformance
