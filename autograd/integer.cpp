// autograd/integer.cpp — formulas over integers and bool, computed in i64 with wrap-around. One element at a time: none of them is hot.
#include <algorithm>
#include <utility>

#include "autograd/op.h"
#include "autograd/ops/formulas.h"
#include "autograd/registry.h"
#include "kernels/pool.h"
#include "tensor/launch.h"

namespace rote {

namespace {

struct Integer {
  int64_t v;
  Integer() = default;
  Integer(int64_t value) : v(value) {}
  static Integer wrap(uint64_t bits) { return static_cast<int64_t>(bits); }
};
uint64_t bits(Integer x) { return static_cast<uint64_t>(x.v); }
Integer operator+(Integer a, Integer b) { return Integer::wrap(bits(a) + bits(b)); }
Integer operator-(Integer a, Integer b) { return Integer::wrap(bits(a) - bits(b)); }
Integer operator*(Integer a, Integer b) { return Integer::wrap(bits(a) * bits(b)); }
Integer operator-(Integer a) { return Integer::wrap(-bits(a)); }
bool operator==(Integer a, Integer b) { return a.v == b.v; }
bool operator<(Integer a, Integer b) { return a.v < b.v; }
bool operator>(Integer a, Integer b) { return a.v > b.v; }
bool operator<=(Integer a, Integer b) { return a.v <= b.v; }
bool operator>=(Integer a, Integer b) { return a.v >= b.v; }
Integer select(bool c, Integer a, Integer b) { return c ? a : b; }
Integer maximum(Integer a, Integer b) { return a < b ? b : a; }
Integer minimum(Integer a, Integer b) { return b < a ? b : a; }
Integer abs(Integer a) { return a.v < 0 ? -a : a; }
Integer floor(Integer a) { return a; }
Integer ceil(Integer a) { return a; }
Integer trunc(Integer a) { return a; }
Integer round(Integer a) { return a; }
// A negative power of anything but 1 and -1 is 0.
Integer pow(Integer base, Integer exponent) {
  if (exponent.v < 0) {
    if (base.v == 1) return 1;
    if (base.v == -1) return exponent.v % 2 == 0 ? 1 : -1;
    return 0;
  }
  Integer power = 1;
  for (uint64_t left = bits(exponent); left != 0; left >>= 1, base = base * base)
    if (left & 1) power = power * base;
  return power;
}

using Loop = void (*)(int64_t n, const int64_t* const* in, const int64_t* params, int64_t* out);

template <class F, size_t... In, size_t... P>
void integer_loop(int64_t n, const int64_t* const* in, const int64_t* params, int64_t* out, std::index_sequence<In...>, std::index_sequence<P...>) {
  for (int64_t i = 0; i < n; ++i) out[i] = F::forward(Integer(in[In][i])..., Integer(params[P])...).v;
}

template <class F>
constexpr Loop loop() {
  if constexpr (F::row.integers) {
    return [](int64_t n, const int64_t* const* in, [[maybe_unused]] const int64_t* params, int64_t* out) {
      integer_loop<F>(n, in, params, out, std::make_index_sequence<F::inputs>(), std::make_index_sequence<F::params>());
    };
  } else {
    return nullptr;
  }
}

template <class List>
struct Loops;
template <class... F>
struct Loops<OpList<F...>> {
  static constexpr Loop all[] = {loop<F>()...};
};

}  // namespace

void detail::run_integer_formula(Call& call) {
  const Loop f = Loops<AllFormulas>::all[call.op->formula];
  const Tensor& y = call.out[0];
  std::vector<int64_t> params;
  for (size_t i = 0; i < call.attrs.size(); ++i) params.push_back(convert<int64_t>(call.number(static_cast<int>(i))));
  std::vector<BlockSource> from;
  for (const Tensor& x : call.in) from.emplace_back(x, y.shape());
  const BlockSource to(y, y.shape());
  const int64_t n = y.numel();
  parallel((n + kBlock - 1) / kBlock, [&](int64_t block) -> uint32_t {
    int64_t buffers[3][kBlock];
    const int64_t* in[3] = {buffers[0], buffers[1], buffers[2]};
    const int64_t first = block * kBlock, count = std::min(kBlock, n - first);
    for (size_t i = 0; i < from.size(); ++i) gather(from[i], first, count, buffers[i]);
    f(count, in, params.data(), buffers[0]);
    scatter(to, first, count, static_cast<const int64_t*>(buffers[0]));
    return 0;
  });
}

}  // namespace rote
