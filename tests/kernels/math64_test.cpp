// tests/kernels/math64_test.cpp — the fp64 functions against correctly rounded values, special values and identities.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "kernels/math64.h"
#include "tests/support/compare.h"

namespace {

namespace m = rote::math64;
using rote::testing::bits;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

struct Golden {
  const char* name;
  double x, y, value;
};
const Golden kGolden[] = {
#include "tests/golden/math64.inc"
};

struct Function {
  const char* name;
  double (*of)(double);
  int64_t ulps;  // measured over random arguments with mpmath, rounded up; docs/arithmetic.md
};
const Function kFunctions[] = {
    {"exp", m::exp, 1},     {"exp2", m::exp2, 1},   {"expm1", m::expm1, 2},     {"log", m::log, 1},     {"log2", m::log2, 1},     {"log10", m::log10, 1},
    {"log1p", m::log1p, 1}, {"sin", m::sin, 1},     {"cos", m::cos, 1},         {"tan", m::tan, 2},     {"asin", m::asin, 2},     {"acos", m::acos, 2},
    {"atan", m::atan, 1},   {"sinh", m::sinh, 2},   {"cosh", m::cosh, 2},       {"tanh", m::tanh, 2},   {"asinh", m::asinh, 2}, {"acosh", m::acosh, 3}, {"atanh", m::atanh, 2}, {"sigmoid", m::sigmoid, 2}, {"erf", m::erf, 2},
    {"erfc", m::erfc, 3},   {"erfinv", m::erfinv, 4}, {"normal_quantile", m::normal_quantile, 4},
};

// Doubles between a and b; they have the same sign.
int64_t steps(double a, double b) { return std::abs(static_cast<int64_t>(bits(a)) - static_cast<int64_t>(bits(b))); }

double call(const Golden& g, int64_t* bound) {
  if (std::string_view(g.name) == "pow") return *bound = 1, m::pow(g.x, g.y);
  if (std::string_view(g.name) == "atan2") return *bound = 2, m::atan2(g.x, g.y);
  if (std::string_view(g.name) == "hypot") return *bound = 1, m::hypot(g.x, g.y);
  for (const Function& f : kFunctions) {
    if (std::string_view(f.name) == g.name) return *bound = f.ulps, f.of(g.x);
  }
  return kNan;
}

}  // namespace

TEST_CASE("math64: every function is within its ulps of the correctly rounded value") {
  for (const Golden& g : kGolden) {
    int64_t bound = 0;
    const double got = call(g, &bound);
    CAPTURE(std::string(g.name));
    CAPTURE(g.x);
    CAPTURE(got);
    CHECK(steps(got, g.value) <= bound);
  }
}

TEST_CASE("math64: special values are those of C") {
  const double special[] = {0.0, -0.0, kInf, -kInf, kNan, 1.0, -1.0, 2.0, -3.0, 0.5, -2.5, 1e308, -1e308, 5e-324, 1e-320, 0x1p52, -0x1.fffffffffffffp52};
  const struct {
    const char* name;
    double (*ours)(double);
    double (*c)(double);
  } functions[] = {{"exp", m::exp, std::exp},    {"exp2", m::exp2, std::exp2},    {"expm1", m::expm1, std::expm1}, {"log", m::log, std::log},    {"log2", m::log2, std::log2},
                   {"log10", m::log10, std::log10}, {"log1p", m::log1p, std::log1p}, {"sin", m::sin, std::sin},       {"cos", m::cos, std::cos},    {"tan", m::tan, std::tan},
                   {"asin", m::asin, std::asin}, {"acos", m::acos, std::acos},    {"atan", m::atan, std::atan},    {"sinh", m::sinh, std::sinh}, {"cosh", m::cosh, std::cosh},
                   {"tanh", m::tanh, std::tanh}, {"asinh", m::asinh, std::asinh}, {"acosh", m::acosh, std::acosh}, {"atanh", m::atanh, std::atanh}, {"erf", m::erf, std::erf},       {"erfc", m::erfc, std::erfc}};
  for (const auto& f : functions) {
    for (double x : special) {
      const double got = f.ours(x), want = f.c(x);
      CAPTURE(std::string(f.name));
      CAPTURE(x);
      CAPTURE(got);
      if (std::isnan(want)) {
        CHECK(std::isnan(got));
      } else {
        CHECK(std::signbit(got) == std::signbit(want));
        CHECK(steps(got, want) <= 4);  // both may be off; classes and signs are what counts here
      }
    }
  }
  for (double x : special) {
    for (double y : special) {
      CAPTURE(x);
      CAPTURE(y);
      const double power = m::pow(x, y), angle = m::atan2(x, y), length = m::hypot(x, y);
      if (std::isnan(std::hypot(x, y))) CHECK(std::isnan(length));
      else CHECK(steps(length, std::hypot(x, y)) <= 1);
      if (std::isnan(std::pow(x, y))) CHECK(std::isnan(power));
      else CHECK(steps(power, std::pow(x, y)) <= 2);
      if (std::isnan(std::atan2(x, y))) CHECK(std::isnan(angle));
      else CHECK(steps(angle, std::atan2(x, y)) <= 2);
    }
  }
  CHECK(m::erfinv(1) == kInf);
  CHECK(m::erfinv(-1) == -kInf);
  CHECK(std::isnan(m::erfinv(1.5)));
  CHECK(m::normal_quantile(0) == -kInf);
  CHECK(m::normal_quantile(1) == kInf);
  CHECK(m::normal_quantile(0.5) == 0);
  CHECK(std::isnan(m::normal_quantile(-0.1)));
  CHECK(m::sigmoid(-kInf) == 0);
  CHECK(std::isnan(m::sigmoid(kNan)));
}

TEST_CASE("math64: identities hold over random arguments") {
  std::mt19937_64 source(9);
  const auto random = [&](double low, double high) { return low + (high - low) * static_cast<double>(source() >> 11) * 0x1p-53; };
  for (int i = 0; i < 20000; ++i) {
    const double x = random(-30, 30), big = std::ldexp(random(1, 2), static_cast<int>(source() % 1000));
    CAPTURE(x);
    CAPTURE(big);
    // Each side is off by at most 2 ulps of numbers near 1.
    CHECK(std::fabs(m::sin(big) * m::sin(big) + m::cos(big) * m::cos(big) - 1) < 1e-15);
    CHECK(m::sin(-big) == -m::sin(big));
    CHECK(m::cos(-big) == m::cos(big));
    CHECK(m::tanh(-x) == -m::tanh(x));
    CHECK(std::fabs(m::log(m::exp(x)) - x) <= 1e-15 + 4e-16 * std::fabs(x));
    CHECK(std::fabs(m::sigmoid(x) + m::sigmoid(-x) - 1) < 5e-16);
    CHECK(m::erf(-x / 6) == -m::erf(x / 6));
    const double p = random(1e-12, 1 - 1e-12);
    CHECK(std::fabs(0.5 * m::erfc(-m::normal_quantile(p) * 0x1.6a09e667f3bcdp-1) - p) < 4e-15);
  }
}
