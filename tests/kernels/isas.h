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
std::vector<const RareKernels<Real>*> rare_kernels_of();

template <>
inline std::vector<const RareKernels<float>*> rare_kernels_of<float>() {
  return all_rare_kernels();
}

template <>
inline std::vector<const RareKernels<double>*> rare_kernels_of<double>() {
  static const RareKernels<double> held{rare_kernels<AttentionTable, double>(), rare_kernels<BatchNormTable, double>(), rare_kernels<GroupNormTable, double>(),
                                        rare_kernels<CtcTable, double>(), rare_kernels<ConvTable, double>(), rare_kernels<WindowTable, double>(),
                                        rare_kernels<TapsTable, double>(), "f64"};
  return {&held};
}

}  // namespace rote::testing
