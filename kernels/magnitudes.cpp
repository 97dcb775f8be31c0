#include "kernels/magnitudes.h"

#include <algorithm>
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

// Counts in words, so that a loop of known length becomes one over vectors. REQUIRES: n <= kBlock.
template <class T, class Word = WordOf<T>>
inline Counts<Word> count_block(const T* x, int64_t n, Word inf, Word bound) {
  Word largest = 0, largest_finite = 0, zero = 0, below = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Word word = std::bit_cast<Word>(x[i]) & std::numeric_limits<Word>::max();
    const Word finite = word < inf ? word : Word(0);
    largest = largest < word ? word : largest;
    largest_finite = largest_finite < finite ? finite : largest_finite;
    zero = static_cast<Word>(zero + (finite == 0));
    below = static_cast<Word>(below + (finite < bound));
  }
  return {largest, largest_finite, zero, below};
}

template <class T, class Word = WordOf<T>>
Counts<Word> count(const T* x, int64_t n, Word inf, Word bound) {
  Counts<Word> all;
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) all.add(count_block(x + i, kBlock, inf, bound));
  all.add(count_block(x + i, n - i, inf, bound));
  return all;
}

template <class T>
Magnitudes magnitudes_as(const T* x, int64_t n, double bound) {
  using Word = WordOf<T>;
  const Word inf = std::bit_cast<Word>(convert<T>(std::numeric_limits<double>::infinity())), least = std::bit_cast<Word>(convert<T>(bound));
  std::vector<Counts<Word>> parts(static_cast<size_t>((n + kTask - 1) / kTask));
  parallel(static_cast<int64_t>(parts.size()), [&](int64_t task) -> uint32_t {
    parts[static_cast<size_t>(task)] = count(x + task * kTask, std::min(kTask, n - task * kTask), inf, least);
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
