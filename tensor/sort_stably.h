// tensor/sort_stably.h — std::stable_sort of a vector of anything by one compiled sort: programs that sort many kinds of short lists stay small.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace rote {

// 0 … n - 1 by less(i, j), equal ones in their order.
std::vector<size_t> stable_order(size_t n, const std::function<bool(size_t, size_t)>& less);

// An exception of `less` leaves the items as they were.
template <class T, class Less>
void sort_stably(std::vector<T>& items, const Less& less) {
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const size_t i : stable_order(items.size(), [&](size_t a, size_t b) { return less(items[a], items[b]); })) sorted.push_back(std::move(items[i]));
  items = std::move(sorted);
}

}  // namespace rote
