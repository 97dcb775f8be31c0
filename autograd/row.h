// autograd/row.h — Row, all that is said once about an op, and Formula, the shape of a pointwise op. Light: per-ISA objects include it.
#pragma once

namespace rote {

// What autocast does with an op's floating inputs (but not with f64): leave them, where kernels need one dtype at the widest of them; round f32
// to 16 bits; widen 16 bits to f32.
enum class Autocast { as_is, lower, f32 };

struct Row {
  const char* name;
  // `name(x[*,C], w[C]?, i64 ids[*], eps=1e-5) -> y[*,C], bool m[*]`: * leading axes, which broadcast in formula ops and are equal in others;
  // capitals bind, `?` optional, a dtype before a name fixes it, `any` allows every dtype (else: floating, all equal), [...] leaves the shape
  // to the op; what has no [] is an attribute with its default (none: required).
  // Outputs written without [] (`-> y`) take the shape that the op's own infer() gives; `wide` before one: a statistic for backward, f64 for
  // f64 and f32 for all else.
  const char* schema;
  const char* saves = "";    // inputs and outputs that backward reads, in the order in which a formula's backward takes them
  const char* reads = "";    // which of these each input's gradient reads: `y, x` where dx reads y and dy x; empty: all of them
  const char* constants = "";  // floating inputs in which there is no derivative: one that requires a gradient is refused
  const char* no_grad = "";  // why there is no derivative; empty where there is one
  const char* once = "";     // of an op with kernels: why its derivative has none in turn; empty where backward is written in ops
  Autocast autocast = Autocast::as_is;
  const char* samples = "*=2,3; *=4,1,5; *=; *=0";  // bindings of the schema's letters, attributes too: `*=2,3 C=4 axis=1`
  double low = -2, high = 2;                        // inputs are drawn from here
  const char* kinks = "";                           // values where the derivative jumps
  bool integers = false;                            // of a formula: exact on integers, which it then computes in i64
  const char* aten = "";                            // `gelu(self, approximate); …`: ATen names, arguments in schema order
};

template <int Inputs, int Params = 0>
struct Formula {
  static constexpr int inputs = Inputs;
  static constexpr int params = Params;  // floating attributes, passed to forward after the inputs and to backward at its end
  static constexpr bool integers_only = false;
};

// A formula without a meaning on floating numbers (bits, shifts): V is Integer alone; it has `.integers` and no derivative.
template <int Inputs>
struct IntegerFormula : Formula<Inputs> {
  static constexpr bool integers_only = true;
};

// Gradients of a formula with two or three inputs.
template <class V>
struct Two {
  V a, b;
};
template <class V>
struct Three {
  V a, b, c;
};

template <class... Ops>
struct OpList {};

template <class... Lists>
struct Joined;
template <class... A>
struct Joined<OpList<A...>> {
  using type = OpList<A...>;
};
template <class... A, class... B, class... Rest>
struct Joined<OpList<A...>, OpList<B...>, Rest...> {
  using type = typename Joined<OpList<A..., B...>, Rest...>::type;
};

template <class Op, class List>
inline constexpr int kIndexOf = -1;
template <class Op, class First, class... Rest>
inline constexpr int kIndexOf<Op, OpList<First, Rest...>> = kIndexOf<Op, OpList<Rest...>> < 0 ? -1 : kIndexOf<Op, OpList<Rest...>> + 1;
template <class Op, class... Rest>
inline constexpr int kIndexOf<Op, OpList<Op, Rest...>> = 0;

constexpr int count_words(const char* text) {
  int words = 0;
  for (bool inside = false; *text != 0; ++text) {
    if (*text != ' ' && !inside) ++words;
    inside = *text != ' ';
  }
  return words;
}

}  // namespace rote
