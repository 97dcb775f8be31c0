// nn/recompute.h — layers that keep their input only and run again in backward (activation checkpointing). How: autograd/checkpoint.h.
#pragma once

#include <cstdint>

#include "autograd/checkpoint.h"
#include "autograd/mode.h"

namespace rote::nn {

// While it lives, on its thread, layers 0, n, 2n, … of each stack keep their input only. The bits stay: dropout draws the same again.
class RecomputeLayers {
 public:
  explicit RecomputeLayers(int64_t every_n_layers);  // 0: none
  ~RecomputeLayers();
  RecomputeLayers(const RecomputeLayers&) = delete;
  RecomputeLayers& operator=(const RecomputeLayers&) = delete;

  int64_t layers() const { return layers_; }  // that did so since

 private:
  friend bool recomputes_layer(size_t i);
  int64_t every_, layers_ = 0;
  RecomputeLayers* outer_;
};
bool recomputes_layer(size_t i);

// f(x) for layer i of a stack, f a layer's call with all that it needs beside x held by value; its result has the next input in `context`.
// whole: more of the result is looked at, so it is not computed in two goes.
template <class F>
auto run_layer(size_t i, bool whole, const Tensor& x, const F& f) {
  using Result = decltype(f(x));
  if (whole || !grad_enabled() || !recomputes_layer(i)) return f(x);
  Result result;
  result.context = checkpoint([f](const Tensor& in) { return f(in).context; }, x);
  return result;
}

}  // namespace rote::nn
