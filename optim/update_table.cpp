#include "optim/update_table.h"

#include <cstring>

#include "kernels/check.h"
#include "kernels/table.h"
#include "optim/updates.h"

namespace rote {

namespace isa {
namespace scalar { extern const optim::UpdateKernel<float>* const update_kernels; }
namespace f64 { extern const optim::UpdateKernel<double>* const update_kernels; }
#ifdef ROTE_WITH_AVX2
namespace avx2 { extern const optim::UpdateKernel<float>* const update_kernels; }
#endif
#ifdef ROTE_WITH_AVX512
namespace avx512 { extern const optim::UpdateKernel<float>* const update_kernels; }
#endif
#ifdef ROTE_WITH_NEON
namespace neon { extern const optim::UpdateKernel<float>* const update_kernels; }
#endif
}  // namespace isa

namespace optim {

namespace {

const UpdateKernel<float>* loops_of(const char* name) {
#ifdef ROTE_WITH_AVX512
  if (std::strcmp(name, "avx512") == 0) return isa::avx512::update_kernels;
#endif
#ifdef ROTE_WITH_AVX2
  if (std::strcmp(name, "avx2") == 0) return isa::avx2::update_kernels;
#endif
#ifdef ROTE_WITH_NEON
  if (std::strcmp(name, "neon") == 0) return isa::neon::update_kernels;
#endif
  ROTE_ASSERT(std::strcmp(name, "scalar") == 0, "the kernel table is of an instruction set without update loops");
  return isa::scalar::update_kernels;
}

}  // namespace

template <class Update, class Real>
UpdateKernel<Real> update_kernel() {
  constexpr int index = kIndexOf<Update, AllUpdates>;
  if constexpr (sizeof(Real) == sizeof(double)) {
    return isa::f64::update_kernels[index];
  } else {
    static const UpdateKernel<float>* const loops = loops_of(kernels<float>().isa);
    return loops[index];
  }
}

template UpdateKernel<float> update_kernel<AdamWUpdate, float>();
template UpdateKernel<double> update_kernel<AdamWUpdate, double>();

}  // namespace optim

}  // namespace rote
