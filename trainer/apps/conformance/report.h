// trainer/apps/conformance/report.h — which cases of a run are wanted, how many passed, what failed and what was skipped. Runs none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rote::conformance {

struct Selection {
  std::vector<std::string> families;  // by the name of the folder, of the file or of the checkpoint; empty: all
  std::string id;                     // a glob over ids; empty: all
  bool float64 = false;               // op cases in f64 against the true values
};

class Report {
 public:
  // With `verbose` skipped cases are printed one by one, else by reason.
  Report(bool verbose, Selection selection) : verbose_(verbose), selection_(std::move(selection)) {}

  bool wants(const std::string& family, const std::string& id) const;
  bool float64() const { return selection_.float64; }

  void pass(const std::string& id);
  // `text` is one line: the tensor or field, the first bad index, both values.
  void fail(const std::string& id, const std::string& text);
  // A case that needs what Rote does not have yet.
  void skip(const std::string& id, const std::string& reason);

  int64_t cases() const { return passed_ + failed_ + skipped_; }
  int64_t failed() const { return failed_; }
  // The reasons for skipping, unless each case was printed, and `N passed, N failed, N skipped`, the last line of a run.
  void print_counts() const;

 private:
  struct Skipped {
    int64_t cases = 0;
    std::string first;
  };
  bool verbose_;
  Selection selection_;
  int64_t passed_ = 0;
  int64_t failed_ = 0;
  int64_t skipped_ = 0;
  std::map<std::string, Skipped> reasons_;
};

}  // namespace rote::conformance
