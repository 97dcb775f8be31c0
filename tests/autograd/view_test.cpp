// tests/autograd/view_test.cpp — which layouts are views of which.
#include <doctest/doctest.h>

#include "autograd/ops.h"

using namespace rote;

TEST_CASE("reshape: an axis of size 1 with a stride of its own is no bar and no guide") {
  const Tensor x = from_values({2}, std::vector<int64_t>{1, 2});
  const Tensor y = contiguous(reshape(expand(reshape(x, {2, 1}), {3, 2, 1}), {6}));
  for (int64_t i = 0; i < 6; ++i) CHECK(y.data<int64_t>()[i] == 1 + i % 2);
}
