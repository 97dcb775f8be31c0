// tests/kernels/pool_test.cpp — regions: every task once, whoever submits; and the floating-point control word around them.
#include <doctest/doctest.h>

#include <atomic>
#include <cfenv>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kernels/check.h"
#include "kernels/pool.h"
#include "tests/support/hostile_control.h"

namespace {

using namespace rote;

struct ThreadLimit {
  explicit ThreadLimit(int threads) { set_num_threads(threads); }
  ~ThreadLimit() { set_num_threads(0); }
};

// fegetround would not do: on x86-64 it reads the x87 word, which no kernel uses.
bool rounds_to_nearest() {
  volatile float one = 1.0f, little = 1e-10f;
  return one + little == 1.0f;
}

std::vector<int> runs_of_each_task(int64_t tasks) {
  std::vector<std::atomic<int>> runs(static_cast<size_t>(tasks));
  parallel(tasks, [&](int64_t task) {
    runs[static_cast<size_t>(task)].fetch_add(1);
    return 0u;
  });
  return std::vector<int>(runs.begin(), runs.end());
}

}  // namespace

TEST_CASE("pool: every task runs once, with any number of threads") {
  for (int threads : {1, 2, 3, 5, 8}) {
    ThreadLimit limit(threads);
    for (int64_t tasks : {0, 1, 2, 7, 1000}) {
      for (int repeat = 0; repeat < 20; ++repeat) CHECK(runs_of_each_task(tasks) == std::vector<int>(static_cast<size_t>(tasks), 1));
    }
  }
}

TEST_CASE("pool: a region returns the largest value of its bodies") {
  for (int threads : {1, 2, 5}) {
    ThreadLimit limit(threads);
    CHECK(parallel(100, [](int64_t task) { return static_cast<uint32_t>(task == 37 ? 0x7FC00000u : task); }) == 0x7FC00000u);
    CHECK(parallel(0, [](int64_t) { return 1u; }) == 0u);
  }
}

TEST_CASE("pool: a region is worked on by as many threads as the limit says, and no more") {
  for (int threads : {2, 3, 5, 8}) {
    ThreadLimit limit(threads);
    // Every body waits until all are inside: this ends only if each has a thread of its own.
    std::atomic<int> inside{0};
    parallel(threads, [&](int64_t) {
      inside.fetch_add(1);
      while (inside.load() < threads) std::this_thread::yield();
      return 0u;
    });
    CHECK(inside.load() == threads);

    std::mutex mutex;
    std::set<std::thread::id> seen;
    parallel(200, [&](int64_t) {
      std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
      return 0u;
    });
    CHECK(seen.size() <= static_cast<size_t>(threads));
  }
}

TEST_CASE("pool: a region inside a body runs on the body's thread") {
  ThreadLimit limit(3);
  std::atomic<int> inner{0}, elsewhere{0};
  parallel(20, [&](int64_t) {
    const std::thread::id own = std::this_thread::get_id();
    parallel(10, [&](int64_t) {
      inner.fetch_add(1);
      if (std::this_thread::get_id() != own) elsewhere.fetch_add(1);
      return 0u;
    });
    return 0u;
  });
  CHECK(inner.load() == 200);
  CHECK(elsewhere.load() == 0);
}

TEST_CASE("pool: threads that submit at the same time all get their own results") {
  std::atomic<int> wrong{0};
  std::vector<std::thread> submitters;
  for (int s = 0; s < 5; ++s) {
    submitters.emplace_back([&wrong, s] {
      set_num_threads(1 + s);
      for (int region = 0; region < 200; ++region) {
        std::atomic<int64_t> sum{0};
        const uint32_t largest = parallel(s + 20, [&](int64_t task) {
          sum.fetch_add(task);
          return static_cast<uint32_t>(task * region);
        });
        const int64_t last = s + 19;
        if (sum.load() != last * (last + 1) / 2 || largest != static_cast<uint32_t>(last * region)) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& submitter : submitters) submitter.join();
  CHECK(wrong.load() == 0);
}

TEST_CASE("pool: the limit belongs to the thread that set it") {
  ThreadLimit limit(3);
  int elsewhere = 0;
  std::thread([&] { elsewhere = num_threads(); }).join();
  CHECK(num_threads() == 3);
  CHECK(elsewhere >= 1);
  set_num_threads(0);
  CHECK(num_threads() == elsewhere);
}

TEST_CASE("pool: a negative number of threads is refused") {
  std::string text;
  try {
    set_num_threads(-1);
  } catch (const ArgumentError& error) {
    text = error.what();
  }
  CHECK(text == "set_num_threads: threads is -1; it must be 0 (one per core) to 1024.");
}

TEST_CASE("pool: the hook hears of every task before its body") {
  static std::atomic<int64_t> announced;
  for (int threads : {1, 3}) {
    ThreadLimit limit(threads);
    announced = 0;
    set_task_hook([](int64_t task) { announced.fetch_add(task + 1); });
    parallel(10, [](int64_t) { return 0u; });
    set_task_hook(nullptr);
    parallel(10, [](int64_t) { return 0u; });
    CHECK(announced.load() == 55);
  }
}

// The host's rounding mode is not the kernels': bodies see the default on every thread, the host finds its own afterwards.
TEST_CASE("pool: bodies round to nearest under a host that rounds up") {
  for (int threads : {1, 2, 5}) {
    ThreadLimit limit(threads);
    std::fesetround(FE_UPWARD);
    std::atomic<int> wrong{0};
    parallel(50, [&](int64_t) {
      if (!rounds_to_nearest()) wrong.fetch_add(1);
      parallel(2, [&](int64_t) {
        if (!rounds_to_nearest()) wrong.fetch_add(1);
        return 0u;
      });
      return 0u;
    });
    const bool upward_after = !rounds_to_nearest();
    std::fesetround(FE_TONEAREST);
    CHECK(upward_after);
    CHECK(wrong.load() == 0);
  }
}

TEST_CASE("with_default_control: what the body leaves changed is put right, and a hostile host finds its own word") {
  bool nearest = false;
  with_default_control([] { rote::testing::set_hostile_control(); });
  with_default_control([&] { nearest = rounds_to_nearest(); });
  CHECK(nearest);
  CHECK(rounds_to_nearest());
  rote::testing::set_hostile_control();
  with_default_control([] { rote::testing::set_default_control(); });
  const bool hostile = rote::testing::has_hostile_control();
  rote::testing::set_default_control();
  CHECK(hostile);
}

#if defined(__x86_64__)
TEST_CASE("pool: bodies keep subnormals under a host that flushes them") {
  constexpr unsigned kFlush = 0x8000, kSubnormalsAreZero = 0x0040;
  for (int threads : {1, 3}) {
    ThreadLimit limit(threads);
    const unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | kFlush | kSubnormalsAreZero);
    std::atomic<int> flushed{0};
    parallel(50, [&](int64_t) {
      volatile float tiny = 1e-40f;
      if (tiny * 0.5f == 0.0f) flushed.fetch_add(1);
      return 0u;
    });
    const unsigned after = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before);
    CHECK((after & (kFlush | kSubnormalsAreZero)) == (kFlush | kSubnormalsAreZero));
    CHECK(flushed.load() == 0);
  }
}
#endif
