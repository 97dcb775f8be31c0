// optim/instantiate.cpp — compiles every update formula's loop for one instruction set. Holds no formula itself.
#include "kernels/loops.h"
#include "optim/update_table.h"
#include "optim/updates.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

template <class List>
struct Updates;
template <class... U>
struct Updates<OpList<U...>> {
  static constexpr optim::UpdateKernel<Real> all[] = {update<U>...};
};

}  // namespace

extern const optim::UpdateKernel<Real>* const update_kernels;
const optim::UpdateKernel<Real>* const update_kernels = Updates<optim::AllUpdates>::all;

}  // namespace rote::isa::ROTE_ISA_NAME
