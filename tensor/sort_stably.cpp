#include "tensor/sort_stably.h"

#include <algorithm>
#include <numeric>

namespace rote {

std::vector<size_t> stable_order(size_t n, const std::function<bool(size_t, size_t)>& less) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return less(a, b); });
  return order;
}

}  // namespace rote
