// tests/docs_test.cpp — pages that follow from the code: docs/ops.md from the rows, the program of docs/adding-an-op.md from its file.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "autograd/boxed.h"
#include "autograd/registry.h"
#include "tensor/file.h"
#include "tests/support/place.h"

using namespace rote;

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream in(read_file(testing::source_folder() + "/" + path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const size_t at = text.find(before);
  if (at == std::string::npos) return "";
  const size_t from = at + before.size();
  return text.substr(from, text.find(after, from) - from);
}

// What the comment beside or above an op's struct says, first sentence or formula.
std::string remark(const std::vector<std::string>& lines, size_t row) {
  size_t at = row;
  while (at > 0 && lines[at].rfind("struct ", 0) != 0) --at;
  const size_t beside = lines[at].find("// ");
  if (beside != std::string::npos) return lines[at].substr(beside + 3);
  std::string above;
  while (at > 0 && lines[at - 1].rfind("// ", 0) == 0) above = lines[--at].substr(3) + (above.empty() ? "" : " " + above);
  return above;
}

std::string cell(std::string text) {
  for (size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) text.insert(i, "\\");
  return text;
}

std::string dtypes(const OpEntry& op) {
  if (op.formula != nullptr) return op.formula->f64->forward == nullptr ? "integers, bool" : op.row.integers ? "all" : "floating; integers as f32";
  const std::vector<Operand>& in = op.schema.inputs;
  if (std::all_of(in.begin(), in.end(), [](const Operand& x) { return x.dtype.has_value(); })) return name(*in[0].dtype);
  return std::any_of(in.begin(), in.end(), [](const Operand& x) { return x.any_dtype; }) ? "all" : "floating";
}

std::string derivatives(const OpEntry& op) {
  if (op.row.no_grad[0] != 0) return str("none: ", op.row.no_grad);
  return op.row.once[0] == 0 ? "2" : str("1: ", op.row.once);
}

std::string ops_page() {
  std::string page =
      "# Ops\n\nGenerated from the rows in autograd/ops; `test-house --write-pages` writes it anew. How to read a schema: autograd/row.h.\n"
      "Derivatives: how often an op can be differentiated, and what speaks against more.\n";
  for (const std::string& include : lines_of("autograd/ops.h")) {
    const std::string header = between(include, "#include \"", "\"");
    if (header.empty()) continue;
    const std::vector<std::string> lines = lines_of(header);
    std::string table;
    for (size_t i = 0; i < lines.size(); ++i) {
      const OpEntry* op = find_op(between(lines[i], "Row row{.name = \"", "\""));
      if (op == nullptr) continue;
      table += str("| `", op->row.schema, "` | ", cell(remark(lines, i)), " | ", dtypes(*op), " | ", derivatives(*op), " |\n");
    }
    if (table.empty()) continue;
    page += str("\n## ", header, "\n\n", lines[0].substr(lines[0].find("— ") + 4), "\n\n| schema | what it gives | dtypes | derivatives |\n| --- | --- | --- | --- |\n", table);
  }
  page += "\n## Compositions\n\nFunctions made of the ops above, without a derivative of their own, by their ATen names:\n\n";
  std::vector<std::string> names;
  for (const Composition& one : all_compositions()) {
    std::istringstream in(one.aten);
    for (std::string name; std::getline(in >> std::ws, name, ';');) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  for (size_t i = 0; i < names.size(); ++i) page += str(i ? ", " : "", "`", names[i], "`");
  return page + "\n";
}

}  // namespace

TEST_CASE("docs: ops.md is what the rows say, and names every op once") {
  const std::string page = ops_page(), path = testing::source_folder() + "/docs/ops.md";
  for (const OpEntry* op : all_ops()) {
    CAPTURE(std::string(op->row.name));
    const std::string schema = str("| `", op->row.schema, "` |");
    const size_t at = page.find(schema);
    CHECK(at != std::string::npos);
    CHECK(page.find(schema, at + 1) == std::string::npos);
  }
  if (testing::writing_pages()) write_file(path, page);
  CHECK(read_file(path) == page);
}

TEST_CASE("docs: the program of adding-an-op.md is trainer/apps/own_op.cpp and prints what the page says") {
  const std::string page = read_file(testing::source_folder() + "/docs/adding-an-op.md");
  CHECK(page.find("```cpp\n" + read_file(testing::source_folder() + "/trainer/apps/own_op.cpp") + "```") != std::string::npos);
  const testing::TempFolder folder;
  REQUIRE(std::system((testing::build_folder() + "/own_op > " + folder.path() + "/out").c_str()) == 0);
  CHECK(page.find("```\n" + read_file(folder.path() + "/out") + "```") != std::string::npos);
}
