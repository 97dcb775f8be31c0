#include "trainer/speed.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "tensor/alloc.h"
#include "trainer/python_text.h"

namespace rote {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Stopwatch::Stopwatch() : begun_(now()) {}

double Stopwatch::seconds() const { return now() - begun_; }

Metrics memory_in_gb(int64_t limit) {
  const auto gb = [](int64_t bytes) { return rounded(static_cast<double>(bytes) / (1 << 30), 2); };
  const MemoryFigures figures = memory_figures();
  const int64_t available = limit > 0 ? std::min(limit, machine_memory()) : machine_memory();
  return {{"memory_allocated", gb(figures.in_use)}, {"max_memory_allocated", gb(figures.peak)}, {"total_memory_available", gb(available)}};
}

void MemoryWatch::begin(const char* stage) {
  if (!on_ || stage_ != nullptr) return;
  stage_ = stage;
  reset_peak();
  begun_ = memory_figures().in_use;
}

MemoryWatch::Figures MemoryWatch::finish() const {
  const MemoryFigures figures = memory_figures();
  return {begun_, figures.in_use - begun_, std::max<int64_t>(figures.peak - figures.in_use, 0)};
}

void MemoryWatch::end_init() {
  if (!on_) return;
  init_ = finish();
  stage_ = nullptr;
}

void MemoryWatch::end(const char* stage, Metrics& metrics) {
  if (!on_ || stage_ == nullptr || std::strcmp(stage_, stage) != 0) return;
  const auto set = [&](const char* name, const Figures& figures) {
    metrics.set(std::string(name) + "_mem_cpu_alloc_delta", figures.alloc_delta);
    metrics.set(std::string(name) + "_mem_cpu_peaked_delta", figures.peaked_delta);
  };
  const Figures figures = finish();
  stage_ = nullptr;
  if (init_) set("init", *init_);
  set(stage, figures);
  if (init_) metrics.set("before_init_mem_cpu", init_->begun);
  init_.reset();
}

}  // namespace rote
