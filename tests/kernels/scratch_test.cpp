// tests/kernels/scratch_test.cpp — working memory: aligned, not shared while in use, kept between calls.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "kernels/check.h"
#include "kernels/scratch.h"

using namespace rote;

TEST_CASE("scratch: buffers in use are aligned and do not overlap") {
  std::vector<unsigned char*> taken;
  std::vector<int64_t> sizes = {1, 63, 64, 5000, 100000, 1, 1 << 20, 7, 4096};
  for (size_t i = 0; i < sizes.size(); ++i) {
    taken.push_back(static_cast<unsigned char*>(take_scratch(sizes[i])));
    CHECK(reinterpret_cast<uintptr_t>(taken[i]) % 64 == 0);
    std::memset(taken[i], static_cast<int>(i + 1), static_cast<size_t>(sizes[i]));
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    CHECK(taken[i][0] == i + 1);
    CHECK(taken[i][sizes[i] - 1] == i + 1);
    give_scratch(taken[i]);
  }
}

TEST_CASE("scratch: a thread gets its own buffer back, the smallest that fits") {
  // A thread of its own starts without buffers from other tests.
  bool same_small = false, same_large = false, grown_is_new = false;
  std::thread([&] {
    void* large = take_scratch(1 << 20);
    void* small = take_scratch(1000);
    give_scratch(large);
    give_scratch(small);
    void* again = take_scratch(900);
    same_small = again == small;
    void* big = take_scratch(1 << 19);
    same_large = big == large;
    void* larger = take_scratch(1 << 22);
    grown_is_new = larger != large && larger != small;
    for (void* memory : {again, big, larger}) give_scratch(memory);
  }).join();
  CHECK(same_small);
  CHECK(same_large);
  CHECK(grown_is_new);
}

// The sanitizers' allocators end the program where malloc returns nothing.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
TEST_CASE("scratch: more memory than there is raises MemoryError") {
  std::string text;
  try {
    give_scratch(take_scratch(int64_t{1} << 60));
  } catch (const MemoryError& error) {
    text = error.what();
  }
  CHECK(text.find("scratch: the system refused ") == 0);
  CHECK(text.find(" bytes of working memory. Smaller batches need less.") != std::string::npos);
}
#endif
