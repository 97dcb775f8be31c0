#include "nn/init.h"

#include "autograd/mode.h"
#include "kernels/pool.h"
#include "kernels/table.h"
#include "tensor/generator.h"

namespace rote::nn {

namespace {
thread_local bool enabled = true;
}  // namespace

NoInit::NoInit() : before_(enabled) { enabled = false; }
NoInit::~NoInit() { enabled = before_; }
bool init_enabled() { return enabled; }

Tensor started(const Shape& shape, double value) {
  const Tensor x = empty(shape);
  if (init_enabled()) fill(x, value);
  return x;
}

uint32_t init_draw(const std::string& name) { return draw_id("init", name, 0); }
uint32_t init_draw() { return draw_id("init"); }

namespace {

// Fills x through f(p, n) over f32.
template <class Fill>
void fill_as_f32(const Tensor& x, Fill f) {
  const Tensor wide = x.dtype() == DType::f32 ? x : empty(x.shape());
  with_default_control([&] { f(wide.data<float>(), wide.numel()); });
  if (wide.impl() != x.impl()) copy_elements(x, wide);
  x.storage()->bump_version();
}

}  // namespace

void fill_normal(const Tensor& x, double std, uint32_t draw) {
  fill_as_f32(x, [&](float* p, int64_t n) {
    kernels<float>().normal(current_seed(), draw, 0, n, p);
    const float scale = static_cast<float>(std);
    for (int64_t i = 0; i < n; ++i) p[i] *= scale;
  });
}

void fill_uniform(const Tensor& x, double low, double high, uint32_t draw) {
  fill_as_f32(x, [&](float* p, int64_t n) {
    kernels<float>().uniform(current_seed(), draw, 0, n, p);
    const float first = static_cast<float>(low), width = static_cast<float>(high - low);
    for (int64_t i = 0; i < n; ++i) p[i] = first + width * p[i];
  });
}

}  // namespace rote::nn
