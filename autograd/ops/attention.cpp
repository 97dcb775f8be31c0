#include "autograd/ops/attention.h"

#include <algorithm>
#include <cmath>

#include "autograd/boxed.h"
#include "autograd/node.h"
#include "autograd/ops/random.h"
#include "autograd/ops/real.h"
#include "autograd/ops/view.h"

namespace rote {

namespace {

Strides3 strides3(const Tensor& x) { return {x.strides()[0], x.strides()[1], x.strides()[2]}; }

Tensor with_unit_last(const Tensor& x) { return x.strides()[3] == 1 || x.size(3) <= 1 ? x : contiguous(x); }

// [B,H,T,D] over memory laid out [B,T,H,D].
Tensor by_position(int64_t B, int64_t H, int64_t T, int64_t D, DType dtype) {
  const Tensor memory = empty({B, T, H, D}, {.dtype = dtype});
  return alias(memory, {B, H, T, D}, {T * H * D, D, H * D, 1}, 0);
}

// Strides of x over [B,H,T,S]; 0 where it repeats.
void broadcast_strides(const Tensor& x, const Shape& to, int64_t out[4]) {
  ROTE_CHECK(broadcasts_to(x.shape(), to), ShapeError, "attention: mask or bias is ", describe(x), "; it must broadcast to ", to, ".");
  const int lead = 4 - x.axes();
  for (int i = 0; i < 4; ++i) out[i] = i < lead || x.shape()[i - lead] == 1 ? 0 : x.strides()[i - lead];
}

template <class Real>
Attention<Real> described(const Call& call, const Tensor& q, const Tensor& k, const Tensor& v) {
  Attention<Real> a;
  a.B = q.size(0), a.H = q.size(1), a.T = q.size(2), a.S = k.size(2), a.D = q.size(3);
  a.q = q.data<Real>(), a.k = k.data<Real>(), a.v = v.data<Real>();
  a.q_at = strides3(q), a.k_at = strides3(k), a.v_at = strides3(v);
  const Shape scores{a.B, a.H, a.T, a.S};
  int64_t s[4];
  if (call.in[3].defined()) {
    broadcast_strides(call.in[3], scores, s);
    a.mask = reinterpret_cast<const uint8_t*>(call.in[3].data<bool>());
    a.mask_b = s[0], a.mask_h = s[1], a.mask_t = s[2], a.mask_s = s[3];
  }
  if (call.in[4].defined()) {
    broadcast_strides(call.in[4], scores, s);
    a.bias = call.in[4].data<Real>();
    a.bias_b = s[0], a.bias_h = s[1], a.bias_t = s[2], a.bias_s = s[3];
  }
  a.scale = static_cast<Real>(call.number(0));
  a.causal = call.flag(1);
  if (call.number(2) > 0) {
    int64_t rows;
    a.dropout = draw_of(call, call.number(2), &rows);
  }
  a.o = call.out[0].data<Real>(), a.o_at = strides3(call.out[0]);
  a.max = call.out[1].data<Real>(), a.sum = call.out[2].data<Real>();
  return a;
}

}  // namespace

void AttentionOp::infer(Call& call) {
  const Shape& q = call.in_shapes[0];
  const DType dtype = call.in[0].dtype();
  call.out[0] = by_position(q[0], q[1], q[2], q[3], dtype);
  for (const int i : {1, 2}) call.out[static_cast<size_t>(i)] = empty({q[0], q[1], q[2]}, {.dtype = dtype});
}

void AttentionOp::forward(Call& call) {
  if (call.number(2) > 0) call.draw = draw_id("dropout");
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor q = with_unit_last(call.in[0]), k = with_unit_last(call.in[1]), v = with_unit_last(call.in[2]);
    call.saw(kernels<Real>().attention(described<Real>(call, q, k, v)));
  });
}

