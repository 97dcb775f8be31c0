// trainer/apps/conformance/report.h — counts the cases of a run and prints those that fail. Runs none.
#pragma once

#include <cstdint>
#include <string>

namespace rote::conformance {

class Report {
 public:
  // With `verbose` skipped cases are printed too.
  explicit Report(bool verbose) : verbose_(verbose) {}

  void pass(const std::string& id);
  // `text` is one line: the tensor or field, the first bad index, both values.
  void fail(const std::string& id, const std::string& text);
  // A case that needs what Rote does not have yet.
  void skip(const std::string& id, const std::string& reason);

  int64_t cases() const { return passed_ + failed_ + skipped_; }
  int64_t failed() const { return failed_; }
  // `N passed, N failed, N skipped`, the last line of a run.
  void print_counts() const;

 private:
  bool verbose_;
  int64_t passed_ = 0;
  int64_t failed_ = 0;
  int64_t skipped_ = 0;
};

}  // namespace rote::conformance
