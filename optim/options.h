// optim/options.h — options of an optimizer or a schedule from words: `momentum=0.9,nesterov=true`. Knows neither.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "kernels/dtype.h"

namespace rote::optim {

using Options = std::map<std::string, std::string>;

// Faults of the words: a piece that is no name=value, a name that is not there, a value of the wrong kind.
struct OptionError : ArgumentError {
  OptionError(const std::string& about, std::vector<std::string> told);
  const std::vector<std::string> faults;  // without what they are about
};

// Blanks are dropped, pieces stand between commas (those of a pair in brackets not) and hold one `=` each. Throws OptionError for any other piece, and for a name that comes twice.
Options parse_optim_args(const std::string& text);

// Hands options out by name. Throws OptionError for a word of the wrong kind, and in finish() for names that nobody took.
class OptionReader {
 public:
  // `who` begins error texts: "optim_args of sgd".
  OptionReader(std::string who, Options given) : who_(std::move(who)), left_(std::move(given)) {}
  void take(const char* name, double& value);
  void take(const char* name, int64_t& value);
  void take(const char* name, bool& value);  // true, 1, yes; false, 0, no
  void take(const char* name, std::string& value);
  void take(const char* name, std::optional<double>& value);  // none: not given
  void take(const char* name, DType& value);                  // float32 or bfloat16
  void take(const char* name, std::vector<int64_t>& value);   // 2:4, or as JSON has it, [2, 4]
  void take(const char* name, std::vector<double>& value);    // the same of numbers; a single one too
  void take_pair(const char* name, double& first, double& second);  // (1e-30,1e-3)
  void finish();

  // From here on what is wrong with a value waits for finish(), which throws all faults at once.
  void wait_for_all() { waits_ = true; }
  void fault(const std::string& told);

 private:
  std::optional<std::string> word(const char* name);
  template <class T>
  void read(const char* name, const std::string& word, const char* kind, T& value);
  template <class T>
  void read_list(const char* name, const char* kind, std::vector<T>& value);

  std::string who_;
  Options left_;
  std::vector<std::string> known_, faults_;
  bool waits_ = false;
};

}  // namespace rote::optim
