// tensor/difference.cpp — where the bits of two tensors part. Elements of every dtype are words that are compared as numbers.
#include "tensor/difference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "kernels/check.h"
#include "kernels/dtype.h"

namespace rote {

namespace {

// The bits of element i.
uint64_t word_at(const Tensor& x, int64_t i) {
  const auto size = static_cast<size_t>(info(x.dtype()).size);
  uint64_t word = 0;
  std::memcpy(&word, static_cast<const char*>(x.raw()) + static_cast<size_t>(i) * size, size);
  return word;
}

double value_at(const Tensor& x, int64_t i) {
  return visit(x.dtype(), [&](auto t) { return convert<double>(static_cast<const decltype(t)*>(x.raw())[i]); });
}

// A number that is one more for the next larger number of the dtype.
int64_t rank_of(uint64_t word, DType dtype) {
  const int bits = 8 * info(dtype).size;
  if (dtype == DType::u8 || dtype == DType::boolean) return static_cast<int64_t>(word);
  if (info(dtype).category == 1) return static_cast<int64_t>(word << (64 - bits)) >> (64 - bits);
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return (word & sign) != 0 ? -static_cast<int64_t>(word & ~sign) : static_cast<int64_t>(word);
}

}  // namespace

std::optional<Difference> difference(const Tensor& a, const Tensor& b) {
  ROTE_CHECK(a.dtype() == b.dtype() && a.shape() == b.shape(), ShapeError, "difference: ", describe(a), " and ", describe(b), "; give two of one dtype and shape.");
  const Tensor x = contiguous(a), y = contiguous(b);
  Difference found;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const uint64_t left = word_at(x, i), right = word_at(y, i);
    if (left == right) continue;
    const double value = value_at(x, i), other = value_at(y, i);
    if (std::isnan(value) && std::isnan(other)) continue;
    std::optional<uint64_t> ulps;
    if (!std::isnan(value) && !std::isnan(other)) {
      const int64_t low = rank_of(left, a.dtype()), high = rank_of(right, a.dtype());
      ulps = static_cast<uint64_t>(std::max(low, high)) - static_cast<uint64_t>(std::min(low, high));
      found.most_ulps = std::max(found.most_ulps.value_or(0), *ulps);
    }
    if (found.elements++ == 0) found.first = i, found.a = value, found.b = other, found.ulps = ulps;
  }
  return found.elements == 0 ? std::nullopt : std::optional<Difference>(found);
}

std::string describe(const Difference& difference, const Tensor& a) {
  std::string place;
  int64_t rest = difference.first;
  for (int axis = a.axes() - 1; axis >= 0; --axis) {
    place = str(rest % a.size(axis), place.empty() ? "" : ",", place);
    rest /= a.size(axis);
  }
  const int digits = info(a.dtype()).size > 4 ? 17 : 9;
  char values[80];
  std::snprintf(values, sizeof values, "%.*g and %.*g", digits, difference.a, digits, difference.b);
  std::string text = str(describe(a), ": ", difference.elements, " of ", a.numel(), " elements differ, first at [", place, "]: ", values);
  if (difference.ulps) text += str(", ", *difference.ulps, *difference.ulps == 1 ? " ulp apart" : " ulps apart");
  if (difference.elements > 1 && difference.most_ulps) text += str("; at most ", *difference.most_ulps, *difference.most_ulps == 1 ? " ulp" : " ulps");
  return text;
}

}  // namespace rote
