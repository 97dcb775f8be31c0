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

template <class Real>
std::vector<const RareTable<Real>*> rare_tables();

template <>
inline std::vector<const RareTable<float>*> rare_tables<float>() {
  return all_rare_tables();
}

template <>
inline std::vector<const RareTable<double>*> rare_tables<double>() {
  return {&rare_kernels<double>()};
}

}  // namespace rote::testing
