// kernels/rare_table.cpp — the rare kernels of the instruction set in use. Apart from table.cpp, so that linking that does not bring them.
#include <cstring>

#include "kernels/check.h"
#include "kernels/table.h"

namespace rote {

namespace isa {
namespace scalar { extern const RareTable<float> kRareTable; }
namespace f64 { extern const RareTable<double> kRareTable; }
#ifdef ROTE_WITH_AVX2
namespace avx2 { extern const RareTable<float> kRareTable; }
#endif
#ifdef ROTE_WITH_AVX512
namespace avx512 { extern const RareTable<float> kRareTable; }
#endif
#ifdef ROTE_WITH_NEON
namespace neon { extern const RareTable<float> kRareTable; }
#endif
}  // namespace isa

const RareTable<float>* rare_kernel_table(const char* isa) {
  if (kernel_table(isa) == nullptr) return nullptr;
#ifdef ROTE_WITH_AVX512
  if (std::strcmp(isa, "avx512") == 0) return &isa::avx512::kRareTable;
#endif
#ifdef ROTE_WITH_AVX2
  if (std::strcmp(isa, "avx2") == 0) return &isa::avx2::kRareTable;
#endif
#ifdef ROTE_WITH_NEON
  if (std::strcmp(isa, "neon") == 0) return &isa::neon::kRareTable;
#endif
  return &isa::scalar::kRareTable;
}

template <>
const RareTable<float>& rare_kernels<float>() {
  static const RareTable<float>& table = *rare_kernel_table(kernels<float>().isa);
  return table;
}

template <>
const RareTable<double>& rare_kernels<double>() {
  return isa::f64::kRareTable;
}

}  // namespace rote
