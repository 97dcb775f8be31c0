// autograd/apply.h — apply<Op>(inputs, attributes): the one way an op runs. Included by the op families.
#pragma once

#include <utility>

#include "autograd/registry.h"

namespace rote {

struct Composition;  // boxed.h: a function made of ops, under its ATen names

// The first output of Op; attributes in schema order, those left out take their defaults.
template <class Op>
Tensor apply(std::vector<Tensor> inputs, std::vector<Attr> attrs = {}) {
  return std::move(run(entry<Op>(), std::move(inputs), std::move(attrs))[0]);
}

template <class Op>
std::vector<Tensor> apply_all(std::vector<Tensor> inputs, std::vector<Attr> attrs = {}) {
  return run(entry<Op>(), std::move(inputs), std::move(attrs));
}

}  // namespace rote
