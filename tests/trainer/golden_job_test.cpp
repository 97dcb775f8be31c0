// tests/trainer/golden_job_test.cpp — the golden job has its published links however its rows are cut, on any thread count, under a hostile host.
#include <doctest/doctest.h>

#include <cfenv>

#include "kernels/check.h"
#include "kernels/pool.h"
#include "trainer/golden_job.h"
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace rote::testing {

namespace {

constexpr int64_t kSteps = 3;

std::vector<std::string> published(int64_t steps) {
  const auto links = golden_links();
  return {links.begin(), links.begin() + steps};
}

}  // namespace

TEST_CASE("golden job: the links are the published ones for every cut into powers of two") {
  CHECK(golden_links().size() == 50);
  for (const int64_t micro_batch : {1, 2, 4, 8, 12, 100}) {
    CAPTURE(micro_batch);
    CHECK(run_golden_job({.steps = kSteps, .micro_batch = micro_batch}) == published(kSteps));
  }
}

TEST_CASE("golden job: the links are the published ones for every thread count") {
  const int before = num_threads();
  for (const int threads : {1, 2, 3, 5, 8}) {
    CAPTURE(threads);
    set_num_threads(threads);
    CHECK(run_golden_job({.steps = kSteps}) == published(kSteps));
  }
  set_num_threads(before);
}

TEST_CASE("golden job: a host that rounds up and flushes small numbers moves no bit") {
  std::fesetround(FE_UPWARD);
#if defined(__SSE__)
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
#endif
  const std::vector<std::string> links = run_golden_job({.steps = kSteps});
#if defined(__SSE__)
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK((after & 0x8040) == 0x8040);
#endif
  const bool upward = std::fegetround() == FE_UPWARD;
  std::fesetround(FE_TONEAREST);
  CHECK(upward);
  CHECK(links == published(kSteps));
}

TEST_CASE("golden job: the first step that differs is named") {
  const char* const published[] = {"a", "b", "c"};
  const auto parted = [&](std::vector<std::string> links) { return first_difference(links, published).value_or(0); };
  CHECK(parted({}) == 0);
  CHECK(parted({"a", "b"}) == 0);
  CHECK(parted({"a", "b", "c"}) == 0);
  CHECK(parted({"x", "b", "c"}) == 1);
  CHECK(parted({"a", "b", "x"}) == 3);
  CHECK(parted({"a", "b", "c", "d"}) == 4);
}

TEST_CASE("golden job: negative steps and empty micro-batches are refused") {
  CHECK_THROWS_WITH_AS(run_golden_job({.steps = -1}), "golden job: -1 steps in micro-batches of 4 rows; give at least 0 and 1.", ArgumentError);
  CHECK_THROWS_AS(run_golden_job({.steps = 1, .micro_batch = 0}), ArgumentError);
  CHECK(run_golden_job({.steps = 0}).empty());
}

}  // namespace rote::testing
