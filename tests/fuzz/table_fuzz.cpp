// tests/fuzz/table_fuzz.cpp — a table of each kind; the first byte chooses.
#include <cstdlib>

#include "tests/fuzz/input.h"
#include "tests/fuzz/targets.h"
#include "trainer/data/table.h"

namespace rote::fuzz {

int table(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const data::TableFormat format = data[0] == ',' ? data::TableFormat::csv : data[0] == '\t' ? data::TableFormat::tsv : data::TableFormat::jsonl;
  run([&] {
    const data::Table table = data::parse_table(text, format, "table");
    for (size_t i = 0; i < table.rows.size(); ++i)
      if (table.rows[i].size() != table.columns.size()) std::abort();
  });
  return 0;
}

}  // namespace rote::fuzz
