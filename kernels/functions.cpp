// kernels/functions.cpp — which vector functions an instruction set has. Apart from table.cpp, so that programs do not link them.
#include "kernels/functions.h"

#include <cstring>

#include "kernels/table.h"

namespace rote {

namespace isa {
#ifdef ROTE_WITH_SCALAR
namespace scalar { extern const NamedFunction<float> kFunctions[]; }
#endif
#ifdef ROTE_WITH_AVX2
namespace avx2 { extern const NamedFunction<float> kFunctions[]; }
#endif
#ifdef ROTE_WITH_AVX512
namespace avx512 { extern const NamedFunction<float> kFunctions[]; }
#endif
#ifdef ROTE_WITH_NEON
namespace neon { extern const NamedFunction<float> kFunctions[]; }
#endif
}  // namespace isa

const NamedFunction<float>* vector_functions(const char* isa) {
  if (kernel_table(isa) == nullptr) return nullptr;
#ifdef ROTE_WITH_AVX512
  if (std::strcmp(isa, "avx512") == 0) return isa::avx512::kFunctions;
#endif
#ifdef ROTE_WITH_AVX2
  if (std::strcmp(isa, "avx2") == 0) return isa::avx2::kFunctions;
#endif
#ifdef ROTE_WITH_NEON
  if (std::strcmp(isa, "neon") == 0) return isa::neon::kFunctions;
#endif
#ifdef ROTE_WITH_SCALAR
  if (std::strcmp(isa, "scalar") == 0) return isa::scalar::kFunctions;
#endif
  return nullptr;
}

}  // namespace rote
