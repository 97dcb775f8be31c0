// tests/kernels/vec_test.cpp — the vector layer lane by lane against plain C++, for every instruction set.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/kernels/spec.h"

namespace {

using namespace rote::testing;
using rote::NamedFunction;
using rote::vector_functions;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

float spec_maximum(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return kNan;
  if (a == 0 && b == 0) return std::signbit(a) && std::signbit(b) ? -0.0f : 0.0f;
  return a > b ? a : b;
}

struct Expected {
  const char* name;
  float (*of)(float, float, float);
};

// rsqrt, exp and their like are in math_test.cpp.
const Expected kExpected[] = {
    {"sqrt", [](float a, float, float) { return std::sqrt(a); }},
    {"rsqrt", [](float a, float, float) { return 1.0f / std::sqrt(a); }},
    {"abs", [](float a, float, float) { return std::fabs(a); }},
    {"negate", [](float a, float, float) { return -a; }},
    {"round", [](float a, float, float) { return std::nearbyint(a); }},
    {"floor", [](float a, float, float) { return std::floor(a); }},
    {"ceil", [](float a, float, float) { return std::ceil(a); }},
    {"trunc", [](float a, float, float) { return std::trunc(a); }},
    {"add", [](float a, float b, float) { return a + b; }},
    {"subtract", [](float a, float b, float) { return a - b; }},
    {"multiply", [](float a, float b, float) { return a * b; }},
    {"divide", [](float a, float b, float) { return a / b; }},
    {"maximum", [](float a, float b, float) { return spec_maximum(a, b); }},
    {"minimum", [](float a, float b, float) { return -spec_maximum(-a, -b); }},
    {"at most", [](float a, float limit, float) { return a > limit ? limit : a; }},
    {"at least", [](float a, float limit, float) { return a < limit ? limit : a; }},
    {"copysign", [](float a, float b, float) { return std::copysign(a, b); }},
    {"fma", [](float a, float b, float c) { return std::fma(a, b, c); }},
    {"less", [](float a, float b, float c) { return a < b ? c : 0.0f; }},
    {"less or equal", [](float a, float b, float c) { return a <= b ? c : 0.0f; }},
    {"equal", [](float a, float b, float c) { return a == b ? c : 0.0f; }},
    {"unequal", [](float a, float b, float c) { return a != b ? c : 0.0f; }},
};

// Every triple of numbers where rounding, signs or classes change, then random bits, some with an addend that cancels the product.
struct Triples {
  std::vector<float> a, b, c;
  void add(float x, float y, float z) { a.push_back(x), b.push_back(y), c.push_back(z); }
};
Triples make_triples() {
  Triples t;
  const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1.5f, 2.5f, -2.5f, 0x1.fffffep-1f, 0x1p23f, 0x1.000002p23f, -0x1.8p22f, 8388607.5f,
                           0x1p-149f, -0x1p-149f, 0x1p-126f, 0x1.fffffcp-127f, 0x1.fffffep127f, -0x1.fffffep127f, kInf, -kInf, kNan};
  for (float x : special)
    for (float y : special)
      for (float z : special) t.add(x, y, z);
  // Products halfway between floats, where a fused operation made from doubles must round to odd first.
  t.add(0x1.000002p0f, 0x1.000002p0f, 0x1p-60f);
  t.add(0x1.000002p0f, 0x1p-24f, 1.0f);
  t.add(0x1.000002p0f, 0x1p-24f, -1.0f);
  t.add(0x1.001p0f, 0x1.001p0f, 0x1p-100f), t.add(0x1.001p0f, 0x1.001p0f, -0x1p-100f);
  t.add(0x1.fffffep0f, 0x1p-149f, 0x1p-149f), t.add(0x1.8p-75f, 0x1p-75f, 0x1p-149f), t.add(-0x1.8p-75f, 0x1p-75f, 0x1p-149f);
  std::mt19937 source(7);
  for (int i = 0; i < 400000; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(source())), y = std::bit_cast<float>(static_cast<uint32_t>(source()));
    float z = std::bit_cast<float>(static_cast<uint32_t>(source()));
    if (i % 2 == 0) z = -x * y * (1.0f + static_cast<float>(source() % 8) * 0x1p-23f);
    t.add(x, y, z);
  }
  return t;
}

}  // namespace

TEST_CASE("vec: every lane of every operation has the bits of IEEE arithmetic, on each instruction set") {
  const Triples t = make_triples();
  const int64_t n = static_cast<int64_t>(t.a.size());
  for (const rote::KernelTable<float>* table : all_tables()) {
    std::vector<float> out(t.a.size());
    for (const Expected& expected : kExpected) {
      const NamedFunction<float>* f = vector_functions(table->isa);
      while (f->name && std::string_view(f->name) != expected.name) ++f;
      REQUIRE(f->name);
      f->apply(n, t.a.data(), t.b.data(), t.c.data(), out.data());
      int64_t wrong = -1;
      for (int64_t i = 0; i < n && wrong < 0; ++i) {
        if (!same_bits(out[i], expected.of(t.a[i], t.b[i], t.c[i]))) wrong = i;
      }
      CAPTURE(std::string(table->isa));
      CAPTURE(std::string(expected.name));
      if (wrong >= 0) FAIL_CHECK("of ", t.a[wrong], ", ", t.b[wrong], ", ", t.c[wrong], " gives ", out[wrong]);
    }
  }
}

TEST_CASE("vec: partial loads and stores touch nothing past the count") {
  for (const rote::KernelTable<float>* table : all_tables()) {
    const NamedFunction<float>* f = vector_functions(table->isa);
    while (std::string_view(f->name) != "negate") ++f;
    for (int64_t n = 0; n <= 35; ++n) {
      std::vector<float> in(static_cast<size_t>(n));  // its own allocation: the address sanitizer sees a read past the end
      for (int64_t i = 0; i < n; ++i) in[i] = static_cast<float>(i + 1);
      std::vector<float> out(static_cast<size_t>(n) + 16, 99.0f);
      f->apply(n, in.data(), nullptr, nullptr, out.data());
      for (int64_t i = 0; i < n; ++i) CHECK(out[i] == -in[i]);
      for (int64_t i = n; i < n + 16; ++i) CHECK(out[i] == 99.0f);
    }
  }
}
