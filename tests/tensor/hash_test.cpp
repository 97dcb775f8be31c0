// tests/tensor/hash_test.cpp — SHA-256 against FIPS 180-4's examples, and what the hash of tensors depends on.
#include <doctest/doctest.h>

#include <cmath>

#include "tensor/hash.h"

using namespace rote;

TEST_CASE("sha256: the examples of FIPS 180-4") {
  Sha256 abc;
  abc.add("abc");
  CHECK(abc.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 empty_text;
  CHECK(empty_text.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 million;
  for (int i = 0; i < 1000; ++i) million.add(std::string(1000, 'a'));
  CHECK(million.hex() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("hash_tensors: order, layout and the payload of a NaN do not matter; name, shape and values do") {
  const Tensor a = from_values({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor b = from_values({2}, std::vector<float>{1, NAN});
  const std::string hash = hash_tensors({{"a", a}, {"b", b}});
  CHECK(hash == hash_tensors({{"b", b}, {"a", a}}));
  const Tensor memory = from_values({3, 2}, std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(hash == hash_tensors({{"a", alias(memory, {2, 3}, {1, 2}, 0)}, {"b", from_values({2}, std::vector<float>{1, -NAN})}}));
  CHECK(hash != hash_tensors({{"a", alias(a, {3, 2}, {2, 1}, 0)}, {"b", b}}));
  CHECK(hash != hash_tensors({{"a", a}, {"c", b}}));
}
