// trainer/apps/conformance/report.cpp — the lines of a run, on standard output.
#include "trainer/apps/conformance/report.h"

#include <fnmatch.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace rote::conformance {

bool Report::wants(const std::string& family, const std::string& id) const {
  const std::vector<std::string>& families = selection_.families;
  if (!families.empty() && std::find(families.begin(), families.end(), family) == families.end()) return false;
  return selection_.id.empty() || fnmatch(selection_.id.c_str(), id.c_str(), 0) == 0;
}

void Report::pass(const std::string&) { ++passed_; }

void Report::fail(const std::string& id, const std::string& text) {
  ++failed_;
  std::printf("FAIL %s: %s\n", id.c_str(), text.c_str());
}

void Report::skip(const std::string& id, const std::string& reason) {
  ++skipped_;
  if (verbose_) std::printf("skip %s: %s\n", id.c_str(), reason.c_str());
  Skipped& one = reasons_[reason];
  if (one.cases++ == 0) one.first = id;
}

void Report::print_counts() const {
  if (!verbose_)
    for (const auto& [reason, skipped] : reasons_)
      std::printf("skip %" PRId64 " (%s%s): %s\n", skipped.cases, skipped.first.c_str(), skipped.cases > 1 ? ", …" : "", reason.c_str());
  std::printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", passed_, failed_, skipped_);
}

}  // namespace rote::conformance
