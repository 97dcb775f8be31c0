// tests/kernels/math_test.cpp — special values of the f32 elementary functions. Their bits and errors over all inputs: tests/function_hashes_test.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/kernels/spec.h"
#include "tests/support/compare.h"

namespace {

using namespace rote::testing;
using rote::NamedFunction;
using rote::vector_functions;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

const NamedFunction<float>* find(const char* isa, const char* name) {
  const NamedFunction<float>* f = vector_functions(isa);
  while (f->name && std::string_view(f->name) != name) ++f;
  REQUIRE(f->name);
  return f;
}

}  // namespace

TEST_CASE("math: special values of f32 functions") {
  struct Case {
    const char* name;
    float x, y;
  };
  const Case cases[] = {
      {"exp", kInf, kInf},     {"exp", -kInf, 0},         {"exp", 0, 1},           {"exp", -0.0f, 1},        {"exp", 88.73f, kInf},   {"exp", -104.0f, 0},
      {"exp", kNan, kNan},     {"log", 0, -kInf},         {"log", -0.0f, -kInf},   {"log", 1, 0},            {"log", -1, kNan},       {"log", -kInf, kNan},
      {"log", kInf, kInf},     {"log", kNan, kNan},       {"log", -0x1p-149f, kNan}, {"tanh", kInf, 1},      {"tanh", -kInf, -1},     {"tanh", -0.0f, -0.0f},
      {"tanh", kNan, kNan},    {"tanh", 0x1p-149f, 0x1p-149f}, {"erf", kInf, 1},   {"erf", -kInf, -1},       {"erf", -0.0f, -0.0f},   {"erf", kNan, kNan},
      {"sigmoid", kInf, 1},    {"sigmoid", -kInf, 0},     {"sigmoid", 0, 0.5f},    {"sigmoid", kNan, kNan},  {"sin", kInf, kNan},     {"sin", -0.0f, -0.0f},
      {"rsqrt", 0, kInf},      {"rsqrt", -1, kNan},       {"rsqrt", kInf, 0},      {"expm1", -kInf, -1},
  };
  for (const rote::KernelTable<float>* table : all_tables()) {
    for (const Case& c : cases) {
      float y = 99;
      find(table->isa, c.name)->apply(1, &c.x, nullptr, nullptr, &y);
      CAPTURE(std::string(table->isa));
      CAPTURE(std::string(c.name));
      CAPTURE(c.x);
      CHECK(same_bits(y, c.y));
    }
  }
}

TEST_CASE("math: subnormal results of exp are rounded, not flushed") {
  for (float x : {-87.5f, -90.0f, -95.25f, -100.0f, -103.0f, -103.9f}) {
    CAPTURE(x);
    CHECK(call("exp", x) > 0.0f);
    CHECK(ulps(call("exp", x), std::exp(static_cast<double>(x))) <= 1);
  }
}
