// nn/init.h — initial values of parameters. Which layer takes which is in the layers and the models.
#pragma once

#include <cstdint>
#include <string>

#include "tensor/tensor.h"

namespace rote::nn {

// Layers made inside have tensors without values: the caller fills them, from a file or by name.
class NoInit {
 public:
  NoInit();
  ~NoInit();
  NoInit(const NoInit&) = delete;
  NoInit& operator=(const NoInit&) = delete;

 private:
  bool before_;
};

// false inside of NoInit.
bool init_enabled();

// A parameter or buffer that starts as one number; without values inside of NoInit.
Tensor started(const Shape& shape, double value);

// The op id of the draw that fills the parameter `name` of a model: the same wherever and whenever the model is built.
uint32_t init_draw(const std::string& name);
// The op id of the next draw of a layer that does not know its name yet; counts from manual_seed().
uint32_t init_draw();

// Fill x (contiguous; drawn as f32, then rounded) from Philox under the seed of the process, sample 0 (arithmetic.md 7).
void fill_normal(const Tensor& x, double std, uint32_t draw);
void fill_uniform(const Tensor& x, double low, double high, uint32_t draw);

}  // namespace rote::nn
