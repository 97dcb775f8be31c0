#include "trainer/neftune.h"

#include <cmath>

#include "autograd/ops/pointwise.h"
#include "kernels/table.h"
#include "tensor/generator.h"

namespace rote {

Neftune::Neftune(nn::Model& model, double alpha) : alpha_(alpha) {
  for (const nn::NamedModule& named : model.named_modules()) {
    if (named.module->class_name() != "Embedding") continue;
    const auto add_noise = [this](nn::Module& module, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
      if (module.training() && main_.defined() && inputs[0].storage() == main_.storage()) outputs[0] = noisy(outputs[0]);
    };
    hooks_.push_back({named.module, named.module->register_forward_hook(add_noise)});
  }
  ROTE_CHECK(!hooks_.empty(), ArgumentError, "neftune_noise_alpha: the model has no Embedding whose output could take the noise; leave it out.");
}

Neftune::~Neftune() {
  for (const Hook& hook : hooks_) hook.module->remove_hook(hook.id);
}

void Neftune::expect(const Tensor& main, int64_t longest) {
  main_ = main;
  longest_ = longest;
}

Tensor Neftune::noisy(const Tensor& y) const {
  const RunScope scope = current_scope() != nullptr ? *current_scope() : RunScope{.seed = current_seed(), .samples = y.size(0)};
  const uint32_t draw = draw_id("neftune");
  const Tensor noise = empty(y.shape());
  const int64_t rows = y.size(0), values = y.numel() / rows;
  const auto first = scope.first_sample * static_cast<uint64_t>(rows / scope.samples);
  const float m = static_cast<float>(alpha_ / std::sqrt(static_cast<double>(longest_ * y.size(-1))));
  for (int64_t row = 0; row < rows; ++row) {
    float* u = noise.data<float>() + row * values;
    kernels<float>().uniform(scope.seed, draw, first + static_cast<uint64_t>(row), values, u);
    for (int64_t i = 0; i < values; ++i) u[i] = (2 * u[i] - 1) * m;
  }
  return y + converted(noise, y.dtype());
}

}  // namespace rote
