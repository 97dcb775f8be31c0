// autograd/ops/conv.h — convolutions over one to three axes, their transposes, and the columns that their windows read.
#pragma once

#include "autograd/apply.h"

namespace rote {

// y[n,o,p] = Σ over the channels of o's group and the kernel of w[o,c,k]·x[n,c, p·stride - padding + k·dilation], + b[o]; outside of x is 0. The three
// rows are linear in each input, and each other's derivatives. Sums: kernels/table.h. Axes with one setting for all may be given as a list of one.
struct Convolution {
  static constexpr Row row{.name = "conv", .schema = "conv(x[...], w[...], b[...]?, stride=[1], padding=[0], dilation=[1], groups=1) -> y",
                           .saves = "x w", .reads = "w, x, ", .autocast = Autocast::lower,
                           .samples = "x=2,3,7 w=4,3,3 b=4 padding=[1]; x=2,4,5,6 w=6,2,3,2 b=6 stride=[2,1] padding=[1,0] dilation=[1,2] groups=2; "
                                      "x=1,2,3,4,3 w=2,2,2,2,2; x=3,4,6,5 w=4,1,3,3 padding=[1] groups=4; x=2,3,2,2 w=5,3,1,1 b=5; "
                                      "x=0,2,5 w=3,2,2 b=3"};
  static void forward(Call& call);
  static void backward(Call& call);
};

// x of a convolution from its y: w [I,O/groups,kernel], I channels in and O out.
struct ConvolutionTransposed {
  static constexpr Row row{.name = "conv_transpose",
                           .schema = "conv_transpose(x[...], w[...], b[...]?, stride=[1], padding=[0], output_padding=[0], groups=1, dilation=[1]) -> y",
                           .saves = "x w", .reads = "w, x, ", .autocast = Autocast::lower,
                           .samples = "x=2,3,4 w=3,2,3 b=2 stride=[2] padding=[1] output_padding=[1]; "
                                      "x=2,4,3,4 w=4,3,2,3 b=6 stride=[1,3] dilation=[2,1] groups=2; x=1,2,2,3,2 w=2,2,2,2,2; "
                                      "x=2,3,2,2 w=3,5,1,1 b=5; x=1,2,3 w=2,1,2 output_padding=[2] dilation=[3]; x=0,2,5 w=2,3,2"};
  static void forward(Call& call);
  static void backward(Call& call);
};

// dw of a convolution from its x and dy.
struct ConvolutionWeight {
  static constexpr Row row{.name = "conv_weight",
                           .schema = "conv_weight(x[...], dy[...], kernel, stride=[1], padding=[0], dilation=[1], groups=1) -> dw", .saves = "x dy",
                           .reads = "dy, x", .autocast = Autocast::lower,
                           .samples = "x=2,3,7 dy=2,4,7 kernel=[3] padding=[1]; "
                                      "x=2,4,5,6 dy=2,6,3,4 kernel=[3,2] stride=[2,1] padding=[1,0] dilation=[1,2] groups=2; "
                                      "x=0,2,5 dy=0,3,4 kernel=[2]"};
  static void forward(Call& call);
  static void backward(Call& call);
};

// [N,C,H,W] -> [N,C·kernel,L]: what each of the L windows reads, one window a column.
struct Im2col {
  static constexpr Row row{.name = "im2col", .schema = "im2col(x[N,C,H,W], kernel, dilation=[1], padding=[0], stride=[1]) -> y",
                           .samples = "N=2 C=3 H=4 W=5 kernel=[2,3] padding=[1,0] stride=[2,1]; N=1 C=2 H=5 W=5 kernel=[2,2] dilation=[2,1]; "
                                      "N=0 C=1 H=3 W=3 kernel=[2]"};
  static constexpr bool moves_only = true;
  static void forward(Call& call);
  static void backward(Call& call);
};

// The transpose: each element of [N,C,size] is the sum of the columns' values that were read from it.
struct Col2im {
  static constexpr Row row{.name = "col2im", .schema = "col2im(x[N,R,L], size, kernel, dilation=[1], padding=[0], stride=[1]) -> y",
                           .samples = "N=2 R=12 L=9 size=[4,5] kernel=[2,3] padding=[1,0] stride=[2,1]; "
                                      "N=1 R=4 L=12 size=[5,4] kernel=[2,2] dilation=[1,1]; N=0 R=4 L=4 size=[3,3] kernel=[2]"};
  static void forward(Call& call);
  static void backward(Call& call);
};

struct ConvOptions {
  std::vector<int64_t> stride = {1}, padding = {0}, dilation = {1};  // by axis, or one for all
  int64_t groups = 1;
  std::vector<int64_t> output_padding = {0};  // of transposed ones: how far the output reaches beyond the least that fits
  bool same = false;                          // in place of padding: so much that the sizes stay, odd ones at the end; stride 1
};

// x [N,C,…] or [C,…], w [O,C/groups,kernel…], b [O] or none -> [N,O,…].
Tensor conv1d(const Tensor& x, const Tensor& w, const Tensor& b = {}, const ConvOptions& options = {});
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& b = {}, const ConvOptions& options = {});
Tensor conv3d(const Tensor& x, const Tensor& w, const Tensor& b = {}, const ConvOptions& options = {});
// x [N,C,…] or [C,…], w [C,O/groups,kernel…], b [O] or none -> [N,O,…].
Tensor conv_transpose1d(const Tensor& x, const Tensor& w, const Tensor& b = {}, const ConvOptions& options = {});
Tensor conv_transpose2d(const Tensor& x, const Tensor& w, const Tensor& b = {}, const ConvOptions& options = {});
Tensor conv_transpose3d(const Tensor& x, const Tensor& w, const Tensor& b = {}, const ConvOptions& options = {});

struct WindowOptions {
  std::vector<int64_t> dilation = {1}, padding = {0}, stride = {1};  // by axis, or one for both
};
// x [N,C,H,W] or [C,H,W] -> [N,C·kernel,L] and back to H and W of `size`.
Tensor im2col(const Tensor& x, const std::vector<int64_t>& kernel, const WindowOptions& options = {});
Tensor col2im(const Tensor& x, const std::vector<int64_t>& size, const std::vector<int64_t>& kernel, const WindowOptions& options = {});
std::vector<Composition> conv_compositions();

using ConvOps = OpList<Convolution, ConvolutionTransposed, ConvolutionWeight, Im2col, Col2im>;

}  // namespace rote
