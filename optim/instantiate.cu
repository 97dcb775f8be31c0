// optim/instantiate.cu — compiles every update formula's launcher for devices. Holds no formula itself.
#include "kernels/loops.cuh"
#include "optim/updates.h"

namespace rote::cuda {

template <class F>
UpdateLauncher update_launcher() {
  return isa::ROTE_ISA_NAME::launch_update<F>;
}

// Taking the addresses makes the compiler emit the functions, which other files only declare.
template <class List>
struct Listed;
template <class... F>
struct Listed<OpList<F...>> {
  using Function = UpdateLauncher (*)();
  static constexpr Function functions[] = {&update_launcher<F>...};
};
[[maybe_unused, gnu::used]] static const auto* const listed = Listed<optim::AllUpdates>::functions;

}  // namespace rote::cuda
