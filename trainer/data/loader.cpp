// trainer/data/loader.cpp — a bounded queue of batches, filled in order by any number of threads.
#include "trainer/data/loader.h"

#include <algorithm>
#include <utility>

#include "kernels/check.h"
#include "kernels/pool.h"

namespace rote::data {

NextRows in_order(std::vector<std::vector<int64_t>> batches) {
  return [batches = std::move(batches), at = size_t{0}]() mutable -> std::optional<BatchRows> {
    if (at == batches.size()) return {};
    return BatchRows{.rows = std::move(batches[at++])};
  };
}

NextRows in_order(int64_t rows, int64_t batch) {
  return [rows, batch, at = int64_t{0}]() mutable -> std::optional<BatchRows> {
    BatchRows out;
    for (const int64_t end = std::min(at + batch, rows); at < end; ++at) out.rows.push_back(at);
    return out.rows.empty() ? std::nullopt : std::optional(std::move(out));
  };
}

NextRows in_order(Stream& stream, const StreamBatches& options) {
  return [&stream, options, at = options.first, is_over = false]() mutable -> std::optional<BatchRows> {
    BatchRows out;
    while (!is_over && static_cast<int64_t>(out.rows.size()) < options.batch) {
      std::optional<Example> row = stream.next();
      is_over = !row;
      if (is_over) break;
      out.rows.push_back(at++);
      out.examples.push_back(std::move(*row));
    }
    if (out.rows.empty() || (is_over && options.drop_last)) return {};
    return out;
  };
}

Loader::Loader(NextRows next_rows, MakeBatch make, const LoaderOptions& options)
    : next_rows_(std::move(next_rows)), make_(std::move(make)), limit_(static_cast<size_t>(std::max<int64_t>(1, options.num_workers * options.prefetch_factor))) {
  try {
    threads_.reserve(static_cast<size_t>(options.num_workers));
    for (int64_t i = 0; i < options.num_workers; ++i) threads_.emplace_back([this](const std::stop_token& stop) { with_default_control([&] { work(stop); }); });
  } catch (const std::exception& fault) {
    request_stop();
    throw ArgumentError(str("dataloader_num_workers: the system gives no thread beyond ", threads_.size(), " of ", options.num_workers, " (", fault.what(), "); give fewer."));
  }
}

Loader::~Loader() { request_stop(); }

void Loader::request_stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Loader::read(Slot& slot) {
  try {
    std::optional<BatchRows> rows = next_rows_();
    slot.is_end = !rows;
    if (!rows) return;
    slot.rows = std::move(*rows);
    slot.rows.first = rows_;
    rows_ += static_cast<int64_t>(slot.rows.rows.size());
  } catch (...) {
    slot.fault = std::current_exception();
  }
}

void Loader::make(Slot& slot) const {
  if (slot.is_end || slot.fault) return;
  try {
    slot.batch = make_(slot.rows);
  } catch (...) {
    slot.fault = std::current_exception();
  }
  slot.rows.examples.clear();
}

void Loader::work(const std::stop_token& stop) {
  set_num_threads(1);
  while (true) {
    std::unique_lock reading(reading_);
    Slot* slot = nullptr;
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, stop, [this] { return ended_ || slots_.size() < limit_; });
      if (ended_ || stop.stop_requested()) return;
      try {
        slot = &slots_.emplace_back();  // stays where it is until it is taken, which is after it is made
      } catch (...) {
        fault_ = std::current_exception();
        ended_ = true;
      }
    }
    if (slot == nullptr) return ready_.notify_one();
    read(*slot);
    {
      const std::lock_guard lock(mutex_);
      slot->is_read = true;
      ended_ = slot->is_end || slot->fault != nullptr;
    }
    ready_.notify_one();
    reading.unlock();
    make(*slot);
    {
      const std::lock_guard lock(mutex_);
      slot->is_made = true;
    }
    ready_.notify_one();
  }
}

bool Loader::has_next() {
  std::unique_lock lock(mutex_);
  if (threads_.empty() && slots_.empty()) {
    read(slots_.emplace_back());
    slots_.front().is_read = true;
  }
  ready_.wait(lock, [this] { return slots_.empty() ? ended_ : slots_.front().is_read; });
  return slots_.empty() ? fault_ != nullptr : !slots_.front().is_end;
}

Loader::Loaded Loader::next() {
  ROTE_ASSERT(has_next(), "next() is asked only where has_next() is true");
  std::unique_lock lock(mutex_);
  if (slots_.empty()) std::rethrow_exception(std::exchange(fault_, nullptr));
  Slot& front = slots_.front();
  if (threads_.empty()) {
    make(front);
    front.is_made = true;
  }
  ready_.wait(lock, [&front] { return front.is_made; });
  Slot slot = std::move(front);
  slots_.pop_front();
  lock.unlock();
  room_.notify_all();
  if (slot.fault) std::rethrow_exception(slot.fault);
  return {std::move(slot.rows.rows), std::move(slot.batch)};
}

}  // namespace rote::data
