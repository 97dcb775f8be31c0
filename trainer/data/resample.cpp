#include "trainer/data/resample.h"

#include <algorithm>
#include <cmath>

#include "kernels/check.h"

namespace rote::data {

namespace {

constexpr int kPointBits = 22;
constexpr int32_t kHalf = 1 << (kPointBits - 1);

double bilinear(double x) {
  x = std::abs(x);
  return x < 1 ? 1 - x : 0;
}

// Keys 1981, IEEE TASSP 29(6), with a = -1/2.
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

struct Kernel {
  double (*weight)(double x);
  double support;  // 0 beyond
};

Kernel kernel_of(Filter filter) { return filter == Filter::bicubic ? Kernel{bicubic, 2} : Kernel{bilinear, 1}; }

// What one pixel of the result takes: `count` neighbours from `first` on, each times its weight.
struct Window {
  int64_t first = 0, count = 0;
  std::vector<int32_t> weights;
};

Window window_at(int64_t place, int64_t in, int64_t out, const Kernel& kernel) {
  const double scale = static_cast<double>(in) / static_cast<double>(out), stretch = std::max(scale, 1.0), support = kernel.support * stretch;
  const double center = (static_cast<double>(place) + 0.5) * scale, step = 1 / stretch;
  Window window;
  window.first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
  window.count = std::min<int64_t>(static_cast<int64_t>(center + support + 0.5), in) - window.first;
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = 0; i < window.count; ++i) {
    weights.push_back(kernel.weight((static_cast<double>(i + window.first) - center + 0.5) * step));
    sum += weights.back();
  }
  for (double weight : weights) {
    const double share = (sum != 0 ? weight / sum : weight) * (1 << kPointBits);
    window.weights.push_back(static_cast<int32_t>(share < 0 ? share - 0.5 : share + 0.5));
  }
  return window;
}

uint8_t rounded(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kPointBits, 0, 255)); }

Image with_width(const Image& in, int64_t width, const Kernel& kernel) {
  if (width == in.width) return in;
  Image out{in.height, width, in.channels, std::vector<uint8_t>(static_cast<size_t>(in.height * width * in.channels))};
  for (int64_t x = 0; x < width; ++x) {
    const Window window = window_at(x, in.width, width, kernel);
    for (int64_t y = 0; y < in.height; ++y)
      for (int64_t c = 0; c < in.channels; ++c) {
        const uint8_t* from = in.row(y) + window.first * in.channels + c;
        int32_t sum = kHalf;
        for (int64_t i = 0; i < window.count; ++i) sum += from[i * in.channels] * window.weights[static_cast<size_t>(i)];
        out.row(y)[x * in.channels + c] = rounded(sum);
      }
  }
  return out;
}

// Whole rows are added up at once: their bytes lie side by side.
Image with_height(const Image& in, int64_t height, const Kernel& kernel) {
  if (height == in.height) return in;
  const int64_t row = in.width * in.channels;
  Image out{height, in.width, in.channels, std::vector<uint8_t>(static_cast<size_t>(height * row))};
  std::vector<int32_t> sums;
  for (int64_t y = 0; y < height; ++y) {
    const Window window = window_at(y, in.height, height, kernel);
    sums.assign(static_cast<size_t>(row), kHalf);
    for (int64_t i = 0; i < window.count; ++i) {
      const uint8_t* from = in.row(window.first + i);
      for (int64_t j = 0; j < row; ++j) sums[static_cast<size_t>(j)] += from[j] * window.weights[static_cast<size_t>(i)];
    }
    std::transform(sums.begin(), sums.end(), out.row(y), rounded);
  }
  return out;
}

// Where the pixels of the result are taken from: the middles, summed up one by one as the reference does; `in` where rounding ends beyond.
std::vector<int64_t> middles(int64_t in, int64_t out) {
  const double step = static_cast<double>(in) / static_cast<double>(out);
  std::vector<int64_t> places;
  double at = step * 0.5;
  for (int64_t i = 0; i < out; ++i, at += step) places.push_back(std::min(static_cast<int64_t>(at), in));
  return places;
}

Image nearest_of(const Image& in, int64_t height, int64_t width) {
  Image out{height, width, in.channels, std::vector<uint8_t>(static_cast<size_t>(height * width * in.channels))};
  const std::vector<int64_t> rows = middles(in.height, height), columns = middles(in.width, width);
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const int64_t row = rows[static_cast<size_t>(y)], column = columns[static_cast<size_t>(x)];
      if (row < in.height && column < in.width) std::copy_n(in.row(row) + column * in.channels, in.channels, out.row(y) + x * in.channels);
    }
  return out;
}

// Whether columns come first, because more than twice as many rows as columns fall away. What is rounded between the two depends on it.
bool loses_rows_first(const Image& in, int64_t height, int64_t width) { return in.height > height && in.height - height > 2 * (in.width - width); }

}  // namespace

Image resized(const Image& image, int64_t height, int64_t width, Filter filter) {
  ROTE_ASSERT(height > 0 && width > 0 && image.height > 0 && image.width > 0, "images have pixels");
  if (height == image.height && width == image.width) return image;
  if (filter == Filter::nearest) return nearest_of(image, height, width);
  const Kernel kernel = kernel_of(filter);
  if (loses_rows_first(image, height, width)) return with_width(with_height(image, height, kernel), width, kernel);
  return with_height(with_width(image, width, kernel), height, kernel);
}

}  // namespace rote::data
