#include "autograd/ops/random.h"

#include <cmath>

#include "autograd/ops/real.h"

namespace rote {

Dropout draw_of(const Call& call, double p, int64_t* rows) {
  ROTE_CHECK(p >= 0 && p <= 1, ArgumentError, call.op->row.name, ": p is ", p, "; a probability lies in [0,1].");
  const Shape& shape = call.in_shapes[0];
  const bool by_sample = call.scope.by_sample(shape);
  *rows = by_sample ? shape[0] : 1;
  Dropout d;
  d.seed = call.seed;
  // Rows that share a sample (the choices of a multiple-choice question) follow one another.
  d.first_sample = by_sample ? call.scope.first_sample * static_cast<uint64_t>(shape[0] / call.scope.samples) : call.scope.first_sample;
  d.op = call.draw;
  d.threshold = static_cast<uint32_t>(std::lround(p * 65536.0));
  d.scale = d.threshold >= 65536 ? 0.0f : static_cast<float>(65536.0 / (65536.0 - d.threshold));
  return d;
}

void DropoutOp::forward(Call& call) {
  call.draw = call.given(1) ? static_cast<uint32_t>(call.integer(1)) : draw_id("dropout");
  if (call.given(2)) call.seed = static_cast<uint64_t>(call.integer(2));
  const Tensor x = contiguous(call.in[0]);
  int64_t rows;
  const Dropout d = draw_of(call, call.number(0), &rows);
  with_real(call, x.dtype(), [&](auto t) {
    using Real = decltype(t);
    call.saw(kernels<Real>().dropout(d, rows, x.numel() / rows, x.data<Real>(), call.out[0].data<Real>()));
  });
}
void DropoutOp::backward(Call& call) { call.din[0] = apply<DropoutOp>({call.dout[0]}, {call.number(0), int64_t{call.draw}, static_cast<int64_t>(call.seed)}); }

}  // namespace rote
