// nn/rope.h — rotary position embedding: frequencies with the scalings of the reference, and the rotation. Su et al. 2021, arXiv:2104.09864
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/config.h"
#include "tensor/tensor.h"

namespace rote::nn {

// `rope_parameters` of a config; read from the older `rope_theta` and `rope_scaling` too.
struct RopeParameters {
  std::string rope_type = "default";  // default, linear, dynamic (NTK), yarn (Peng et al. 2023, arXiv:2309.00071), llama3
  double rope_theta = 10000;
  double factor = 1;
  std::optional<int64_t> original_max_position_embeddings;
  std::optional<double> attention_factor, beta_fast, beta_slow, mscale, mscale_all_dim;
  std::optional<double> low_freq_factor, high_freq_factor;
  std::optional<double> partial_rotary_factor;
  bool truncate = true;

  void visit(ConfigFields& fields);
  void check(int64_t max_position_embeddings) const;
};

// The frequency of each pair of channels, in rows of `length` positions of a model that was made for `longest`.
std::vector<double> rope_frequencies(const RopeParameters& parameters, int64_t head_dim, int64_t longest, int64_t length);

// cos and sin [B,1,T,D] of given places, computed in f64 and rounded once.
struct Rotation {
  Tensor cos, sin;
};

class RotaryEmbedding {
 public:
  RotaryEmbedding(const RopeParameters& parameters, int64_t head_dim, int64_t max_position_embeddings);
  // places i64 [B,T] or [1,T]; dtype is that of the queries.
  Rotation operator()(const Tensor& places, DType dtype) const;

 private:
  RopeParameters parameters_;
  int64_t head_dim_, longest_;
  double scaling_ = 1;  // of cos and sin
};

// x [B,H,T,D] -> x·cos + (-x₂, x₁)·sin with x₁, x₂ the halves of D: pairs of channels D/2 apart turn by their angle.
Tensor rotate(const Tensor& x, const Rotation& by);

}  // namespace rote::nn
