// kernels/cpu/functions.cpp — the functions of simd/vec.h and all of simd/math.h as loops over arrays, by name. No kernel uses them.
#include "kernels/functions.h"

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/simd/math.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

template <class F>
constexpr NamedFunction<Real> unary(const char* name, F) {
  return {name, [](int64_t n, const Real* a, const Real*, const Real*, Real* out) {
            over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { store(out + i, F{}(load(a + i, m)), m); });
          }};
}
template <class F>
constexpr NamedFunction<Real> binary(const char* name, F) {
  return {name, [](int64_t n, const Real* a, const Real* b, const Real*, Real* out) {
            over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { store(out + i, F{}(load(a + i, m), load(b + i, m)), m); });
          }};
}
template <class F>
constexpr NamedFunction<Real> ternary(const char* name, F) {
  return {name, [](int64_t n, const Real* a, const Real* b, const Real* c, Real* out) {
            over_row(n, [&](int64_t i, auto m) ROTE_LOOP_BODY { store(out + i, F{}(load(a + i, m), load(b + i, m), load(c + i, m)), m); });
          }};
}

}  // namespace

constinit const NamedFunction<Real> kFunctions[] = {
    unary("exp", [](Vec x) ROTE_LOOP_BODY { return exp(x); }),
    unary("log", [](Vec x) ROTE_LOOP_BODY { return log(x); }),
    unary("tanh", [](Vec x) ROTE_LOOP_BODY { return tanh(x); }),
    unary("erf", [](Vec x) ROTE_LOOP_BODY { return erf(x); }),
    unary("sigmoid", [](Vec x) ROTE_LOOP_BODY { return sigmoid(x); }),
    unary("exp2", [](Vec x) ROTE_LOOP_BODY { return exp2(x); }),
    unary("expm1", [](Vec x) ROTE_LOOP_BODY { return expm1(x); }),
    unary("log2", [](Vec x) ROTE_LOOP_BODY { return log2(x); }),
    unary("log10", [](Vec x) ROTE_LOOP_BODY { return log10(x); }),
    unary("log1p", [](Vec x) ROTE_LOOP_BODY { return log1p(x); }),
    unary("sin", [](Vec x) ROTE_LOOP_BODY { return sin(x); }),
    unary("cos", [](Vec x) ROTE_LOOP_BODY { return cos(x); }),
    unary("tan", [](Vec x) ROTE_LOOP_BODY { return tan(x); }),
    unary("asin", [](Vec x) ROTE_LOOP_BODY { return asin(x); }),
    unary("acos", [](Vec x) ROTE_LOOP_BODY { return acos(x); }),
    unary("atan", [](Vec x) ROTE_LOOP_BODY { return atan(x); }),
    unary("sinh", [](Vec x) ROTE_LOOP_BODY { return sinh(x); }),
    unary("cosh", [](Vec x) ROTE_LOOP_BODY { return cosh(x); }),
    unary("asinh", [](Vec x) ROTE_LOOP_BODY { return asinh(x); }),
    unary("acosh", [](Vec x) ROTE_LOOP_BODY { return acosh(x); }),
    unary("atanh", [](Vec x) ROTE_LOOP_BODY { return atanh(x); }),
    unary("erfc", [](Vec x) ROTE_LOOP_BODY { return erfc(x); }),
    unary("erfinv", [](Vec x) ROTE_LOOP_BODY { return erfinv(x); }),
    unary("sqrt", [](Vec x) ROTE_LOOP_BODY { return sqrt(x); }),
    unary("rsqrt", [](Vec x) ROTE_LOOP_BODY { return rsqrt(x); }),
    unary("abs", [](Vec x) ROTE_LOOP_BODY { return abs(x); }),
    unary("negate", [](Vec x) ROTE_LOOP_BODY { return -x; }),
    unary("round", [](Vec x) ROTE_LOOP_BODY { return round(x); }),
    unary("floor", [](Vec x) ROTE_LOOP_BODY { return floor(x); }),
    unary("ceil", [](Vec x) ROTE_LOOP_BODY { return ceil(x); }),
    unary("trunc", [](Vec x) ROTE_LOOP_BODY { return trunc(x); }),
    binary("pow", [](Vec x, Vec y) ROTE_LOOP_BODY { return pow(x, y); }),
    binary("atan2", [](Vec y, Vec x) ROTE_LOOP_BODY { return atan2(y, x); }),
    binary("hypot", [](Vec x, Vec y) ROTE_LOOP_BODY { return hypot(x, y); }),
    binary("fmod", [](Vec x, Vec y) ROTE_LOOP_BODY { return fmod(x, y); }),
    binary("add", [](Vec x, Vec y) ROTE_LOOP_BODY { return x + y; }),
    binary("subtract", [](Vec x, Vec y) ROTE_LOOP_BODY { return x - y; }),
    binary("multiply", [](Vec x, Vec y) ROTE_LOOP_BODY { return x * y; }),
    binary("divide", [](Vec x, Vec y) ROTE_LOOP_BODY { return x / y; }),
    binary("maximum", [](Vec x, Vec y) ROTE_LOOP_BODY { return maximum(x, y); }),
    binary("at most", [](Vec x, Vec y) ROTE_LOOP_BODY { return at_most(x, y); }),
    binary("at least", [](Vec x, Vec y) ROTE_LOOP_BODY { return at_least(x, y); }),
    binary("minimum", [](Vec x, Vec y) ROTE_LOOP_BODY { return minimum(x, y); }),
    binary("copysign", [](Vec x, Vec y) ROTE_LOOP_BODY { return copysign(x, y); }),
    ternary("fma", [](Vec x, Vec y, Vec z) ROTE_LOOP_BODY { return fma(x, y, z); }),
    ternary("less", [](Vec x, Vec y, Vec z) ROTE_LOOP_BODY { return select(x < y, z, Vec(Real(0))); }),
    ternary("less or equal", [](Vec x, Vec y, Vec z) ROTE_LOOP_BODY { return select(x <= y, z, Vec(Real(0))); }),
    ternary("equal", [](Vec x, Vec y, Vec z) ROTE_LOOP_BODY { return select(x == y, z, Vec(Real(0))); }),
    ternary("unequal", [](Vec x, Vec y, Vec z) ROTE_LOOP_BODY { return select(x != y, z, Vec(Real(0))); }),
    {nullptr, nullptr},
};

}  // namespace rote::isa::ROTE_ISA_NAME
