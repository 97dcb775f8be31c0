// trainer/data/stream.cpp — the shuffle buffer.
#include "trainer/data/stream.h"

#include <utility>

#include "autograd/mode.h"
#include "kernels/check.h"
#include "kernels/philox.h"

namespace rote::data {

ShuffledStream::ShuffledStream(Stream& of, int64_t buffer_size, uint64_t seed) : of_(of), buffer_size_(static_cast<size_t>(buffer_size)), seed_(seed) {
  ROTE_CHECK(buffer_size >= 1 && buffer_size < int64_t{1} << 31, ArgumentError, "shuffle_buffer_size: is ", buffer_size, "; it must be at least 1 row and below 2^31.");
}

void ShuffledStream::restart(int64_t epoch) {
  of_.restart(epoch);
  epoch_ = static_cast<uint64_t>(epoch);
  draws_ = 0;
  buffer_.clear();
}

std::optional<Example> ShuffledStream::next() {
  while (buffer_.size() < buffer_size_) {
    std::optional<Example> row = of_.next();
    if (!row) break;
    buffer_.push_back(std::move(*row));
  }
  if (buffer_.empty()) return {};
  const uint32_t word = philox(seed_, philox_counter(draws_++, epoch_, draw_id("shuffle", "", 0))).word[0];
  std::swap(buffer_[(uint64_t{word} * buffer_.size()) >> 32], buffer_.back());
  Example row = std::move(buffer_.back());
  buffer_.pop_back();
  return row;
}

// The seed is that of the run, which a checkpoint has beside it.
std::string ShuffledStream::fingerprint() const {
  const std::string of = of_.fingerprint();
  return str(of, of.empty() ? "" : ", ", "shuffled among ", buffer_size_);
}

}  // namespace rote::data
