// trainer/data/dataset_file.h — a file of rows on disk into a Table. The formats themselves: table.h.
#pragma once

#include <string>

#include "trainer/data/table.h"

namespace rote::data {

// Reads `path` by the end of its name: .csv, .tsv, .jsonl.
// Throws IoError where the file cannot be read, ArgumentError where it is a folder, of another kind, or its content is at fault.
Table read_table(const std::string& path);

}  // namespace rote::data
