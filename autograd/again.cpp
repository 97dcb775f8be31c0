// autograd/again.cpp — a formula op's backward as recorded ops: what is saved is broadcast by expand, gradients are summed by sum_to, and
// between them stands the formula's own gradient, whose derivative is by dual numbers (scalar_loops.h).
#include "autograd/custom.h"
#include "autograd/formula.h"
#include "autograd/mode.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/view.h"
#include "autograd/registry.h"

namespace rote {

namespace {

std::vector<int64_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

const double* f64_values(std::vector<Tensor>& keep, const Tensor& x) {
  if (!x.defined()) return nullptr;
  keep.push_back(contiguous(converted(x, DType::f64)));
  return keep.back().data<double>();
}

// Σ_j ddin_j·∂din_j/∂x for x = saved…, dy.
std::vector<Tensor> derivatives(const OpEntry& op, const std::vector<Tensor>& x, const std::vector<double>& params, const std::vector<Tensor>& ddin) {
  ROTE_CHECK(!grad_enabled(), StateError, "backward: ", op.row.name, " has no third derivative; differentiate twice at most.");
  std::vector<Tensor> keep, out;
  std::vector<const double*> at, dd;
  std::vector<double*> to;
  for (const Tensor& one : x) at.push_back(f64_values(keep, one));
  for (const Tensor& one : ddin) dd.push_back(f64_values(keep, one));
  for (const Tensor& one : x) {
    out.push_back(empty(one.shape(), {.dtype = DType::f64}));
    to.push_back(out.back().data<double>());
  }
  op.formula->again(x.back().numel(), at.data(), at.back(), params.data(), dd.data(), to.data());
  for (size_t i = 0; i < x.size(); ++i) out[i] = converted(out[i], x[i].dtype());
  return out;
}

}  // namespace

void detail::run_formula_again(Call& call) {
  const OpEntry& op = *call.op;
  const Tensor& dy = call.dout[0];
  std::vector<Tensor> full(call.in_shapes.size());
  if (op.passes_dy) {
    for (Tensor& dx : full) dx = dy;
  } else {
    const DType dtype = dy.dtype() == DType::f64 ? DType::f64 : DType::f32;
    std::vector<Tensor> x = formula_saved(call);
    x.push_back(dy);
    for (Tensor& one : x) one = to(expand(one, sizes(dy.shape())), dtype);
    const std::vector<double> params = formula_params(call);
    const std::vector<bool> wanted = call.wanted;
    std::vector<size_t> outputs;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) outputs.push_back(i);
    const CustomFunction gradient{
        .name = str(op.row.name, "'s backward"),
        .forward =
            [&](Keeper& keeper, const std::vector<Tensor>& in) {
              for (const Tensor& one : in) keeper.keep(one);
              const std::vector<Tensor> saved(in.begin(), in.end() - 1);
              const std::vector<Tensor> all = formula_gradients(op, saved, in.back(), params, wanted, &call.amax);
              std::vector<Tensor> made;
              for (const size_t i : outputs) made.push_back(all[i]);
              return made;
            },
        .backward =
            [&op, params, wanted, outputs](const std::vector<Tensor>& kept, const std::vector<Tensor>& dd) {
              std::vector<Tensor> ddin(wanted.size());
              for (size_t i = 0; i < outputs.size(); ++i) ddin[outputs[i]] = dd[i];
              return derivatives(op, kept, params, ddin);
            }};
    const std::vector<Tensor> made = run(gradient, x);
    for (size_t i = 0; i < outputs.size(); ++i) full[outputs[i]] = made[i];
  }
  for (size_t i = 0; i < full.size(); ++i)
    if (call.wanted[i]) call.din[i] = to(sum_to(full[i], sizes(call.in_shapes[i])), call.in_dtypes[i]);
}

}  // namespace rote
