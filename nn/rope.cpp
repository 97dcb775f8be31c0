#include "nn/rope.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "kernels/math64.h"

namespace rote::nn {

void RopeParameters::visit(ConfigFields& fields) {
  const auto inner = [this](ConfigFields& in) {
    if (in.reads()) in.field("type", rope_type);
    in.field("rope_type", rope_type);
    in.field("rope_theta", rope_theta);
    const auto scaled = [&](const char* name, auto& value) {
      if (in.reads() || value) in.field(name, value);
    };
    if (in.reads() || rope_type != "default") in.field("factor", factor);
    scaled("original_max_position_embeddings", original_max_position_embeddings);
    scaled("attention_factor", attention_factor);
    scaled("beta_fast", beta_fast);
    scaled("beta_slow", beta_slow);
    scaled("mscale", mscale);
    scaled("mscale_all_dim", mscale_all_dim);
    scaled("low_freq_factor", low_freq_factor);
    scaled("high_freq_factor", high_freq_factor);
    scaled("partial_rotary_factor", partial_rotary_factor);
    if (in.reads() || !truncate) in.field("truncate", truncate);
  };
  if (fields.reads()) {
    fields.field("rope_theta", rope_theta);
    fields.group("rope_scaling", inner);
  }
  fields.group("rope_parameters", inner);
}

void RopeParameters::check(int64_t max_position_embeddings) const {
  static const char* const kKnown[] = {"default", "linear", "dynamic", "yarn", "llama3"};
  ROTE_CHECK(std::any_of(std::begin(kKnown), std::end(kKnown), [&](const char* one) { return rope_type == one; }), ArgumentError, "config: rope_type is \"", rope_type,
             "\"; built are default, linear, dynamic, yarn and llama3.");
  ROTE_CHECK(rope_theta > 0, ArgumentError, "config: rope_theta is ", rope_theta, "; it must be positive.");
  ROTE_CHECK(factor >= 1, ArgumentError, "config: rope factor is ", factor, "; it must be at least 1.");
  ROTE_CHECK(rope_type != "llama3" || (low_freq_factor && high_freq_factor && *low_freq_factor < *high_freq_factor), ArgumentError,
             "config: rope_type llama3 needs a low_freq_factor below its high_freq_factor.");
  ROTE_CHECK(!partial_rotary_factor || *partial_rotary_factor == 1, ArgumentError, "config: partial_rotary_factor is ", partial_rotary_factor.value_or(1),
             "; heads that turn in part are not built.");
  ROTE_CHECK(original_max_position_embeddings.value_or(max_position_embeddings) > 0, ArgumentError,
             "config: original_max_position_embeddings is ", *original_max_position_embeddings, "; it must be at least 1.");
}

namespace {

constexpr double kTwoPi = 6.283185307179586477;

double yarn_scale(double factor, double mscale) { return factor <= 1 ? 1 : 0.1 * mscale * math64::log(factor) + 1; }

}  // namespace

std::vector<double> rope_frequencies(const RopeParameters& p, int64_t head_dim, int64_t longest, int64_t length) {
  const double D = static_cast<double>(head_dim);
  double theta = p.rope_theta;
  if (p.rope_type == "dynamic") {
    const double trained = static_cast<double>(longest), seen = static_cast<double>(std::max(length, longest));
    theta *= math64::pow(p.factor * seen / trained - (p.factor - 1), D / (D - 2));
  }
  std::vector<double> f;
  for (int64_t i = 0; i < head_dim; i += 2) f.push_back(1 / math64::pow(theta, static_cast<double>(i) / D));
  if (p.rope_type == "linear")
    for (double& one : f) one /= p.factor;
  const double original = static_cast<double>(p.original_max_position_embeddings.value_or(longest));
  if (p.rope_type == "llama3") {
    const double low = *p.low_freq_factor, high = *p.high_freq_factor;
    for (double& one : f) {
      const double wavelength = kTwoPi / one;
      if (wavelength < original / high) continue;
      const double smooth = (original / wavelength - low) / (high - low);
      one = wavelength > original / low ? one / p.factor : (1 - smooth) * one / p.factor + smooth * one;
    }
  }
  if (p.rope_type == "yarn") {
    // The channel whose wave turns `times` times within the original length.
    const auto channel = [&](double times) { return D * math64::log(original / (times * kTwoPi)) / (2 * math64::log(p.rope_theta)); };
    double low = channel(p.beta_fast.value_or(32)), high = channel(p.beta_slow.value_or(1));
    if (p.truncate) low = std::floor(low), high = std::ceil(high);
    low = std::max(low, 0.0), high = std::min(high, D - 1);
    if (low == high) high += 0.001;
    for (size_t i = 0; i < f.size(); ++i) {
      const double kept = 1 - std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
      f[i] = f[i] / p.factor * (1 - kept) + f[i] * kept;
    }
  }
  return f;
}

RotaryEmbedding::RotaryEmbedding(const RopeParameters& parameters, int64_t head_dim, int64_t max_position_embeddings)
    : parameters_(parameters), head_dim_(head_dim), longest_(max_position_embeddings) {
  const RopeParameters& p = parameters_;
  if (p.rope_type != "yarn") return;
  if (p.attention_factor) scaling_ = *p.attention_factor;
  else if (p.mscale && p.mscale_all_dim) scaling_ = yarn_scale(p.factor, *p.mscale) / yarn_scale(p.factor, *p.mscale_all_dim);
  else scaling_ = yarn_scale(p.factor, 1);
}

Rotation RotaryEmbedding::operator()(const Tensor& places, DType dtype) const {
  const Tensor at = contiguous(places);
  const int64_t B = at.size(0), T = at.size(1), n = B * T, half = head_dim_ / 2;
  int64_t length = 0;
  for (int64_t i = 0; i < n; ++i) length = std::max(length, at.data<int64_t>()[i] + 1);
  const std::vector<double> f = rope_frequencies(parameters_, head_dim_, longest_, length);
  const Tensor cos = empty({B, 1, T, head_dim_}, {.dtype = DType::f64}), sin = empty({B, 1, T, head_dim_}, {.dtype = DType::f64});
  for (int64_t i = 0; i < n; ++i)
    for (int64_t c = 0; c < half; ++c) {
      const double angle = static_cast<double>(at.data<int64_t>()[i]) * f[static_cast<size_t>(c)];
      for (const int64_t place : {c, c + half}) {
        cos.data<double>()[i * head_dim_ + place] = math64::cos(angle) * scaling_;
        sin.data<double>()[i * head_dim_ + place] = math64::sin(angle) * scaling_;
      }
    }
  return {converted(cos, dtype), converted(sin, dtype)};
}

Tensor rotate(const Tensor& x, const Rotation& by) {
  const int64_t D = x.size(3);
  const Tensor turned = cat({neg(slice(x, 3, D / 2, D)), slice(x, 3, 0, D / 2)}, 3);
  return x * by.cos + turned * by.sin;
}

}  // namespace rote::nn
