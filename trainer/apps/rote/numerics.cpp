// trainer/apps/rote/numerics.cpp — `rote numerics`: which modules of a run come near the limits of their formats.
#include <cstdio>

#include "kernels/check.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/numerics_table.h"
#include "trainer/parser.h"

namespace rote::app {

namespace {

struct NumericsArguments {
  Number near = NumericsTable().near;
  int64_t rows = NumericsTable().rows;

  static const ArgumentTable<NumericsArguments>& table();
};

const ArgumentTable<NumericsArguments>& NumericsArguments::table() {
  using A = NumericsArguments;
  static const ArgumentTable<A> rows = {
      "arguments",
      {
          field(&A::near, {.name = "near", .help = "what is left of doublings below which a module is near its limit", .unit = "bits", .at_least = 0, .below = 2048}),
          field(&A::rows, {.name = "rows", .help = "that are shown beside those that are near, 0 for all", .at_least = 0, .below = 1'000'000'000}),
      },
  };
  return rows;
}

}  // namespace

int numerics(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{"rote numerics", "Which modules come near the limits of their formats. RUN: the folder of a run with --log_numerics, or its numerics.jsonl.", "RUN"},
                              NumericsArguments{});
  ROTE_CHECK(parsed.positional.size() == 1, ArgumentError, parsed.positional.empty() ? "no run" : "more than one run", "; give the folder of a run that was made with --log_numerics true.");
  const NumericsArguments& args = std::get<0>(parsed.values);
  std::fputs(numerics_text(read_numerics(parsed.positional[0]), {.near = args.near, .rows = args.rows}).c_str(), stdout);
  return 0;
}

}  // namespace rote::app
