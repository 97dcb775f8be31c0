// tests/autograd/lane_test.cpp — one lane, which is what a thread of a device computes, against the instruction set in use: each formula,
// forward and backward, and each function of the vector layer, over numbers where rounding, signs or classes change. The same bits, NaN as NaN.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "autograd/formula_table.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/formulas.h"
#include "autograd/registry.h"
#include "kernels/functions.h"
#include "kernels/table.h"

namespace rote::isa::lane {
extern const NamedFunction<float> kFunctions[];
}

using namespace rote;

namespace {

constexpr int kOperands = 4;  // at most three inputs; at most three saved and dy
constexpr float kInf = std::numeric_limits<float>::infinity();

// kOperands columns of numbers: every triple of special ones (`more` among them), then random bits and numbers of [low, high).
using Columns = std::vector<std::vector<float>>;
Columns numbers(double low, double high, const std::vector<float>& more) {
  std::vector<float> special = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -2.5f, 3.0f, 0x1.fffffep-1f, 0x1.000002p23f, 8388607.5f, 0x1p-149f, -0x1p-149f,
                                0x1p-126f, -0x1.fffffcp-127f, 89.0f, -104.0f, 0x1.fffffep127f, -0x1.fffffep127f, kInf, -kInf, std::nanf("")};
  special.insert(special.end(), more.begin(), more.end());
  Columns columns(kOperands);
  std::mt19937 source(11);
  const auto bits = [&] { return std::bit_cast<float>(static_cast<uint32_t>(source())); };
  const auto inside = [&](double l, double h) { return static_cast<float>(l + (h - l) * static_cast<double>(source()) * 0x1p-32); };
  for (float x : special)
    for (float y : special)
      for (float z : special) {
        const float row[] = {x, y, z, bits()};
        for (int k = 0; k < kOperands; ++k) columns[k].push_back(row[k]);
      }
  for (std::vector<float>& column : columns) {
    for (int i = 0; i < 20000; ++i) column.push_back(bits());
    for (int i = 0; i < 20000; ++i) column.push_back(inside(low, high));
    for (int i = 0; i < 20000; ++i) column.push_back(inside(-100, 100));
  }
  return columns;
}

// A row's kinks, each with its neighbours.
std::vector<float> around_kinks(const Row& row) {
  std::vector<float> found;
  std::istringstream words(row.kinks);
  for (float kink; words >> kink;) {
    found.push_back(std::nextafter(kink, -kInf));
    found.push_back(kink);
    found.push_back(std::nextafter(kink, kInf));
  }
  return found;
}

bool same_bits(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b)); }
bool same_words(uint32_t a, uint32_t b) { return a == b || (a > 0x7F800000u && b > 0x7F800000u); }

void check_same(const Columns& x, const std::vector<float>& lane, const std::vector<float>& wide) {
  for (size_t i = 0; i < lane.size(); ++i) {
    if (same_bits(lane[i], wide[i])) continue;
    FAIL_CHECK("of ", x[0][i], ", ", x[1][i], ", ", x[2][i], ", ", x[3][i], ": one lane gives the bits ", std::bit_cast<uint32_t>(lane[i]), ", the others ",
               std::bit_cast<uint32_t>(wide[i]));
    return;
  }
}

template <class F>
void check_formula() {
  if constexpr (!F::integers_only) {
    CAPTURE(std::string(F::row.name));
    const FormulaKernel<float>& one = Loops<isa::lane::Tag, float, F>::kernel;
    const FormulaKernel<float>& wide = formula_loops<F>().template kernel<float>();
    const Columns x = numbers(F::row.low, F::row.high, around_kinks(F::row));
    const size_t size = x[0].size();
    const int64_t n = static_cast<int64_t>(size);
    const float* in[kOperands];
    for (int k = 0; k < kOperands; ++k) in[k] = x[k].data();
    for (const RowSample& sample : row_samples(entry<F>())) {
      CAPTURE(sample.text);
      float params[F::params + 1] = {};
      for (int k = 0; k < F::params; ++k) params[k] = static_cast<float>(std::get<double>(sample.attrs[k]));
      std::vector<float> y(size), expected(size);
      CHECK(same_words(one.forward(n, in, params, y.data()), wide.forward(n, in, params, expected.data())));
      check_same(x, y, expected);
      REQUIRE((one.backward == nullptr) == (wide.backward == nullptr));
      if (one.backward == nullptr) continue;
      constexpr int kSaved = count_words(F::row.saves);
      static_assert(F::inputs <= 3 && kSaved < kOperands);
      std::vector<float> dx[3], expected_dx[3];
      float *din[3] = {}, *expected_din[3] = {};
      for (int k = 0; k < F::inputs; ++k) {
        dx[k].resize(size), expected_dx[k].resize(size);
        din[k] = dx[k].data(), expected_din[k] = expected_dx[k].data();
      }
      CHECK(same_words(one.backward(n, in, in[kSaved], params, din), wide.backward(n, in, in[kSaved], params, expected_din)));
      for (int k = 0; k < F::inputs; ++k) check_same(x, dx[k], expected_dx[k]);
    }
  }
}

template <class... F>
void check_formulas(OpList<F...>) {
  (check_formula<F>(), ...);
}

}  // namespace

TEST_CASE("lane: each formula has the bits of the instruction set in use, forward and backward") { check_formulas(AllFormulas{}); }

TEST_CASE("lane: each function of the vector layer has the bits of the instruction set in use") {
  const Columns x = numbers(-1, 1, {0.625f, 0.875f, 1e30f, 1e-30f, 16777217.0f, 1.57079637f});
  const size_t size = x[0].size();
  const NamedFunction<float>* wide = vector_functions(kernels<float>().isa);
  for (const NamedFunction<float>* one = isa::lane::kFunctions; one->name != nullptr; ++one, ++wide) {
    REQUIRE(std::string(one->name) == wide->name);
    CAPTURE(std::string(one->name));
    std::vector<float> y(size), expected(size);
    one->apply(static_cast<int64_t>(size), x[0].data(), x[1].data(), x[2].data(), y.data());
    wide->apply(static_cast<int64_t>(size), x[0].data(), x[1].data(), x[2].data(), expected.data());
    check_same(x, y, expected);
  }
  CHECK(wide->name == nullptr);
}
