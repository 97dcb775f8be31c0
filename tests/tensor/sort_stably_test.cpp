// tests/tensor/sort_stably_test.cpp — the order of std::stable_sort, for items that can only be moved too.
#include "tensor/sort_stably.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

using namespace rote;

TEST_CASE("sort_stably: equal items keep their order, as std::stable_sort has it") {
  uint32_t state = 7;
  for (const size_t n : {0, 1, 2, 3, 17, 300}) {
    std::vector<std::pair<uint32_t, size_t>> items;
    for (size_t i = 0; i < n; ++i) items.emplace_back((state = state * 1664525u + 1013904223u) >> 29, i);
    std::vector<std::pair<uint32_t, size_t>> want = items;
    const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(want.begin(), want.end(), less);
    sort_stably(items, less);
    CHECK(items == want);
  }
}

TEST_CASE("sort_stably: moves items, and leaves them where the comparison throws") {
  std::vector<std::unique_ptr<std::string>> texts;
  for (const char* text : {"b", "c", "a"}) texts.push_back(std::make_unique<std::string>(text));
  CHECK_THROWS_AS(sort_stably(texts, [](const auto&, const auto&) -> bool { throw std::invalid_argument("no order"); }), std::invalid_argument);
  REQUIRE(texts[1] != nullptr);
  CHECK(*texts[1] == "c");
  sort_stably(texts, [](const auto& a, const auto& b) { return *a > *b; });
  CHECK(*texts[0] == "c");
  CHECK(*texts[2] == "a");
}

TEST_CASE("stable_order: indices in the order of what they name") {
  const std::vector<double> x = {3, 1, 2, 1};
  CHECK(stable_order(x.size(), [&](size_t a, size_t b) { return x[a] < x[b]; }) == std::vector<size_t>{1, 3, 2, 0});
}
