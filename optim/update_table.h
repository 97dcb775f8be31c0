// optim/update_table.h — the compiled loops of the optimizers' update formulas, per element type. Light.
#pragma once

#include <cstdint>

namespace rote::optim {

// One step over n elements: parameter p, gradient g, moments m and v (either may be none); scalars as the formula numbers them.
// Returns the amax word of the parameters.
template <class Real>
using UpdateKernel = uint32_t (*)(int64_t n, Real* p, const Real* g, Real* m, Real* v, const Real* scalars);

// The loop of this formula for the instruction set in use. Defined for the formulas of updates.h.
template <class Update, class Real>
UpdateKernel<Real> update_kernel();

}  // namespace rote::optim
