// tests/function_hashes_test.cpp — the bits and the error of every elementary function, at every 1021st bit pattern: 4.2 million inputs of all signs and
// exponents. scripts/test-nightly runs all of them.
#include "tests/function_hashes.h"

#include <doctest/doctest.h>

using namespace rote::testing;

TEST_CASE("functions: results are the published ones on each instruction set, within their error") {
  for (const ElementaryFunction& function : kElementaryFunctions) {
    const std::string name = function.name;
    const FunctionRun run = run_function(function, 1021);
    CHECK_MESSAGE(run.parted.empty(), name << ": " << run.parted);
    CHECK_MESSAGE(run.hash == function.strided, name << ": " << run.hash);
    CHECK_MESSAGE(run.worst <= function.ulps, name << " is " << run.worst << " ulps off at " << run.worst_at);
  }
}

TEST_CASE("functions: every one that the vector layer names is run, but those that add, compare and round") {
  const std::vector<std::string> exact = {"abs", "negate", "round", "floor", "ceil", "trunc", "add", "subtract", "multiply", "divide", "maximum", "minimum", "at most", "at least", "copysign", "fma",
                                          "less", "less or equal", "equal", "unequal"};
  for (const rote::NamedFunction<float>* f = rote::vector_functions("scalar"); f->name; ++f) {
    const std::string name = f->name;
    bool run = false;
    for (const ElementaryFunction& function : kElementaryFunctions) run = run || name == function.name;
    CHECK_MESSAGE(run != (std::find(exact.begin(), exact.end(), name) != exact.end()), name);
  }
}

TEST_CASE("functions: a value that is too far off shows, and other results have another hash") {
  const ElementaryFunction shifted{"exp", [](double x, double) { return std::exp(x) * (1 + 0x1p-21); }, 1, "", ""};
  const FunctionRun run = run_function(shifted, 1021 * 997);
  CHECK(run.worst > 2);
  CHECK(run.hash != run_function(kElementaryFunctions[1], 1021 * 997).hash);
}
