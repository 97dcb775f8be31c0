#include "autograd/ops/attention.h"

#include <algorithm>
#include <cmath>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/random.h"
#include "autograd/ops/stored.h"
#include "autograd/ops/view.h"
#include "autograd/sum_to.h"
#include "kernels/rare_table.h"

namespace rote {

namespace {

Strides3 strides3(const Tensor& x) { return {x.strides()[0], x.strides()[1], x.strides()[2]}; }

Tensor with_unit_last(const Tensor& x) { return x.strides()[3] == 1 || x.size(3) <= 1 ? x : contiguous(x); }

// Of the shape [B,H,T,D], over memory laid out [B,T,H,D].
Tensor by_position(const Shape& shape, DType dtype) {
  const int64_t B = shape[0], H = shape[1], T = shape[2], D = shape[3];
  const Tensor memory = empty({B, T, H, D}, {.dtype = dtype});
  return alias(memory, shape, {T * H * D, D, H * D, 1}, 0);
}

// Strides of x over [B,H,T,S]; 0 where it repeats.
void broadcast_strides(const Tensor& x, const Shape& to, int64_t out[4]) {
  ROTE_CHECK(broadcasts_to(x.shape(), to), ShapeError, "attention: mask or bias is ", describe(x), "; it must broadcast to ", to, ".");
  const int lead = 4 - x.axes();
  for (int i = 0; i < 4; ++i) out[i] = i < lead || x.shape()[i - lead] == 1 ? 0 : x.strides()[i - lead];
}

template <class Real>
Attention<Real> described(const Call& call, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) {
  Attention<Real> a;
  a.B = q.size(0), a.H = q.size(1), a.T = q.size(2), a.S = k.size(2), a.D = q.size(3), a.E = v.size(3);
  a.q = elements<Real>(q, call.lower), a.k = elements<Real>(k, call.lower), a.v = elements<Real>(v, call.lower);
  a.q_at = strides3(q), a.k_at = strides3(k), a.v_at = strides3(v);
  const Shape scores{a.B, a.H, a.T, a.S};
  int64_t s[4];
  if (call.in[3].defined()) {
    broadcast_strides(call.in[3], scores, s);
    a.mask = reinterpret_cast<const uint8_t*>(call.in[3].data<bool>());
    a.mask_b = s[0], a.mask_h = s[1], a.mask_t = s[2], a.mask_s = s[3];
  }
  if (bias.defined()) {
    broadcast_strides(bias, scores, s);
    a.bias = bias.data<Real>();
    a.bias_b = s[0], a.bias_h = s[1], a.bias_t = s[2], a.bias_s = s[3];
  }
  a.scale = static_cast<Real>(call.number(0));
  a.causal = call.flag(1);
  if (call.number(2) != 0) {
    int64_t rows;
    a.dropout = draw_of(call, call.number(2), &rows);
  }
  a.o = results<Real>(call.out[0]), a.o_at = strides3(call.out[0]);
  a.max = call.out[1].data<Real>(), a.sum = call.out[2].data<Real>();
  return a;
}

}  // namespace

void AttentionOp::infer(Call& call) {
  const Shape& q = call.in_shapes[0];
  const DType dtype = call.lower.value_or(call.in[0].dtype());
  call.out[0] = by_position({q[0], q[1], q[2], call.in_shapes[2][3]}, dtype);
  for (const int i : {1, 2}) call.out[static_cast<size_t>(i)] = empty({q[0], q[1], q[2]}, {.dtype = dtype == DType::f64 ? DType::f64 : DType::f32});
}

void AttentionOp::forward(Call& call) {
  if (call.number(2) != 0) call.draw = draw_id("dropout");
  with_wide_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor q = with_unit_last(call.in[0]), k = with_unit_last(call.in[1]), v = with_unit_last(call.in[2]), bias = as_reals(call, call.in[4]);
    call.saw(rare_kernels<AttentionTable, Real>().attention(described<Real>(call, q, k, v, bias)));
  });
}

void AttentionOp::backward(Call& call) {
  ROTE_CHECK(!call.dout[1].defined() && !call.dout[2].defined(), StateError, "attention: max and sum are statistics without a derivative.");
  with_wide_real(call, call.out[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor q = with_unit_last(call.in[0]), k = with_unit_last(call.in[1]), v = with_unit_last(call.in[2]), dy = with_unit_last(call.dout[0]);
    const Tensor bias = as_reals(call, call.in[4]);
    AttentionGrad<Real> g;
    g.forward = described<Real>(call, q, k, v, bias);
    g.dout = elements<Real>(dy), g.do_at = strides3(dy);
    const Tensor dq = by_position(q.shape(), call.in_dtypes[0]), dk = by_position(k.shape(), call.in_dtypes[1]), dv = by_position(v.shape(), call.in_dtypes[2]);
    g.dq = results<Real>(dq), g.dk = results<Real>(dk), g.dv = results<Real>(dv);
    g.dq_at = strides3(dq), g.dk_at = strides3(dk), g.dv_at = strides3(dv);
    Tensor dscores;
    if (call.wants(4)) {
      dscores = zeros({q.size(0), q.size(1), q.size(2), k.size(2)}, {.dtype = DTypeOf<Real>::value});
      g.dscores = dscores.data<Real>();
    }
    call.saw(rare_kernels<AttentionTable, Real>().attention_backward(g));
    call.din[0] = dq, call.din[1] = dk, call.din[2] = dv;
    if (dscores.defined()) call.din[4] = sum_to(dscores, call.in_shapes[4], call.scope, &call.amax);
  });
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const double scale = options.scale != 0 ? options.scale : 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
  return apply<AttentionOp>({q, k, v, options.mask, options.bias}, {scale, options.causal, options.dropout});
}

