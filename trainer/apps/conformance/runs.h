// trainer/apps/conformance/runs.h — what cases of whole runs share: a folder for their files, rows from JSON. Judges nothing.
#pragma once

#include <filesystem>

#include "trainer/data/dataset.h"
#include "trainer/value.h"

namespace rote::conformance {

// A folder of the case's own, which goes with it.
struct Scratch {
  std::filesystem::path path;
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

// A list of maps: numbers, and lists of numbers that are whole where all are.
data::ListDataset rows_of(const Value& list);

}  // namespace rote::conformance
