// trainer/rote_arguments.cpp — the rows of RoteArguments.
#include "trainer/rote_arguments.h"

namespace rote {

const ArgumentTable<RoteArguments>& RoteArguments::table() {
  using R = RoteArguments;
  static const ArgumentTable<R> rows = {
      "Rote",
      {
          field(&R::num_threads, {.name = "num_threads", .help = "threads, 0 for all cores; results are the same with any", .at_least = 0, .below = 1025}),
          field(&R::sample_leaf, {.name = "sample_leaf", .help = "rows in one leaf of the gradient's summation tree", .at_least = 1, .below = 1 << 20}),
          field(&R::arithmetic, {.name = "arithmetic", .help = "contract that fixes every bit of a result"}),
      },
  };
  return rows;
}

}  // namespace rote
