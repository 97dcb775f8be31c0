#include "kernels/magnitudes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/pool.h"

namespace rote {

namespace {

constexpr int64_t kBlock = 1024, kTask = 64 * kBlock;

template <class T>
using WordOf = std::conditional_t<sizeof(T) == 2, int16_t, std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;

// Words are the bits of magnitudes, and ordered as these are.
template <class Word>
struct Counts {
  Word largest = 0, largest_finite = 0;
  int64_t zero = 0, below = 0;  // Inf and NaN count as 0, and 0 as below

  void add(const Counts& o) {
    largest = std::max(largest, o.largest), largest_finite = std::max(largest_finite, o.largest_finite);
    zero += o.zero, below += o.below;
  }
};

// Of at most one block, so that a count does not leave its word: sixteen bytes at a time, then the rest beside zeros, which are taken off again.
template <class Word>
Counts<Word> count_block(const void* x, int64_t n, Word inf, Word bound) {
  using Vector [[gnu::vector_size(16)]] = Word;
  constexpr int64_t kWide = 16 / sizeof(Word);
  const auto max_of = [](Vector a, Vector b) {
    const Vector less = a < b;
    return (a & ~less) | (b & less);
  };
  Vector largest{}, largest_finite{}, zero{}, below{};
  const auto take = [&](const void* from) {
    Vector word;
    std::memcpy(&word, from, sizeof word);
    word &= std::numeric_limits<Word>::max();
    const Vector finite = word & (word < inf);
    largest = max_of(largest, word), largest_finite = max_of(largest_finite, finite);
    zero -= finite == 0, below -= finite < bound;
  };
  const Word* words = static_cast<const Word*>(x);
  int64_t i = 0;
  for (; i + kWide <= n; i += kWide) take(words + i);
  Word rest[kWide] = {};
  std::memcpy(rest, words + i, static_cast<size_t>(n - i) * sizeof(Word));
  take(rest);
  Counts<Word> all;
  for (int64_t lane = 0; lane < kWide; ++lane) all.add({largest[lane], largest_finite[lane], zero[lane], below[lane]});
  const int64_t filled = kWide - (n - i);
  all.zero -= filled, all.below -= filled;
  return all;
}

template <class T>
Magnitudes magnitudes_as(const T* x, int64_t n, double bound) {
  using Word = WordOf<T>;
  const Word inf = std::bit_cast<Word>(convert<T>(std::numeric_limits<double>::infinity())), least = std::bit_cast<Word>(convert<T>(bound));
  std::vector<Counts<Word>> parts(static_cast<size_t>((n + kTask - 1) / kTask));
  parallel(static_cast<int64_t>(parts.size()), [&](int64_t task) -> uint32_t {
    const int64_t end = std::min(n, (task + 1) * kTask);
    for (int64_t i = task * kTask; i < end; i += kBlock) parts[static_cast<size_t>(task)].add(count_block(x + i, std::min(kBlock, end - i), inf, least));
    return 0;
  });
  Counts<Word> all;
  for (const Counts<Word>& part : parts) all.add(part);
  return {convert<double>(std::bit_cast<T>(all.largest_finite)), n - all.zero, all.below - all.zero, all.largest == inf};
}

}  // namespace

Magnitudes magnitudes(DType dtype, const void* data, int64_t n, double bound) {
  switch (dtype) {
    case DType::f16: return magnitudes_as(static_cast<const Half*>(data), n, bound);
    case DType::bf16: return magnitudes_as(static_cast<const BFloat16*>(data), n, bound);
    case DType::f64: return magnitudes_as(static_cast<const double*>(data), n, bound);
    default: return magnitudes_as(static_cast<const float*>(data), n, bound);
  }
}

}  // namespace rote
