#include "trainer/profile.h"

#include <filesystem>

#include "autograd/status.h"
#include "kernels/check.h"
#include "kernels/table.h"
#include "tensor/file.h"

namespace rote {

namespace {

using Clock = std::chrono::steady_clock;

std::string microseconds(Clock::duration d) { return std::to_string(std::chrono::duration<double, std::micro>(d).count()); }

}  // namespace

Profile::Part::Part(Profile* profile, const char* name) : profile_(profile != nullptr && profile->timer_ ? profile : nullptr), name_(name) {
  if (profile_ != nullptr) begun_ = Clock::now();
}

Profile::Part::~Part() {
  if (profile_ != nullptr) profile_->recorded_.push_back({name_, "", "trainer", begun_, Clock::now()});
}

void Profile::begin_step() {
  ++step_;
  if (step_ <= window_.warmup || step_ > window_.warmup + window_.steps) return;
  if (!timer_) timer_.emplace([this](const OpSpan& span) { record(span); });
  step_begun_ = Clock::now();
}

void Profile::record(const OpSpan& span) {
  std::string arguments = str("\"module\":\"", status_path(span.path), "\"");
  if (window_.shapes) {
    arguments += ",\"shapes\":\"";
    for (const Shape& shape : span.shapes) arguments += str(shape);
    arguments += "\"";
  }
  recorded_.push_back({span.op, std::move(arguments), span.phase == Phase::forward ? "forward" : "backward", span.begun, span.ended});
}

void Profile::end_step() {
  if (!timer_) return;
  recorded_.push_back({str("step ", step_), "", "trainer", step_begun_, Clock::now()});
  if (step_ == window_.warmup + window_.steps) finish();
}

void Profile::finish() {
  if (!timer_) return;
  timer_.reset();
  write();
  recorded_ = {};
}

// The trace event format: complete events ("X"), times in microseconds.
void Profile::write() const {
  const std::filesystem::path folder = std::filesystem::path(file_).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  ROTE_CHECK(!error, IoError, "profile: cannot create ", folder.string(), ": ", error.message(), ".");
  Clock::time_point first = Clock::time_point::max();
  for (const Recorded& one : recorded_) first = std::min(first, one.begun);
  std::string text = str("{\"otherData\":{\"kernels\":\"", kernels<float>().isa, "\"},\"traceEvents\":[");
  for (const Recorded& one : recorded_) {
    text += str(&one == &recorded_.front() ? "\n" : ",\n", "{\"name\":\"", one.name, "\",\"cat\":\"", one.category, "\",\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":",
                microseconds(one.begun - first), ",\"dur\":", microseconds(one.ended - one.begun), ",\"args\":{", one.arguments, "}}");
  }
  write_file(file_, text + "\n]}\n");
}

}  // namespace rote
