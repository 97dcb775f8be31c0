// kernels/pool.cpp — the worker threads, how a region reaches them, and the floating-point control word around bodies. No loops, no math.
//
// 1. `state` holds free seats (low half) and workers inside (high half). A worker reads the region only between taking a seat and
//    leaving; the submitter writes it only while state is 0. No generation number: a late worker can only join what is open now.
// 2. The pool is never destroyed: at process exit its workers sleep and hold nothing that a static destructor could free.
#include "kernels/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "kernels/check.h"

namespace rote {

namespace {

constexpr int kMaxThreads = 1024;
constexpr auto kSpin = std::chrono::microseconds(50);  // longer than the gap between two ops of a step, shorter than anyone would notice
constexpr uint32_t kSeatMask = 0xFFFF;
constexpr uint32_t kInside = 0x10000;

// The control word: rounding, flush and trap bits. The mask leaves sticky exception flags out, every inexact result sets one.
#if defined(__x86_64__)
using ControlWord = uint32_t;
constexpr ControlWord kDefaultControl = 0x1F80, kControlMask = 0xFFC0;
ControlWord read_control() { return __builtin_ia32_stmxcsr(); }
void write_control(ControlWord word) { __builtin_ia32_ldmxcsr(word); }
#elif defined(__aarch64__)
using ControlWord = uint64_t;
constexpr ControlWord kDefaultControl = 0, kControlMask = ~ControlWord{0};
ControlWord read_control() {
  ControlWord word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
void write_control(ControlWord word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
#error "kernels/pool.cpp: this processor's floating-point control word is not known here; add it beside x86-64 and aarch64."
#endif

void warn_once() {
  static std::atomic_flag warned;
  if (warned.test_and_set()) return;
  std::fputs(
      "rote: the calling thread has a changed rounding mode or flushes subnormals; kernels run with IEEE defaults and restore it afterwards.\n",
      stderr);
}

// What a body threw first; the submitter throws it again once every thread has left the region.
struct Failure {
  std::mutex mutex;
  std::exception_ptr first;

  void keep(std::exception_ptr thrown) {
    const std::lock_guard lock(mutex);
    if (!first) first = std::move(thrown);
  }
};

struct Region {
  TaskBody body = nullptr;
  const void* context = nullptr;
  int64_t tasks = 0;
  Failure* failure = nullptr;
};

struct Pool {
  std::mutex submitting;  // held by the thread whose region runs
  int workers = 0;        // guarded by submitting

  Region region;
  std::atomic<int64_t> next{0};
  std::atomic<uint32_t> largest{0};
  alignas(64) std::atomic<uint32_t> state{0};

  std::mutex sleeping;
  std::condition_variable wake;
  std::atomic<int> sleepers{0};
};

Pool& pool() {
  static Pool* const pool = new Pool;
  return *pool;
}

std::atomic<void (*)(int64_t)> task_hook{nullptr};
thread_local int thread_limit = 0;
thread_local bool inside_region = false;

int cores() {
  static const int count = [] {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);  // more cores than cpu_set_t has bits
  }();
  return count;
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

template <class F>
bool spin_until(const F& done) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Takes tasks until none is left. What a body throws ends the region for all and is kept. The body is
// reached through its pointer between two writes of the control word: no compiler can
// move arithmetic across.
uint32_t run_tasks(const Region& region, std::atomic<int64_t>& next) noexcept {
  const ControlWord host = read_control();
  const bool foreign = (host & kControlMask) != kDefaultControl;
  if (foreign) {
    warn_once();
    write_control(kDefaultControl);
  }
  const bool nested = inside_region;
  inside_region = true;
  const auto hook = task_hook.load(std::memory_order_relaxed);
  uint32_t largest = 0;
  for (;;) {
    const int64_t task = next.fetch_add(1, std::memory_order_relaxed);
    if (task >= region.tasks) break;
    if (hook) hook(task);
    try {
      largest = std::max(largest, region.body(region.context, task));
    } catch (...) {
      region.failure->keep(std::current_exception());
      next.store(region.tasks, std::memory_order_relaxed);
    }
  }
  inside_region = nested;
  if (foreign) write_control(host);
  return largest;
}

void keep_largest(std::atomic<uint32_t>& largest, uint32_t value) {
  uint32_t seen = largest.load(std::memory_order_relaxed);
  while (seen < value && !largest.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

bool take_seat(Pool& p) {
  uint32_t seen = p.state.load();
  while (seen & kSeatMask) {
    if (p.state.compare_exchange_weak(seen, seen - 1 + kInside)) return true;
  }
  return false;
}

void work(Pool& p) {
  const auto open = [&p] { return (p.state.load() & kSeatMask) != 0; };
  for (;;) {
    if (take_seat(p)) {
      keep_largest(p.largest, run_tasks(p.region, p.next));
      p.state.fetch_sub(kInside);
    } else if (!spin_until(open)) {
      std::unique_lock lock(p.sleeping);
      p.sleepers.fetch_add(1);  // before the last look at state: a submitter sees the sleeper or the sleeper sees the seats
      p.wake.wait(lock, open);
      p.sleepers.fetch_sub(1);
    }
  }
}

// Starts workers up to `wanted`; fewer where the system refuses, which changes no result.
void start_workers(Pool& p, int wanted) {
  if (p.workers >= wanted) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the host's threads
  try {
    for (; p.workers < wanted; ++p.workers) std::thread(work, std::ref(p)).detach();
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void open_seats(Pool& p, int seats) {
  p.state.store(static_cast<uint32_t>(seats));
  const int asleep = p.sleepers.load();
  if (asleep == 0) return;
  { std::lock_guard lock(p.sleeping); }  // a sleeper between its look at state and its wait holds this lock
  for (int i = std::min(asleep, seats); i > 0; --i) p.wake.notify_one();
}

void close_seats(Pool& p) {
  p.state.fetch_and(~kSeatMask);
  const auto empty = [&p] { return p.state.load() == 0; };
  if (p.workers < cores() && spin_until(empty)) return;
  while (!empty()) std::this_thread::yield();  // more threads than cores, or a long last task
}

}  // namespace

void set_num_threads(int threads) {
  ROTE_CHECK(threads >= 0 && threads <= kMaxThreads, ArgumentError, "set_num_threads: threads is ", threads, "; it must be 0 (one per core) to ",
             kMaxThreads, ".");
  thread_limit = threads;
}

int num_threads() { return thread_limit ? thread_limit : cores(); }

uint32_t parallel(int64_t tasks, TaskBody body, const void* context) {
  Failure failure;
  const Region region{body, context, tasks, &failure};
  const int64_t threads = std::min<int64_t>(num_threads(), tasks);
  if (threads <= 1 || inside_region) {
    std::atomic<int64_t> next{0};
    const uint32_t largest = run_tasks(region, next);
    if (failure.first) std::rethrow_exception(failure.first);
    return largest;
  }
  Pool& p = pool();
  std::lock_guard lock(p.submitting);
  start_workers(p, static_cast<int>(threads) - 1);
  p.region = region;
  p.next.store(0);
  p.largest.store(0);
  open_seats(p, static_cast<int>(threads) - 1);
  const uint32_t own = run_tasks(p.region, p.next);
  close_seats(p);
  if (failure.first) std::rethrow_exception(failure.first);
  return std::max(own, p.largest.load());
}

namespace {

// Puts the host's control word back, also when a body throws or has changed it.
class HostControl {
 public:
  HostControl() : host_(read_control()), foreign_((host_ & kControlMask) != kDefaultControl) {
    if (!foreign_) return;
    warn_once();
    write_control(kDefaultControl);
  }
  ~HostControl() {
    if (foreign_ || (read_control() & kControlMask) != kDefaultControl) write_control(host_);
  }
  HostControl(const HostControl&) = delete;
  HostControl& operator=(const HostControl&) = delete;

 private:
  ControlWord host_;
  bool foreign_;
};

}  // namespace

void with_default_control(void (*body)(void*), void* context) {
  const HostControl guard;
  body(context);
}

void set_task_hook(void (*hook)(int64_t task)) { task_hook.store(hook); }

}  // namespace rote
