// kernels/pool.h — the one thread pool of the process. Borders of tasks are the caller's and never depend on the thread count.
//
// 1. Any thread may submit; regions submitted by different threads run one after the other; a nested region runs inline.
// 2. The floating-point control word (rounding to nearest, no flush to zero) is saved, set and restored around every task body.
// 3. What a body throws ends the region; the submitter gets the first of it when every thread has left.
#pragma once

#include <cstdint>
#include <type_traits>

namespace rote {

// The calling thread's limit of threads for its regions, itself included. 0: one per core that the process may use.
void set_num_threads(int threads);
int num_threads();

using TaskBody = uint32_t (*)(const void* context, int64_t task);

// Runs body(context, 0 … tasks-1), each once, in any order; returns the largest value that a body returned (0 for tasks = 0).
// The values are amax words (arithmetic.md 9): an unsigned maximum does not depend on the order.
uint32_t parallel(int64_t tasks, TaskBody body, const void* context);

template <class F>
inline uint32_t parallel(int64_t tasks, const F& f) {
  return parallel(
      tasks, [](const void* context, int64_t task) -> uint32_t { return (*static_cast<const F*>(context))(task); }, &f);
}

// Runs body(context) on this thread under the control word of rule 2: for arithmetic outside of a region that a run's bits depend on. The call goes
// through the pointer, so no compiler moves arithmetic out of it. Around a user's code it puts right what that code may have left changed.
void with_default_control(void (*body)(void*), void* context);

template <class F>
inline void with_default_control(F&& f) {
  with_default_control([](void* context) { (*static_cast<std::remove_reference_t<F>*>(context))(); }, &f);
}

// Test hook: called with the task index before each body (random sleeps at task borders). nullptr: none.
void set_task_hook(void (*hook)(int64_t task));

}  // namespace rote
