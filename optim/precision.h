// optim/precision.h — in what an optimizer keeps moments and weights between its updates (docs/precision.md). Computes nothing.
#pragma once

#include <cstdint>

#include "kernels/dtype.h"
#include "optim/options.h"
#include "tensor/generator.h"

namespace rote::optim {

// How weights are kept. All but the first make f32 parameters bf16 ones, which is what the model then computes with; what an f32 weight holds beyond
// that is the parameter's `rest`, or lost.
enum class Weights : uint8_t {
  as_they_are,   // 16-bit ones are rounded to nearest: a change below half of their last bit is lost
  split_master,  // rest: `master_low`, i16, the lower half of an f32 master, to the bit
  kahan,         // rest: `compensation`, what the last rounding lost.  Kahan 1965, CACM 8(1); torchdistx's AnyPrecisionAdamW, but for the decay, which it rounds away
  stochastic,    // no rest: rounded up or down by chance, right in the mean.  Gupta et al. 2015, arXiv:1502.02551
};

// Every update computes in f32. A moment in bf16 is rounded by chance: it is a mean over more steps than 8 bits resolve, and to nearest it would not move.
struct Precision {
  DType momentum = DType::f32;      // of the first tensor of a parameter's state: f32 or bf16
  DType variance = DType::f32;      // of the others
  Weights weights = Weights::as_they_are;
  DType compensation = DType::bf16;
  uint64_t seed = current_seed();   // of the rounding by chance

  bool is_plain() const { return momentum == DType::f32 && variance == DType::f32 && weights == Weights::as_they_are; }
  // moments_dtype, split_master, use_kahan_summation, bf16_stochastic_round. Throws ArgumentError where two of the last three are true.
  void read(OptionReader& from);
  // adamw_anyprecision's momentum_dtype, variance_dtype, compensation_buffer_dtype.
  void read_dtypes(OptionReader& from);
};

}  // namespace rote::optim
