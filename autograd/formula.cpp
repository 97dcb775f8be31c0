// autograd/formula.cpp — runs a formula op: promotion, broadcasting, contiguous calls where possible, blocks where not.
#include <algorithm>
#include <cmath>

#include "autograd/formula.h"
#include "autograd/ops/pointwise.h"
#include "autograd/sum_to.h"
#include "kernels/pool.h"
#include "tensor/launch.h"

namespace rote {

namespace {

// PyTorch's promotion: tensors with axes count first, then tensors without, and the latter only by category.
DType promoted(DType a, DType b) {
  if (a == b) return a;
  const int ca = info(a).category, cb = info(b).category;
  if (ca != cb) return ca > cb ? a : b;
  if (ca == 2) {
    if (size_of(a) == 2 && size_of(b) == 2) return DType::f32;
    return size_of(a) > size_of(b) ? a : b;
  }
  const bool unsigned_a = a == DType::u8, unsigned_b = b == DType::u8;
  if (unsigned_a != unsigned_b && size_of(a) == size_of(b)) return DType::i16;
  return size_of(a) > size_of(b) ? a : b;
}

}  // namespace

DType result_type(const std::vector<Tensor>& inputs) {
  bool any[2] = {};
  DType type[2] = {};
  for (const Tensor& x : inputs) {
    const int scalar = x.axes() == 0 ? 1 : 0;
    type[scalar] = any[scalar] ? promoted(type[scalar], x.dtype()) : x.dtype();
    any[scalar] = true;
  }
  if (!any[0]) return type[1];
  if (!any[1] || info(type[0]).category >= info(type[1]).category) return type[0];
  return promoted(type[0], type[1]);
}

namespace {

template <class Real>
bool is_plain(const Tensor& x, const Shape& shape) {
  return x.dtype() == DTypeOf<Real>::value && x.shape() == shape && x.is_contiguous();
}

constexpr int kMaxOperands = 4;

template <class Real>
void forward_as(Call& call) {
  const FormulaKernel<Real>& kernel = call.op->formula->kernel<Real>();
  Tensor& y = call.out[0];
  Real params[kMaxOperands] = {};
  for (size_t i = 0; i < call.attrs.size(); ++i) params[i] = static_cast<Real>(call.number(static_cast<int>(i)));
  const bool plain = y.dtype() == DTypeOf<Real>::value &&
                     std::all_of(call.in.begin(), call.in.end(), [&](const Tensor& x) { return is_plain<Real>(x, y.shape()); });
  const int inputs = static_cast<int>(call.in.size());
  if (plain) {
    const Real* in[kMaxOperands];
    for (int i = 0; i < inputs; ++i) in[i] = call.in[static_cast<size_t>(i)].data<Real>();
    call.saw(kernel.forward(y.numel(), in, params, y.data<Real>()));
    return;
  }
  std::vector<BlockSource> from;
  for (const Tensor& x : call.in) from.emplace_back(x, y.shape());
  const BlockSource to(y, y.shape());
  const int64_t n = y.numel();
  call.saw(parallel((n + kBlock - 1) / kBlock, [&](int64_t block) -> uint32_t {
    alignas(64) Real buffers[kMaxOperands][kBlock];
    const Real* in[kMaxOperands];
    const int64_t first = block * kBlock, count = std::min(kBlock, n - first);
    for (int i = 0; i < inputs; ++i) {
      gather(from[static_cast<size_t>(i)], first, count, buffers[i]);
      in[i] = buffers[i];
    }
    const uint32_t word = kernel.forward(count, in, params, buffers[0]);
    scatter(to, first, count, buffers[0]);
    return word;
  }));
}

template <class Real>
std::vector<Tensor> gradients_as(const OpEntry& op, const std::vector<Tensor>& saved, const Tensor& dy, const std::vector<double>& attrs,
                                 const std::vector<bool>& wanted, uint32_t* amax) {
  const FormulaKernel<Real>& kernel = op.formula->kernel<Real>();
  const Shape& shape = dy.shape();
  const size_t saved_count = saved.size(), inputs = wanted.size();
  Real params[kMaxOperands] = {};
  for (size_t i = 0; i < attrs.size(); ++i) params[i] = static_cast<Real>(attrs[i]);
  std::vector<Tensor> din(inputs);
  Real* out[kMaxOperands] = {};
  for (size_t i = 0; i < inputs; ++i) {
    if (!wanted[i]) continue;
    din[i] = empty(shape, {.dtype = DTypeOf<Real>::value});
    out[i] = din[i].data<Real>();
  }
  bool plain = is_plain<Real>(dy, shape);
  for (const Tensor& x : saved) plain = plain && is_plain<Real>(x, shape);
  const int64_t n = dy.numel();
  uint32_t word;
  if (plain) {
    const Real* x[kMaxOperands] = {};
    for (size_t i = 0; i < saved_count; ++i) x[i] = saved[i].data<Real>();
    word = kernel.backward(n, x, dy.data<Real>(), params, out);
  } else {
    std::vector<BlockSource> from;
    for (const Tensor& x : saved) from.emplace_back(x, shape);
    from.emplace_back(dy, shape);
    word = parallel((n + kBlock - 1) / kBlock, [&](int64_t block) -> uint32_t {
      alignas(64) Real buffers[kMaxOperands][kBlock];
      const Real* x[kMaxOperands] = {};
      Real* part[kMaxOperands] = {};
      const int64_t first = block * kBlock, count = std::min(kBlock, n - first);
      for (size_t i = 0; i <= saved_count; ++i) {
        gather(from[i], first, count, buffers[i]);
        x[i] = buffers[i];
      }
      for (size_t i = 0; i < inputs; ++i) part[i] = out[i] ? out[i] + first : nullptr;
      return kernel.backward(count, x, x[saved_count], params, part);
    });
  }
  *amax = std::max(*amax, word);
  return din;
}

// A fractional attribute takes integers out of their domain.
bool whole_attrs(const Call& call) {
  for (size_t i = 0; i < call.attrs.size(); ++i)
    if (const double v = call.number(static_cast<int>(i)); v != std::floor(v)) return false;
  return true;
}

void run_integers(Call& call) {
  const IntegerKernel f = call.op->formula->integer;
  const Tensor& y = call.out[0];
  std::vector<int64_t> params;
  for (size_t i = 0; i < call.attrs.size(); ++i) params.push_back(convert<int64_t>(call.number(static_cast<int>(i))));
  std::vector<BlockSource> from;
  for (const Tensor& x : call.in) from.emplace_back(x, y.shape());
  const BlockSource to(y, y.shape());
  const int64_t n = y.numel();
  parallel((n + kBlock - 1) / kBlock, [&](int64_t block) -> uint32_t {
    int64_t buffers[3][kBlock];
    const int64_t* in[3] = {buffers[0], buffers[1], buffers[2]};
    const int64_t first = block * kBlock, count = std::min(kBlock, n - first);
    for (size_t i = 0; i < from.size(); ++i) gather(from[i], first, count, buffers[i]);
    f(count, in, params.data(), buffers[0]);
    scatter(to, first, count, static_cast<const int64_t*>(buffers[0]));
    return 0;
  });
}

}  // namespace

std::vector<double> formula_params(const Call& call) {
  std::vector<double> params;
  for (size_t i = 0; i < call.attrs.size(); ++i) params.push_back(call.number(static_cast<int>(i)));
  return params;
}

std::vector<Tensor> formula_saved(const Call& call) {
  std::vector<Tensor> saved;
  for (const int s : call.op->saves) {
    const Tensor& x = s >= 0 ? call.in[static_cast<size_t>(s)] : call.out[static_cast<size_t>(~s)];
    saved.push_back(x.defined() ? x : call.dout[0]);  // what no wanted gradient reads was not saved: any values do
  }
  return saved;
}

std::vector<Tensor> formula_gradients(const OpEntry& op, const std::vector<Tensor>& saved, const Tensor& dy, const std::vector<double>& params,
                                      const std::vector<bool>& wanted, uint32_t* amax) {
  if (dy.dtype() == DType::f64) return gradients_as<double>(op, saved, dy, params, wanted, amax);
  return gradients_as<float>(op, saved, dy, params, wanted, amax);
}

void detail::run_formula(Call& call) {
  const Row& row = call.op->row;
  const DType result = result_type(call.in);
  Shape shape = call.in_shapes[0];
  for (const Shape& other : call.in_shapes) shape = broadcast(shape, other, row.name);
  const Operand& output = call.op->schema.outputs[0];
  const bool integers = !is_floating(result) && row.integers && whole_attrs(call);
  ROTE_CHECK(integers || call.op->formula->f64->forward != nullptr, DTypeError, row.name, ": computed on integers and bool alone, not on ", describe(call.in[0]),
             call.in.size() > 1 ? str(" and ", describe(call.in[1])) : "", ".");
  call.out[0] = empty(shape, {.dtype = output.dtype ? *output.dtype : is_floating(result) || integers ? result : DType::f32});
  if (integers) run_integers(call);
  else if (result == DType::f64) forward_as<double>(call);
  else forward_as<float>(call);
}

void detail::run_formula_backward(Call& call) {
  const Tensor& dy = call.dout[0];
  if (call.op->passes_dy) {
    for (size_t i = 0; i < call.in_shapes.size(); ++i)
      if (call.wanted[i]) call.din[i] = converted(sum_to(dy, call.in_shapes[i], call.scope, &call.amax), call.in_dtypes[i]);
    return;
  }
  const std::vector<Tensor> full = formula_gradients(*call.op, formula_saved(call), dy, formula_params(call), call.wanted, &call.amax);
  for (size_t i = 0; i < full.size(); ++i) {
    if (!full[i].defined()) continue;
    // The gradient of an element is a value of the input's dtype where that has 16 bits; sums of wider ones are converted at the end.
    const DType dtype = call.in_dtypes[i];
    const Tensor each = size_of(dtype) == 2 ? converted(full[i], dtype) : full[i];
    call.din[i] = converted(sum_to(each, call.in_shapes[i], call.scope, &call.amax), dtype);
  }
}

Tensor number_for(const Tensor& x, double value) {
  // Beside a tensor with axes a number does not promote: it need not be rounded to 16 bits.
  if (is_floating(x.dtype())) return scalar(value, size_of(x.dtype()) == 2 && x.axes() > 0 ? DType::f32 : x.dtype());
  const bool whole = value == static_cast<double>(convert<int64_t>(value)) && std::abs(value) < 0x1p63;
  if (whole && x.axes() == 0 && x.dtype() != DType::boolean) return scalar(value, x.dtype());
  return scalar(value, whole ? DType::i64 : DType::f32);
}

}  // namespace rote
