// trainer/data/loader.h — the batches of one pass in their order, made when they are asked for or ahead of that by threads. Which rows: sampler.h.
//
// 1. Batches come out in the order of their rows, whatever the threads. NextRows is called by one thread at a time, MakeBatch by several.
// 2. What NextRows or MakeBatch throws comes out of next() in the place of its batch. The loader is done with then.
// 3. What MakeBatch draws must be keyed by the rows that it is given: it runs on any thread, and each of these computes alone.
// 4. The destructor lets each thread finish the batch it is at, and drops those that nobody took.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "nn/model.h"
#include "trainer/data/stream.h"

namespace rote::data {

struct BatchRows {
  std::vector<int64_t> rows;           // numbers in the dataset, of a stream in its pass
  std::vector<Example> examples = {};  // of a stream
  int64_t first = 0;                   // rows of the loader's batches before this one
};
using NextRows = std::function<std::optional<BatchRows>()>;  // none: the pass is over
using MakeBatch = std::function<nn::Batch(BatchRows& rows)>;

// These batches, one after another.
NextRows in_order(std::vector<std::vector<int64_t>> batches);
// Rows 0, 1, … of so many; the last batch may be short.
NextRows in_order(int64_t rows, int64_t batch);
// Consecutive rows of a stream, `first` of whose pass are gone. The last batch may be short, or with drop_last is left out then.
struct StreamBatches {
  int64_t batch = 1;
  int64_t first = 0;
  bool drop_last = false;
};
NextRows in_order(Stream& stream, const StreamBatches& options);

struct LoaderOptions {
  int64_t num_workers = 0;      // threads; 0: batches are made where they are asked for
  int64_t prefetch_factor = 2;  // batches that wait or are under way, for each thread
};

class Loader {
 public:
  struct Loaded {
    std::vector<int64_t> rows;
    nn::Batch batch;
  };

  Loader(NextRows next_rows, MakeBatch make, const LoaderOptions& options = {});
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Whether next() gives something, or throws. Reads no further than that.
  bool has_next();
  Loaded next();  // REQUIRES: has_next()

 private:
  struct Slot {
    BatchRows rows;
    nn::Batch batch;
    std::exception_ptr fault;
    bool is_read = false, is_end = false, is_made = false;
  };
  // Both throw nothing; the caller writes is_read and is_made under the lock.
  void read(Slot& slot);
  void make(Slot& slot) const;
  void work(const std::stop_token& stop);
  void request_stop();  // of all before one is joined: each may wait for another

  const NextRows next_rows_;
  const MakeBatch make_;
  const size_t limit_;
  int64_t rows_ = 0;
  std::mutex reading_;             // held from the making of a slot until its rows are read: slots are in the order of rows
  std::mutex mutex_;               // of slots_ and what is said of them
  std::condition_variable_any room_;  // a slot was taken
  std::condition_variable ready_;     // a slot was read or made
  std::deque<Slot> slots_;
  bool ended_ = false;
  std::exception_ptr fault_;          // behind the last slot: no room was had for another
  std::vector<std::jthread> threads_;
};

}  // namespace rote::data
