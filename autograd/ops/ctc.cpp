#include "autograd/ops/ctc.h"

#include <algorithm>
#include <limits>

#include "autograd/boxed.h"
#include "autograd/ops/real.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/view.h"
#include "autograd/ops/wide.h"
#include "kernels/rare_table.h"

namespace rote {

namespace {

// The kernel's view of the inputs, which the caller keeps: contiguous.
template <class Real>
Ctc<Real> described(const Call& call, const Tensor& log_probs, const Tensor& labels, const Tensor& input_lengths, const Tensor& target_lengths) {
  Ctc<Real> c;
  c.T = log_probs.size(0), c.N = log_probs.size(1), c.V = log_probs.size(2), c.L = labels.size(1);
  c.blank = call.integer(0);
  c.log_probs = log_probs.data<Real>();
  c.labels = labels.data<int64_t>();
  c.input_lengths = input_lengths.data<int64_t>();
  c.target_lengths = target_lengths.data<int64_t>();
  c.loss = call.out[0].data<Real>();
  c.alpha = call.out[1].data<Real>();
  return c;
}

void check(const Call& call, const int64_t* labels, const int64_t* inputs, const int64_t* targets) {
  const Shape& x = call.in_shapes[0];
  const int64_t T = x[0], N = x[1], V = x[2], L = call.in_shapes[1][1], blank = call.integer(0);
  ROTE_CHECK(blank >= 0 && blank < V, ArgumentError, "ctc_loss: blank is ", blank, " but there are ", V, " classes; it lies in 0…", V - 1, ".");
  for (int64_t n = 0; n < N; ++n) {
    ROTE_CHECK(inputs[n] >= 0 && inputs[n] <= T, ArgumentError, "ctc_loss: input length ", n, " is ", inputs[n], "; it lies in 0…", T, ".");
    ROTE_CHECK(targets[n] >= 0 && targets[n] <= L, ArgumentError, "ctc_loss: target length ", n, " is ", targets[n], "; it lies in 0…", L, ".");
    for (int64_t i = 0; i < targets[n]; ++i)
      ROTE_CHECK(labels[n * L + i] >= 0 && labels[n * L + i] < V, ArgumentError, "ctc_loss: label ", labels[n * L + i], " of sample ", n, " but there are ", V,
                 " classes; labels lie in 0…", V - 1, ".");
  }
}

}  // namespace

void CtcLoss::infer(Call& call) {
  const Shape& x = call.in_shapes[0];
  const DType dtype = call.in[0].dtype();
  call.out[0] = empty({x[1]}, {.dtype = dtype});
  call.out[1] = empty({x[1], x[0], ctc_width(call.in_shapes[1][1])}, {.dtype = dtype});
}

void CtcLoss::forward(Call& call) {
  const Tensor labels = contiguous(call.in[1]), inputs = contiguous(call.in[2]), targets = contiguous(call.in[3]);
  check(call, labels.data<int64_t>(), inputs.data<int64_t>(), targets.data<int64_t>());
  with_real(call, call.in[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]);
    call.saw(rare_kernels<CtcTable, Real>().ctc(described<Real>(call, x, labels, inputs, targets)));
  });
}

