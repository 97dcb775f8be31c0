// trainer/apps/conformance/report.cpp — the lines of a run, on standard output.
#include "trainer/apps/conformance/report.h"

#include <cinttypes>
#include <cstdio>

namespace rote::conformance {

void Report::pass(const std::string&) { ++passed_; }

void Report::fail(const std::string& id, const std::string& text) {
  ++failed_;
  std::printf("FAIL %s: %s\n", id.c_str(), text.c_str());
}

void Report::skip(const std::string& id, const std::string& reason) {
  ++skipped_;
  if (verbose_) std::printf("skip %s: %s\n", id.c_str(), reason.c_str());
}

void Report::print_counts() const {
  std::printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", passed_, failed_, skipped_);
}

}  // namespace rote::conformance
