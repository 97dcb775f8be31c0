// trainer/apps/rote/diff.cpp — `rote diff`: where two runs part by their traces, else where the bits of two models do. Exit code 0: nowhere, 1: somewhere.
#include <cstdio>
#include <map>

#include "tensor/difference.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/apps/rote/weights.h"
#include "trainer/parser.h"
#include "trainer/trace_difference.h"

namespace rote::app {

namespace {

struct DiffArguments {
  bool all = false;

  static const ArgumentTable<DiffArguments>& table() {
    static const ArgumentTable<DiffArguments> rows = {"arguments", {field(&DiffArguments::all, {.name = "all", .help = "a line for each tensor that differs, not for the first alone"})}};
    return rows;
  }
};

}  // namespace

int diff(int argc, char** argv) {
  const auto parsed = parse_command(argc, argv, Usage{"rote diff", "Where two runs part by their traces (--trace_hashes), or the bits of the weights of two checkpoints, run folders or .safetensors files.", "A B"}, DiffArguments{});
  ROTE_CHECK(parsed.positional.size() == 2, ArgumentError, parsed.positional.size(), " paths; give two folders or .safetensors files.");
  const std::optional<std::string> trace = trace_of(parsed.positional[0]), other_trace = trace_of(parsed.positional[1]);
  if (trace && other_trace) {
    const TraceComparison comparison = compare_traces(*trace, *other_trace);
    std::fputs(describe(comparison, parsed.positional[0], parsed.positional[1]).c_str(), stdout);
    return comparison.is_equal() ? 0 : 1;
  }
  std::map<std::string, Tensor> sides[2];
  for (size_t side = 0; side < 2; ++side)
    for (auto& [name, x] : weights_of(parsed.positional[side])) sides[side].emplace(name, std::move(x));

  std::vector<std::string> lines;
  size_t common = 0;
  for (const auto& [name, x] : sides[0]) {
    const auto other = sides[1].find(name);
    if (other == sides[1].end()) {
      lines.push_back(name + " is in " + parsed.positional[0] + " alone");
    } else if (x.dtype() != other->second.dtype() || !(x.shape() == other->second.shape())) {
      lines.push_back(str(name, " is ", describe(x), " and ", describe(other->second)));
    } else if (const auto found = difference(x, other->second)) {
      lines.push_back(name + " " + describe(*found, x));
    } else {
      ++common;
    }
  }
  for (const auto& [name, x] : sides[1])
    if (!sides[0].contains(name)) lines.push_back(name + " is in " + parsed.positional[1] + " alone");

  if (lines.empty()) {
    std::printf("equal: %zu tensors\n", common);
    return 0;
  }
  std::printf("%zu of %zu tensors differ\n", lines.size(), common + lines.size());
  const size_t shown = std::get<0>(parsed.values).all ? lines.size() : 1;
  for (size_t i = 0; i < shown; ++i) std::printf("%s\n", lines[i].c_str());
  if (shown < lines.size()) std::printf("… and %zu more; --all lists them\n", lines.size() - shown);
  return 1;
}

}  // namespace rote::app
