// optim/instantiate.cpp — compiles every update formula's loop for one instruction set. Holds no formula itself.
#include "kernels/loops.h"
#include "optim/update_table.h"
#include "optim/updates.h"

namespace rote {

namespace optim {

template <class Tag, class Real, class U>
const UpdateKernel<Real> UpdateLoop<Tag, Real, U>::kernel = isa::ROTE_ISA_NAME::update<U>;

}  // namespace optim

namespace isa::ROTE_ISA_NAME {

// Taking the addresses makes the compiler emit the loop of each formula.
template <class List>
struct ListedUpdates;
template <class... U>
struct ListedUpdates<OpList<U...>> {
  static constexpr const optim::UpdateKernel<Real>* all[] = {&optim::UpdateLoop<Tag, Real, U>::kernel...};
};
[[maybe_unused, gnu::used]] static const auto* const listed_updates = ListedUpdates<optim::AllUpdates>::all;

}  // namespace isa::ROTE_ISA_NAME

}  // namespace rote
