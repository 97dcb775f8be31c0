#include "nn/recompute.h"

namespace rote::nn {

namespace {
thread_local RecomputeLayers* current = nullptr;
}  // namespace

RecomputeLayers::RecomputeLayers(int64_t every_n_layers) : every_(every_n_layers), outer_(current) { current = this; }
RecomputeLayers::~RecomputeLayers() { current = outer_; }

bool recomputes_layer(size_t i) {
  if (current == nullptr || current->every_ == 0 || static_cast<int64_t>(i) % current->every_ != 0) return false;
  ++current->layers_;
  return true;
}

}  // namespace rote::nn