void CtcLoss::backward(Call& call) {
  const Tensor labels = contiguous(call.in[1]), inputs = contiguous(call.in[2]), targets = contiguous(call.in[3]);
  with_real(call, call.out[0].dtype(), [&](auto t) {
    using Real = decltype(t);
    const Tensor x = contiguous(call.in[0]), dloss = contiguous(call.dout[0]), dx = empty(x.shape(), {.dtype = x.dtype()});
    call.saw(rare_kernels<CtcTable, Real>().ctc_backward({.forward = described<Real>(call, x, labels, inputs, targets), .dloss = dloss.data<Real>(),
                                           .of_scores = call.flag(1), .dlog_probs = dx.data<Real>()}));
    call.din[0] = dx;
  });
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& labels, const std::vector<int64_t>& input_lengths, const std::vector<int64_t>& target_lengths,
                const CtcOptions& options, Reduction reduction) {
  constexpr const char* kWho = "ctc_loss";
  ROTE_CHECK(log_probs.axes() == 2 || log_probs.axes() == 3, ShapeError, kWho, ": log_probs is ", describe(log_probs), "; it must be [T,N,V] or [T,V].");
  ROTE_CHECK(labels.dtype() == DType::i64 || labels.dtype() == DType::i32, DTypeError, kWho, ": labels is ", describe(labels), "; it must be i64.");
  const Tensor x = log_probs.axes() == 3 ? log_probs : unsqueeze(log_probs, 1);
  const int64_t N = x.size(1);
  for (const auto* lengths : {&input_lengths, &target_lengths})
    ROTE_CHECK(static_cast<int64_t>(lengths->size()) == N, ShapeError, kWho, ": there are ", lengths->size(), lengths == &input_lengths ? " input" : " target",
               " lengths but log_probs is ", describe(log_probs), "; there must be ", N, ".");
  Tensor rows = to(labels, DType::i64);
  if (rows.axes() == 1) {
    int64_t total = 0, longest = 0;
    for (const int64_t n : target_lengths) {
      ROTE_CHECK(n >= 0, ArgumentError, kWho, ": a target length is ", n, "; it must not be negative.");
      total += n, longest = std::max(longest, n);
    }
    ROTE_CHECK(labels.size(0) == total, ShapeError, kWho, ": labels is ", describe(labels), " but the target lengths add up to ", total, "; they must agree.");
    const Tensor in_a_row = contiguous(rows);
    rows = zeros({N, longest}, {.dtype = DType::i64});
    const int64_t* from = in_a_row.data<int64_t>();
    for (int64_t n = 0; n < N; ++n) {
      const int64_t length = target_lengths[static_cast<size_t>(n)];
      std::copy_n(from, length, rows.data<int64_t>() + n * longest);
      from += length;
    }
  }
  return loss_in_f32({x}, [&](const std::vector<Tensor>& in) {
    Tensor losses = apply<CtcLoss>({in[0], rows, from_values({N}, input_lengths), from_values({N}, target_lengths)}, {options.blank, options.of_scores});
    if (options.zero_infinity) losses = where(eq(losses, std::numeric_limits<double>::infinity()), number_for(losses, 0.0), losses);
    if (reduction == Reduction::mean) {
      std::vector<double> counts;
      for (const int64_t n : target_lengths) counts.push_back(static_cast<double>(std::max<int64_t>(n, 1)));
      losses = div(losses, to(from_values({N}, counts), losses.dtype()));
    }
    const Tensor y = reduced(losses, reduction);
    return reduction == Reduction::none && log_probs.axes() == 2 ? reshape(y, {}) : y;
  });
}

namespace {

std::vector<int64_t> lengths_of(const Arguments& a, const char* name) {
  if (!std::holds_alternative<Tensor>(a.value(name))) return a.list(name);
  const Tensor x = a.tensor(name);
  ROTE_CHECK(!is_floating(x.dtype()), DTypeError, a.op(), ": ", name, " is ", describe(x), "; lengths are integers.");
  const Tensor plain = contiguous(converted(x, DType::i64));
  return {plain.data<int64_t>(), plain.data<int64_t>() + plain.numel()};
}

}  // namespace

std::vector<Composition> ctc_compositions() {
  return {{"ctc_loss.Tensor; ctc_loss.IntList", [](const Arguments& a) -> Value {
             const CtcOptions options{.blank = a.integer("blank"), .zero_infinity = a.flag("zero_infinity"), .of_scores = true};
             return ctc_loss(a.tensor("log_probs"), a.tensor("targets"), lengths_of(a, "input_lengths"), lengths_of(a, "target_lengths"), options,
                             reduction_of(a));
           }}};
}

}  // namespace rote