namespace {

// Each key head serves that many query heads in a row.
Tensor repeated_heads(const Tensor& x, int64_t times) {
  std::vector<int64_t> shape(x.shape().begin(), x.shape().end());
  shape.insert(shape.end() - 2, times);
  const int heads = x.axes() - 3;
  return flatten(expand(unsqueeze(x, heads + 1), shape), heads, heads + 1);
}

// [...,T,D] as [B,H,T,D]: of more than two leading axes all but the last are one.
Tensor with_heads(const Tensor& x) {
  const int lead = x.axes() - 2;
  if (lead > 2) return flatten(x, 0, lead - 2);
  std::vector<int64_t> shape(x.shape().begin(), x.shape().end());
  shape.insert(shape.begin(), static_cast<size_t>(2 - lead), 1);
  return reshape(x, shape);
}

Tensor attended(const Arguments& a) {
  constexpr const char* kWho = "scaled_dot_product_attention";
  Tensor q = a.tensor("query"), k = a.tensor("key"), v = a.tensor("value"), mask = a.tensor_or_none("attn_mask");
  for (const Tensor* x : {&q, &k, &v})
    ROTE_CHECK(x->axes() >= 2 && x->dtype() == q.dtype(), ShapeError, kWho, ": query is ", describe(q), ", key ", describe(k), " and value ", describe(v),
               "; all need two axes at least and one dtype.");
  ROTE_CHECK(q.size(-1) == k.size(-1) && k.size(-2) == v.size(-2), ShapeError, kWho, ": query is ", describe(q), ", key ", describe(k), " and value ",
             describe(v), "; query and key must have one width, key and value one length.");
  AttentionOptions options;
  options.causal = a.flag("is_causal");
  options.dropout = a.number("dropout_p");
  if (a.given("scale")) options.scale = a.number("scale");
  ROTE_CHECK(!mask.defined() || !options.causal, ArgumentError, kWho, ": a mask and is_causal are given; give one of them.");
  if (a.flag("enable_gqa") && q.axes() >= 3 && k.axes() >= 3 && v.axes() >= 3) {
    const int64_t heads = q.size(-3);
    for (Tensor* x : {&k, &v}) {
      ROTE_CHECK(x->size(-3) > 0 && heads % x->size(-3) == 0, ShapeError, kWho, ": ", heads, " query heads over ", x->size(-3),
                 " key or value heads; the first must be a multiple of the second.");
      if (x->size(-3) != heads) *x = repeated_heads(*x, heads / x->size(-3));
    }
  }
  const auto lead = [](const Tensor& x) { return x.shape().slice(0, x.axes() - 2); };
  const Shape common = broadcast(broadcast(lead(q), lead(k), kWho), lead(v), kWho);
  const auto under = [&](const Tensor& x) {  // x with the common leading axes
    std::vector<int64_t> shape(common.begin(), common.end());
    shape.push_back(x.size(-2)), shape.push_back(x.size(-1));
    return lead(x) == common ? x : expand(x, shape);
  };
  std::vector<int64_t> result(common.begin(), common.end());
  result.push_back(q.size(-2)), result.push_back(v.size(-1));
  if (mask.defined()) {
    Shape scores = common;
    scores.append(q.size(-2)), scores.append(k.size(-2));
    ROTE_CHECK(broadcasts_to(mask.shape(), scores), ShapeError, kWho, ": attn_mask is ", describe(mask), "; it must broadcast to ", scores, ".");
    if (mask.axes() > 4 || common.axes() > 2) mask = with_heads(expand(mask, {scores.begin(), scores.end()}));
  }
  // A bias of another floating dtype is taken as it is: all is computed in the wider one.
  const DType dtype = q.dtype();
  const bool widened = mask.defined() && mask.dtype() != DType::boolean && mask.dtype() != dtype;
  const auto wide = [&](const Tensor& x) { return widened ? to(x, mask.dtype() == DType::f64 ? DType::f64 : DType::f32) : x; };
  if (mask.defined()) (mask.dtype() == DType::boolean ? options.mask : options.bias) = mask.dtype() == DType::boolean ? mask : wide(mask);
  const Tensor y = scaled_dot_product_attention(wide(with_heads(under(q))), wide(with_heads(under(k))), wide(with_heads(under(v))), options);
  return to(reshape(y, result), dtype);
}

}  // namespace

std::vector<Composition> attention_compositions() {
  return {{"scaled_dot_product_attention", [](const Arguments& a) -> Value { return attended(a); }}};
}

}  // namespace rote
