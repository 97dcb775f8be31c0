// tests/trainer/golden_job_test.cpp — the golden job has its published links however its rows and products are cut, on any thread count, under a
// hostile host.
#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <thread>

#include "kernels/blocks.h"
#include "kernels/check.h"
#include "kernels/pool.h"
#include "tests/support/hostile_control.h"
#include "trainer/golden_job.h"

namespace rote::testing {

namespace {

constexpr int64_t kSteps = 3;

std::vector<std::string> published(int64_t steps, DType dtype = DType::f32) {
  const auto links = golden_links(dtype);
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

TEST_CASE("golden job: in bf16 and f16 too, past the update that overflows and is skipped") {
  constexpr int64_t kPastOverflow = 9;
  for (const DType dtype : {DType::bf16, DType::f16}) {
    CHECK(golden_links(dtype).size() == 50);
    for (const int64_t micro_batch : {1, 4, 12}) {
      CAPTURE(micro_batch);
      CHECK(run_golden_job({.steps = kPastOverflow, .micro_batch = micro_batch, .dtype = dtype}) == published(kPastOverflow, dtype));
    }
  }
  CHECK_THROWS_WITH_AS(run_golden_job({.dtype = DType::f64}), "golden job: f64 is not one of its dtypes; they are f32, bf16 and f16.", ArgumentError);
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

// Sizes from one row or element to more than the job has; one task in eight sleeps.
TEST_CASE("golden job: blocks of random sizes and tasks that sleep at random borders move no bit") {
  const int before = num_threads();
  const GemmBlocks usual = gemm_blocks;
  std::mt19937 source(11);
  set_task_hook([](int64_t) {
    thread_local std::minstd_rand own(static_cast<uint32_t>(std::hash<std::thread::id>{}(std::this_thread::get_id())));
    if (const auto word = own(); word % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(word / 8 % 60));
  });
  for (const int threads : {1, 2, 3, 5, 8}) {
    const auto any = [&source](int64_t highest) { return 1 + static_cast<int64_t>(source() % static_cast<uint64_t>(highest)); };
    gemm_blocks = {.k_rows = any(300), .shared_b = any(20000), .private_a = any(20000), .task_work = any(100000), .shared_work = any(2000000)};
    CAPTURE(threads);
    CAPTURE(gemm_blocks.k_rows);
    CAPTURE(gemm_blocks.task_work);
    set_num_threads(threads);
    CHECK(run_golden_job({.steps = kSteps}) == published(kSteps));
  }
  set_task_hook(nullptr);
  gemm_blocks = usual;
  set_num_threads(before);
}

TEST_CASE("golden job: a host that rounds up and flushes small numbers moves no bit, and keeps its ways") {
  set_hostile_control();
  const std::vector<std::string> links = run_golden_job({.steps = kSteps});
  const bool kept = has_hostile_control();
  set_default_control();
  CHECK(kept);
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