void AttentionOp::backward(Call& call) {
  ROTE_CHECK(!call.dout[1].defined() && !call.dout[2].defined(), StateError, "attention: max and sum are statistics without a derivative.");
  with_real(call, call.out[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor q = with_unit_last(call.in[0]), k = with_unit_last(call.in[1]), v = with_unit_last(call.in[2]), dy = with_unit_last(call.dout[0]);
    AttentionGrad<Real> g;
    g.forward = described<Real>(call, q, k, v);
    g.dout = dy.data<Real>(), g.do_at = strides3(dy);
    const int64_t B = q.size(0), H = q.size(1), T = q.size(2), S = k.size(2), D = q.size(3);
    const Tensor dq = by_position(B, H, T, D, q.dtype()), dk = by_position(B, H, S, D, q.dtype()), dv = by_position(B, H, S, D, q.dtype());
    g.dq = dq.data<Real>(), g.dk = dk.data<Real>(), g.dv = dv.data<Real>();
    g.dq_at = strides3(dq), g.dk_at = strides3(dk), g.dv_at = strides3(dv);
    call.saw(kernels<Real>().attention_backward(g));
    call.din[0] = dq, call.din[1] = dk, call.din[2] = dv;
  });
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const double scale = options.scale != 0 ? options.scale : 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
  return apply<AttentionOp>({q, k, v, options.mask, options.bias}, {scale, options.causal, options.dropout});
}

namespace {

// [..., T, D] as [B,H,T,D]: missing axes come first, as broadcasting has it.
Tensor with_heads(const Tensor& x) {
  if (x.axes() < 2 || x.axes() > 4) throw Lacking{"scaled_dot_product_attention of other than two to four axes"};
  std::vector<int64_t> shape(x.shape().begin(), x.shape().end());
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  return reshape(x, shape);
}

// Each key head serves that many query heads in a row.
Tensor repeated_heads(const Tensor& x, int64_t times) {
  return reshape(expand(unsqueeze(x, 2), {x.size(0), x.size(1), times, x.size(2), x.size(3)}), {x.size(0), x.size(1) * times, x.size(2), x.size(3)});
}

Tensor attended(const Arguments& a) {
  constexpr const char* kWho = "scaled_dot_product_attention";
  const Tensor query = a.tensor("query"), key = a.tensor("key"), value = a.tensor("value"), mask = a.tensor_or_none("attn_mask");
  Tensor q = with_heads(query), k = with_heads(key), v = with_heads(value);
  AttentionOptions options;
  options.causal = a.flag("is_causal");
  options.dropout = a.number("dropout_p");
  if (a.given("scale")) options.scale = a.number("scale");
  ROTE_CHECK(!mask.defined() || !options.causal, ArgumentError, kWho, ": a mask and is_causal are given; give one of them.");
  if (mask.defined() && needs_grad(mask)) throw Lacking{"the gradient of an attention bias"};
  if (mask.defined()) (mask.dtype() == DType::boolean ? options.mask : options.bias) = mask;
  ROTE_CHECK(q.size(3) == k.size(3) && k.size(2) == v.size(2), ShapeError, kWho, ": query is ", describe(query), ", key ", describe(key), " and value ",
             describe(value), "; query and key must have one width, key and value one length.");
  if (v.size(3) != k.size(3)) throw Lacking{"scaled_dot_product_attention with values of another width than keys"};
  if (a.flag("enable_gqa") && k.size(1) != q.size(1)) {
    ROTE_CHECK(k.size(1) > 0 && v.size(1) == k.size(1) && q.size(1) % k.size(1) == 0, ShapeError, kWho, ": ", q.size(1), " query heads over ", k.size(1),
               " key heads; the first must be a multiple of the second.");
    const int64_t times = q.size(1) / k.size(1);
    k = repeated_heads(k, times), v = repeated_heads(v, times);
  }
  const auto lead = [](const Tensor& x) { return x.shape().slice(0, 2); };
  const Shape common = broadcast(broadcast(lead(q), lead(k), kWho), lead(v), kWho);
  for (Tensor* x : {&q, &k, &v})
    if (!(lead(*x) == common)) *x = expand(*x, {common[0], common[1], x->size(2), x->size(3)});
  const Tensor y = scaled_dot_product_attention(q, k, v, options);
  const int dropped = 4 - std::max({query.axes(), key.axes(), value.axes()});
  return reshape(y, std::vector<int64_t>(y.shape().begin() + dropped, y.shape().end()));
}

}  // namespace

std::vector<Composition> attention_compositions() {
  return {{"scaled_dot_product_attention", [](const Arguments& a) -> Value { return attended(a); }}};
}

}  // namespace rote
