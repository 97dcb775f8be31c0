#include "optim/update_table.h"

#include <cstring>

#include "kernels/table.h"

namespace rote::optim {

UpdateIsa update_isa() {
  static const UpdateIsa isa = [] {
    const char* name = kernels<float>().isa;
    if (std::strcmp(name, "avx512") == 0) return UpdateIsa::avx512;
    if (std::strcmp(name, "avx2") == 0) return UpdateIsa::avx2;
    if (std::strcmp(name, "neon") == 0) return UpdateIsa::neon;
    return UpdateIsa::scalar;
  }();
  return isa;
}

}  // namespace rote::optim
