// tests/kernels/isas.h — the tables of one element type, for tests that run in f32 and f64.
#pragma once

#include "tests/kernels/spec.h"

namespace rote::testing {

template <class Real>
std::vector<const KernelTable<Real>*> tables();

template <>
inline std::vector<const KernelTable<float>*> tables<float>() {
  return all_tables();
}

template <>
inline std::vector<const KernelTable<double>*> tables<double>() {
  return {&kernels<double>()};
}

}  // namespace rote::testing
