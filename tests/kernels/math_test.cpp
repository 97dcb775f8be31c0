// tests/kernels/math_test.cpp — the f32 elementary functions: errors against fp64, special values, the same bits on each instruction set.
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

struct Function {
  const char* name;
  double (*exact)(double);
  double ulps;  // bound of arithmetic.md 4; all 2^32 inputs were run once by hand, docs/arithmetic.md has the figures
};

const Function kFunctions[] = {
    {"exp", [](double x) { return std::exp(x); }, 1},
    {"log", [](double x) { return std::log(x); }, 1},
    {"tanh", [](double x) { return std::tanh(x); }, 2},
    {"erf", [](double x) { return std::erf(x); }, 2},
    {"sigmoid", [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }, 1},
    {"sin", [](double x) { return std::sin(x); }, 0.5001},  // fp64 rounded once
    {"expm1", [](double x) { return std::expm1(x); }, 0.5001},
};

const NamedFunction<float>* find(const char* isa, const char* name) {
  const NamedFunction<float>* f = vector_functions(isa);
  while (f->name && std::string_view(f->name) != name) ++f;
  REQUIRE(f->name);
  return f;
}

}  // namespace

TEST_CASE("math: f32 functions keep their error bound and have the same bits on each instruction set") {
  // Every 1021st bit pattern: 4.2 million inputs of all signs and exponents.
  const std::vector<const rote::KernelTable<float>*> tables = all_tables();
  constexpr int64_t kBlock = 4096;
  for (const Function& function : kFunctions) {
    double worst = 0;
    float worst_at = 0, differs_at = 0;
    bool differs = false;
    std::vector<float> x(kBlock), y(kBlock), other(kBlock);
    // The functions that go through fp64 are one scalar code for all: a sixteenth of the inputs will do.
    const uint64_t stride = function.ulps < 1 ? 16 * 1021 : 1021;
    for (uint64_t first = 0; first < uint64_t{1} << 32; first += stride * kBlock) {
      for (int64_t i = 0; i < kBlock; ++i) x[i] = std::bit_cast<float>(static_cast<uint32_t>(first + i * stride));
      find(tables[0]->isa, function.name)->apply(kBlock, x.data(), nullptr, nullptr, y.data());
      for (size_t k = 1; k < tables.size(); ++k) {
        find(tables[k]->isa, function.name)->apply(kBlock, x.data(), nullptr, nullptr, other.data());
        for (int64_t i = 0; i < kBlock; ++i) {
          if (!same_bits(y[i], other[i])) differs = true, differs_at = x[i];
        }
      }
      for (int64_t i = 0; i < kBlock; ++i) {
        const double error = ulps(y[i], function.exact(x[i]));
        if (error > worst) worst = error, worst_at = x[i];
      }
    }
    CAPTURE(std::string(function.name));
    CAPTURE(worst_at);
    CHECK(worst <= function.ulps);
    if (differs) FAIL_CHECK(function.name, " differs between instruction sets at ", differs_at);
  }
}

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
