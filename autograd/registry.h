// autograd/registry.h — from an op's struct to its OpEntry, and every OpEntry of the library by name.
#pragma once

#include <string>
#include <vector>

#include "autograd/op.h"

namespace rote {

// Every op of the library, in the order of ops.h.
const std::vector<const OpEntry*>& all_ops();
const OpEntry* find_op(const std::string& name);

namespace detail {

void run_formula(Call& call);
void run_formula_backward(Call& call);
void run_formula_again(Call& call);  // again.cpp
template <class Op>
const FormulaLoops& own_formula_loops();  // own_op.h
OpEntry finish(OpEntry entry);  // parses the schema, checks the Row, resolves `.saves`

template <class Op>
OpEntry make_entry() {
  OpEntry e;
  e.row = Op::row;
  if constexpr (requires { Op::inputs; }) {
    static_assert(Op::inputs <= 3 && Op::params <= 4 && count_words(Op::row.saves) <= 3, "a formula has at most three inputs, four attributes and three saved tensors");
    if constexpr (requires { Op::is_own; }) e.formula = &own_formula_loops<Op>();
    else e.formula = &formula_loops<Op>();
    e.forward = run_formula;
    if (Op::row.no_grad[0] == 0) {
      e.backward = run_formula_backward;
      e.again = run_formula_again;
    }
    if constexpr (requires { Op::passes_dy; }) e.passes_dy = Op::passes_dy;
  } else {
    e.forward = Op::forward;
    if constexpr (requires { &Op::backward; }) e.backward = Op::backward;
    if constexpr (requires { &Op::infer; }) e.infer = Op::infer;
    if constexpr (requires { &Op::backward_in_ops; }) e.again = Op::backward_in_ops;
    else if (Op::row.once[0] == 0) e.again = e.backward;
  }
  if constexpr (requires { Op::takes_sixteen; }) e.takes_sixteen = Op::takes_sixteen;
  if constexpr (requires { Op::moves_only; }) e.moves_only = Op::moves_only;
  return finish(std::move(e));
}

}  // namespace detail

template <class Op>
const OpEntry& entry() {
  static const OpEntry instance = detail::make_entry<Op>();
  return instance;
}

}  // namespace rote
