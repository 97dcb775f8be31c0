// trainer/profile.h — a chrome trace of some steps: every op forward and backward, and the parts of a step (open in chrome://tracing or Perfetto).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autograd/op_timer.h"

namespace rote {

// Which steps are watched: `steps` of them after `warmup`. A step is an update, in an evaluation a batch.
struct ProfileWindow {
  int64_t warmup = 0, steps = 0;  // steps = 0: none
  bool shapes = true;             // of the inputs of each op
};

class Profile {
 public:
  // The trace goes into `file`, whose folder is made, when its last step is done.
  Profile(std::string file, const ProfileWindow& window) : file_(std::move(file)), window_(window) {}
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  void begin_step();
  // Throws IoError where the trace cannot be written.
  void end_step();
  // Writes what is there where the steps were fewer.
  void finish();

  // A part of a step, from construction to destruction. `profile` may be nullptr.
  class Part {
   public:
    Part(Profile* profile, const char* name);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Profile* profile_;  // where it records
    const char* name_;
    std::chrono::steady_clock::time_point begun_;
  };

 private:
  struct Recorded {
    std::string name, arguments;
    const char* category;
    std::chrono::steady_clock::time_point begun, ended;
  };
  void record(const OpSpan& span);
  void write() const;

  std::string file_;
  ProfileWindow window_;
  int64_t step_ = 0;  // begun so far
  std::vector<Recorded> recorded_;
  std::optional<OpTimer> timer_;
  std::chrono::steady_clock::time_point step_begun_;
};

}  // namespace rote
