// autograd/ops/bitwise.h — bits, shifts and divisors, on integers alone; bits of bool too.
#pragma once

#include "autograd/row.h"

namespace rote {

struct BitwiseAnd : IntegerFormula<2> {  // the bits that both have
  static constexpr Row row{.name = "bitwise_and", .schema = "bitwise_and(x[*], y[*]) -> z[*]", .no_grad = "integers have no derivative", .low = -9,
                           .high = 9, .integers = true,
                           .aten = "bitwise_and.Tensor(self, other); bitwise_and.Scalar(self, other); bitwise_and.Scalar_Tensor(self, other); "
                                   "__and__.Tensor(self, other); __and__.Scalar(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return x & y; }
};
struct BitwiseOr : IntegerFormula<2> {  // the bits that one has
  static constexpr Row row{.name = "bitwise_or", .schema = "bitwise_or(x[*], y[*]) -> z[*]", .no_grad = "integers have no derivative", .low = -9,
                           .high = 9, .integers = true,
                           .aten = "bitwise_or.Tensor(self, other); bitwise_or.Scalar(self, other); bitwise_or.Scalar_Tensor(self, other); "
                                   "__or__.Tensor(self, other); __or__.Scalar(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return x | y; }
};
struct BitwiseXor : IntegerFormula<2> {  // the bits that one alone has
  static constexpr Row row{.name = "bitwise_xor", .schema = "bitwise_xor(x[*], y[*]) -> z[*]", .no_grad = "integers have no derivative", .low = -9,
                           .high = 9, .integers = true,
                           .aten = "bitwise_xor.Tensor(self, other); bitwise_xor.Scalar(self, other); bitwise_xor.Scalar_Tensor(self, other); "
                                   "__xor__.Tensor(self, other); __xor__.Scalar(self, other)"};
  template <class V> static constexpr V forward(V x, V y) { return x ^ y; }
};
struct BitwiseNot : IntegerFormula<1> {  // all bits turned: -1 - x
  static constexpr Row row{.name = "bitwise_not", .schema = "bitwise_not(x[*]) -> y[*]", .no_grad = "integers have no derivative", .low = -9,
                           .high = 9, .integers = true};
  template <class V> static constexpr V forward(V x) { return V(-1) - x; }
};

struct ShiftLeft : IntegerFormula<2> {  // x·2^y, 0 where y is negative or beyond the width of the dtype
  static constexpr Row row{.name = "bitwise_left_shift", .schema = "bitwise_left_shift(x[*], y[*]) -> z[*]", .no_grad = "integers have no derivative",
                           .low = -9, .high = 70, .integers = true};
  template <class V> static constexpr V forward(V x, V y) { return shift_left(x, y); }
};
struct ShiftRight : IntegerFormula<2> {  // ⌊x/2^y⌋, the sign alone where y is negative or beyond the width of the dtype
  static constexpr Row row{.name = "bitwise_right_shift", .schema = "bitwise_right_shift(x[*], y[*]) -> z[*]",
                           .no_grad = "integers have no derivative", .low = -9, .high = 70, .integers = true};
  template <class V> static constexpr V forward(V x, V y) { return shift_right(x, y); }
};

struct Gcd : IntegerFormula<2> {  // the greatest common divisor; 0 of two zeros
  static constexpr Row row{.name = "gcd", .schema = "gcd(x[*], y[*]) -> z[*]", .no_grad = "integers have no derivative", .low = -90, .high = 90,
                           .integers = true};
  template <class V> static constexpr V forward(V x, V y) { return gcd(x, y); }
};
struct Lcm : IntegerFormula<2> {  // the least common multiple; 0 beside a zero
  static constexpr Row row{.name = "lcm", .schema = "lcm(x[*], y[*]) -> z[*]", .no_grad = "integers have no derivative", .low = -90, .high = 90,
                           .integers = true};
  template <class V> static constexpr V forward(V x, V y) { return abs(x / gcd(x, y) * y); }
};

using BitwiseOps = OpList<BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot, ShiftLeft, ShiftRight, Gcd, Lcm>;

}  // namespace rote

#ifndef ROTE_ISA_NAME  // the per-ISA objects compile the formulas only
#include "autograd/apply.h"

namespace rote {

inline Tensor bitwise_and(const Tensor& x, const Tensor& y) { return apply<BitwiseAnd>({x, y}); }
inline Tensor bitwise_or(const Tensor& x, const Tensor& y) { return apply<BitwiseOr>({x, y}); }
inline Tensor bitwise_xor(const Tensor& x, const Tensor& y) { return apply<BitwiseXor>({x, y}); }
Tensor bitwise_not(const Tensor& x);
// Integers, not bool.
Tensor bitwise_left_shift(const Tensor& x, const Tensor& y);
Tensor bitwise_right_shift(const Tensor& x, const Tensor& y);
Tensor gcd(const Tensor& x, const Tensor& y);
Tensor lcm(const Tensor& x, const Tensor& y);
std::vector<Composition> bitwise_compositions();

}  // namespace rote
#endif
