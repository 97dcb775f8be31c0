// trainer/speed.h — what a run or an evaluation costs: its time, with and without warm-up and interruptions, and its memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trainer/state.h"

namespace rote {

// Time since its construction, and what of it rates leave out: all before mark(), and what pause() has measured since.
class Stopwatch {
 public:
  Stopwatch();
  double seconds() const;
  double left_out() const { return left_out_; }
  // The warm-up ends here.
  void mark() {
    left_out_ = seconds();
    is_marked_ = true;
  }
  bool is_marked() const { return is_marked_; }

  // Measures from construction to destruction what is no work of the run.
  class Pause {
   public:
    Pause(Stopwatch& watch, bool on) : watch_(watch), begun_(on ? watch.seconds() : -1) {}
    ~Pause() {
      if (begun_ >= 0) watch_.left_out_ += watch_.seconds() - begun_;
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Stopwatch& watch_;
    double begun_;
  };

 private:
  double begun_;
  double left_out_ = 0;
  bool is_marked_ = false;
};

// memory_allocated, max_memory_allocated and total_memory_available of tensors as they are now, in 2^30 bytes with 2 decimals. limit: bytes, 0 for that of
// the machine.
Metrics memory_in_gb(int64_t limit);

// Host memory by the allocator's counters over the stages init, train, eval and test. A stage inside another is part of that one.
class MemoryWatch {
 public:
  explicit MemoryWatch(bool on) : on_(on) {}
  void begin(const char* stage);
  // Adds <stage>_mem_cpu_alloc_delta, what the stage left behind, and _peaked_delta, what it needed beyond that, in bytes; before the first
  // of them those of init, with before_init_mem_cpu behind.
  void end(const char* stage, Metrics& metrics);
  void end_init();

 private:
  struct Figures {
    int64_t begun = 0, alloc_delta = 0, peaked_delta = 0;
  };
  Figures finish() const;

  bool on_;
  const char* stage_ = nullptr;
  int64_t begun_ = 0;
  std::optional<Figures> init_;  // until it is reported
};

}  // namespace rote
