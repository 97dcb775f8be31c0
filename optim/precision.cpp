#include "optim/precision.h"

namespace rote::optim {

void Precision::read(OptionReader& from) {
  constexpr struct {
    const char* name;
    Weights weights;
  } kWays[] = {{"split_master", Weights::split_master}, {"use_kahan_summation", Weights::kahan}, {"bf16_stochastic_round", Weights::stochastic}};
  from.take("moments_dtype", momentum);
  variance = momentum;
  const char* chosen = nullptr;
  for (const auto& way : kWays) {
    bool on = false;
    from.take(way.name, on);
    if (!on) continue;
    if (chosen != nullptr) from.fault(str(chosen, " and ", way.name, " are both true; each is a way to keep what bfloat16 weights lose, give one."));
    chosen = way.name;
    weights = way.weights;
  }
}

void Precision::read_dtypes(OptionReader& from) {
  from.take("momentum_dtype", momentum);
  from.take("variance_dtype", variance);
  from.take("compensation_buffer_dtype", compensation);
}

}  // namespace rote::optim
