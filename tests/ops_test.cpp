// tests/ops_test.cpp — every op of the library from its Row alone: derivative, precision, layout, thread count, empty and NaN inputs.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "autograd/backward.h"
#include "autograd/gradcheck.h"
#include "autograd/ops.h"
#include "kernels/pool.h"
#include "tensor/generator.h"

using namespace rote;

namespace {

std::vector<Tensor> in_dtype(const std::vector<Tensor>& inputs, DType t) {
  std::vector<Tensor> out;
  for (const Tensor& x : inputs) out.push_back(x.defined() && is_floating(x.dtype()) ? converted(x, t) : x);
  return out;
}

// The same values with the memory of the reversed axes: every stride differs.
Tensor reversed_memory(const Tensor& x) {
  if (!x.defined() || x.axes() < 2) return x;
  Shape shape;
  for (int i = x.axes() - 1; i >= 0; --i) shape.append(x.shape()[i]);
  const Tensor memory = empty(shape, {.dtype = x.dtype()});
  Strides strides;
  for (int i = x.axes() - 1; i >= 0; --i) strides.append(memory.strides()[i]);
  const Tensor y = alias(memory, x.shape(), strides, 0);
  copy_elements(y, x);
  return y;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  const Tensor x = contiguous(a), y = contiguous(b);
  return std::memcmp(x.raw(), y.raw(), static_cast<size_t>(x.numel() * size_of(x.dtype()))) == 0;
}

struct Results {
  Tensor y;
  std::vector<Tensor> grads;
};

Results forward_backward(const OpEntry& op, std::vector<Tensor> inputs, const std::vector<Attr>& attrs) {
  manual_seed(7);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    inputs[i] = detach(inputs[i]);
    if (is_floating(inputs[i].dtype()) && !op.constant[i]) requires_grad(inputs[i]);
  }
  Results r{run(op, inputs, attrs)[0], {}};
  if (op.row.no_grad[0] == 0) {
    backward({r.y}, {full(r.y.shape(), 0.75, {.dtype = r.y.dtype()})});
    for (const Tensor& x : inputs) r.grads.push_back(x.defined() ? x.grad() : Tensor());
  }
  return r;
}

void check_same(const Results& a, const Results& b) {
  CHECK(same_bits(a.y, b.y));
  for (size_t i = 0; i < a.grads.size(); ++i)
    if (a.grads[i].defined()) CHECK(same_bits(a.grads[i], b.grads[i]));
}

}  // namespace

TEST_CASE("ops: each derivative agrees with differences in f64") {
  for (const OpEntry* op : all_ops()) {
    if (op->row.no_grad[0] != 0) continue;
    for (const RowSample& sample : row_samples(*op)) {
      CAPTURE(std::string(op->row.name));
      CAPTURE(sample.text);
      CHECK(gradcheck(*op, sample) == "");
    }
  }
}

TEST_CASE("ops: each second derivative agrees with differences of the first") {
  for (const OpEntry* op : all_ops()) {
    if (op->row.no_grad[0] != 0 || op->row.once[0] != 0) continue;
    for (const RowSample& sample : row_samples(*op)) {
      CAPTURE(std::string(op->row.name));
      CAPTURE(sample.text);
      CHECK(gradgradcheck(*op, sample) == "");
    }
  }
}

TEST_CASE("ops: f32 agrees with f64 to a few ulps of the largest value") {
  for (const OpEntry* op : all_ops())
    for (const RowSample& sample : row_samples(*op)) {
      CAPTURE(std::string(op->row.name));
      CAPTURE(sample.text);
      const Results exact = forward_backward(*op, in_dtype(in_dtype(sample.inputs, DType::f32), DType::f64), sample.attrs);
      const Results single = forward_backward(*op, in_dtype(sample.inputs, DType::f32), sample.attrs);
      const auto check = [](const Tensor& a, const Tensor& b) {
        if (!a.defined() || a.numel() == 0) return;
        const Tensor x = converted(contiguous(a), DType::f64), y = converted(contiguous(b), DType::f64);
        double largest = 1, worst = 0;
        for (int64_t i = 0; i < x.numel(); ++i) largest = std::max(largest, std::abs(x.data<double>()[i]));
        for (int64_t i = 0; i < x.numel(); ++i) worst = std::max(worst, std::abs(x.data<double>()[i] - y.data<double>()[i]));
        // 64 units of 2^-24: sums of a dozen terms and two elementary functions of 1 ulp each, with room.
        CHECK(worst <= 64 * 0x1p-24 * largest);
      };
      check(exact.y, single.y);
      for (size_t i = 0; i < exact.grads.size(); ++i) check(exact.grads[i], single.grads[i]);
    }
}

TEST_CASE("ops: layout, thread count and repetition change no bit") {
  for (const OpEntry* op : all_ops())
    for (const RowSample& sample : row_samples(*op))
      for (const DType t : {DType::f32, DType::f64}) {
        CAPTURE(std::string(op->row.name));
        CAPTURE(sample.text);
        const std::vector<Tensor> inputs = in_dtype(sample.inputs, t);
        const Results plain = forward_backward(*op, inputs, sample.attrs);
        check_same(plain, forward_backward(*op, inputs, sample.attrs));
        std::vector<Tensor> strided;
        for (const Tensor& x : inputs) strided.push_back(reversed_memory(x));
        check_same(plain, forward_backward(*op, strided, sample.attrs));
        for (const int threads : {1, 2, 5}) {
          set_num_threads(threads);
          check_same(plain, forward_backward(*op, inputs, sample.attrs));
        }
        set_num_threads(0);
      }
}

TEST_CASE("ops: a NaN in shows as a NaN out") {
  // Comparisons and integers have no NaN, where() shows only what it selects; max, min and clamp pass it on by arithmetic.md 5.
  for (const OpEntry* op : all_ops()) {
    if (op->schema.outputs[0].dtype || (op->formula != nullptr && op->moves_only)) continue;
    const RowSample sample = row_samples(*op)[0];
    std::vector<Tensor> inputs = in_dtype(sample.inputs, DType::f32);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].defined() || inputs[i].dtype() != DType::f32 || inputs[i].numel() == 0 || op->schema.inputs[i].name == "c") continue;
      CAPTURE(std::string(op->row.name));
      std::vector<Tensor> poisoned = inputs;
      poisoned[i] = empty(inputs[i].shape());
      fill(poisoned[i], NAN);
      manual_seed(7);
      const Tensor y = contiguous(converted(run(*op, poisoned, sample.attrs)[0], DType::f32));
      bool any = false;
      for (int64_t e = 0; e < y.numel(); ++e) any = any || std::isnan(y.data<float>()[e]);
      CHECK(any);
    }
  }
}
