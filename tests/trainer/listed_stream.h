// tests/trainer/listed_stream.h — rows of a list as a stream that notes its passes, and what a function writes to stderr.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/place.h"
#include "trainer/data/stream.h"

namespace rote::testing {

class ListedStream : public data::Stream {
 public:
  explicit ListedStream(data::ListDataset rows) : rows_(std::move(rows)) {}
  void restart(int64_t epoch) override {
    passes.push_back(epoch);
    at_ = 0;
  }
  std::optional<data::Example> next() override { return at_ < rows_.size() ? std::optional(rows_.at(at_++)) : std::nullopt; }

  std::vector<int64_t> passes;  // as restart() was told

 private:
  data::ListDataset rows_;
  int64_t at_ = 0;
};

template <class F>
std::string said_by(F f) {
  const TempFolder folder;
  const std::string path = folder.file("stderr", "");
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  std::FILE* file = std::fopen(path.c_str(), "w");
  ::dup2(::fileno(file), STDERR_FILENO);
  f();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::fclose(file);
  return read_text(path);
}

}  // namespace rote::testing
