// autograd/ops/resample.h — values between the elements: interpolation to other sizes, and channels turned into positions.
#pragma once

#include <string>

#include "autograd/apply.h"

namespace rote {

// One axis to another size. Modes: nearest, nearest-exact, linear, cubic (a = -3/4), area (means of ⌊j·n/size⌋ … ⌈(j+1)·n/size⌉ - 1), and for pad():
// reflect, replicate, circular with `before` elements in front. Positions are PyTorch's, to the bit of the dtype; scale 0: from the sizes.
// back > 0: the transpose, which brings the axis from `size` back to `back` elements. Linear in x, so the two are each other's derivatives.
struct Resample {
  static constexpr Row row{.name = "resample", .schema = "resample(x[...], axis, size, mode, align_corners=false, scale=0.0, before=0, back=0) -> y",
                           .samples = "x=2,5,3 axis=1 size=8 mode=\"linear\"; x=2,7 axis=-1 size=3 mode=\"cubic\"; "
                                      "x=2,4 axis=1 size=6 mode=\"nearest\"; x=5,2 axis=0 size=3 mode=\"nearest-exact\" scale=0.6; "
                                      "x=2,5 axis=1 size=3 mode=\"area\"; x=6 axis=0 size=4 mode=\"linear\" align_corners=true; "
                                      "x=2,9 axis=1 size=9 mode=\"reflect\" before=2 back=5; x=3,4 axis=1 size=9 mode=\"replicate\" before=3; "
                                      "x=3,4 axis=1 size=7 mode=\"circular\" before=1; x=0,4 axis=1 size=2 mode=\"linear\""};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct InterpolateOptions {
  std::vector<int64_t> size = {};  // of the axes after the channels; or
  std::vector<double> scale = {};  // factors by axis
  std::string mode = "nearest";    // nearest, nearest-exact, linear (bilinear, trilinear by the number of axes), cubic (two axes), area
  bool align_corners = false;      // linear and cubic: the outermost elements stay where they are
};
// x [N,C,…] with one to three axes more. The last axis is resampled first.
Tensor interpolate(const Tensor& x, const InterpolateOptions& options);

// [*,C·r²,H,W] -> [*,C,H·r,W·r] and back.
Tensor pixel_shuffle(const Tensor& x, int64_t r);
Tensor pixel_unshuffle(const Tensor& x, int64_t r);
// [N,C,…]: channel g·(C/groups) + i moves to i·groups + g.
Tensor channel_shuffle(const Tensor& x, int64_t groups);
std::vector<Composition> resample_compositions();

using ResampleOps = OpList<Resample>;

}  // namespace rote
