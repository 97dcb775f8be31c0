// trainer/data/stream.h — datasets whose rows come one after another and whose number is not known before the last: no row is had twice in a pass.
// Rows by number: dataset.h; streams of files: token_stream.h, labelled_stream.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"

namespace rote::data {

// One thread at a time calls, not always the same one.
class Stream {
 public:
  virtual ~Stream() = default;
  // Begins pass `epoch`, from 0; may be called in the middle of one. Passes of one number give the same rows: so a resumed run finds its place.
  virtual void restart(int64_t epoch) = 0;
  // The next row of the pass, none at its end. REQUIRES: restart() was called.
  virtual std::optional<Example> next() = 0;
  // What its rows and their order come from, in words that a checkpoint keeps: a run that goes on must have the same.
  virtual std::string fingerprint() const { return ""; }
};

// The rows of a Dataset or of a Stream, which must outlive it. At most one of the two is set.
struct AnyDataset {
  const Dataset* rows = nullptr;
  Stream* stream = nullptr;

  AnyDataset() = default;
  AnyDataset(std::nullptr_t) {}
  AnyDataset(const Dataset* of) : rows(of) {}
  AnyDataset(Stream* of) : stream(of) {}
  AnyDataset(const Dataset& of) : rows(&of) {}
  AnyDataset(Stream& of) : stream(&of) {}
  explicit operator bool() const { return rows != nullptr || stream != nullptr; }
};

// The rows of another stream in an order drawn as they come: each is put into a buffer, and once that is full leaves it for the next one at random.
// A draw is a function of seed, pass and ordinal.
class ShuffledStream : public Stream {
 public:
  // Throws ArgumentError unless 1 <= buffer_size < 2^31. `of` must outlive it.
  ShuffledStream(Stream& of, int64_t buffer_size, uint64_t seed);
  void restart(int64_t epoch) override;
  std::optional<Example> next() override;
  std::string fingerprint() const override;

 private:
  Stream& of_;
  size_t buffer_size_;
  uint64_t seed_, epoch_ = 0, draws_ = 0;
  std::vector<Example> buffer_;
};

}  // namespace rote::data
