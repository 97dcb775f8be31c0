// tests/ops_test.cpp — every op of the library from its Row alone: derivatives, precision, layouts, threads, instruction sets, empty, NaN and
// infinite inputs, calls that do not fit.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "autograd/backward.h"
#include "autograd/gradcheck.h"
#include "autograd/ops.h"
#include "kernels/pool.h"
#include "tensor/file.h"
#include "tensor/generator.h"
#include "tests/support/place.h"

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

// The same values at every other element of memory that is three times as long.
Tensor sliced_memory(const Tensor& x) {
  if (!x.defined() || x.axes() == 0) return x;
  Shape shape = x.shape();
  const int last = x.axes() - 1;
  shape[last] = 2 * shape[last] + 1;
  const Tensor memory = zeros(shape, {.dtype = x.dtype()});
  Strides strides = memory.strides();
  strides[last] = 2;
  const Tensor y = alias(memory, x.shape(), strides, 1);
  copy_elements(y, x);
  return y;
}

// The first of the elements along the first axis, as often as there were any: with stride 0, and as a copy.
Tensor repeated(const Tensor& x, bool copied) {
  if (!x.defined() || x.axes() == 0 || x.size(0) == 0) return x;
  Strides strides = x.strides();
  strides[0] = 0;
  const Tensor y = alias(x, x.shape(), strides, x.offset());
  if (!copied) return y;
  const Tensor copy = empty(x.shape(), {.dtype = x.dtype()});
  copy_elements(copy, y);
  return copy;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  const Tensor x = contiguous(a), y = contiguous(b);
  return std::memcmp(x.raw(), y.raw(), static_cast<size_t>(x.numel() * size_of(x.dtype()))) == 0;
}

struct OpResults {
  Tensor y;
  std::vector<Tensor> grads;
};

OpResults forward_backward(const OpEntry& op, std::vector<Tensor> inputs, const std::vector<Attr>& attrs) {
  manual_seed(7);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    inputs[i] = detach(inputs[i]);
    if (is_floating(inputs[i].dtype()) && !op.constant[i]) requires_grad(inputs[i]);
  }
  OpResults r{run(op, inputs, attrs)[0], {}};
  if (op.row.no_grad[0] == 0) {
    backward({r.y}, {full(r.y.shape(), 0.75, {.dtype = r.y.dtype()})});
    for (const Tensor& x : inputs) r.grads.push_back(x.defined() ? x.grad() : Tensor());
  }
  return r;
}

void check_same(const OpResults& a, const OpResults& b) {
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

namespace {

// The largest error of b against a in units of a's largest value (1 at least).
double error(const Tensor& a, const Tensor& b) {
  if (!a.defined() || a.numel() == 0) return 0;
  const Tensor x = contiguous(converted(a, DType::f64)), y = contiguous(converted(b, DType::f64));
  double largest = 1, worst = 0;
  for (int64_t i = 0; i < x.numel(); ++i) largest = std::max(largest, std::abs(x.data<double>()[i]));
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double apart = std::abs(x.data<double>()[i] - y.data<double>()[i]);
    if (!(apart <= worst)) worst = apart;  // NaN stays
  }
  return worst / largest;
}

}  // namespace

TEST_CASE("ops: f32, f16 and bf16 agree with f64 to a few ulps of the largest value") {
  struct Precision {
    DType dtype;
    double bound;
  };
  // f32: 64 units of 2^-24, for sums of a dozen terms and two elementary functions of 1 ulp each, with room. 16 bits: half an ulp of the
  // rounding, and one and a half where gradients that were rounded are added up.
  const Precision precisions[] = {{DType::f32, 64 * 0x1p-24}, {DType::f16, 2 * 0x1p-10}, {DType::bf16, 2 * 0x1p-7}};
  for (const OpEntry* op : all_ops())
    for (const RowSample& sample : row_samples(*op))
      for (const Precision& precision : precisions) {
        if (op->formula != nullptr && op->formula->f64->forward == nullptr) continue;
        CAPTURE(std::string(op->row.name));
        CAPTURE(sample.text);
        CAPTURE(std::string(name(precision.dtype)));
        const OpResults exact = forward_backward(*op, in_dtype(in_dtype(sample.inputs, precision.dtype), DType::f64), sample.attrs);
        const OpResults rounded = forward_backward(*op, in_dtype(sample.inputs, precision.dtype), sample.attrs);
        CHECK(error(exact.y, rounded.y) <= precision.bound);
        for (size_t i = 0; i < exact.grads.size(); ++i) CHECK(error(exact.grads[i], rounded.grads[i]) <= precision.bound);
      }
}

namespace {

// The samples, and where one is `*=2,3…` alike with 257·129 rows: more than two tasks of every loop, whole leaves and pieces of leaves.
std::vector<RowSample> samples_of_all_sizes(const OpEntry& op) {
  std::vector<RowSample> samples = row_samples(op);
  for (const RowSample& sample : row_samples(op)) {
    const size_t at = sample.text.find("*=2,3");
    const bool ends = at != std::string::npos && (at + 5 == sample.text.size() || sample.text[at + 5] == ' ');
    if (!ends || sample.text.find('[') != std::string::npos) continue;
    samples.push_back(row_sample(op, sample.text.substr(0, at) + "*=257,129" + sample.text.substr(at + 5)));
    break;
  }
  return samples;
}

}  // namespace

TEST_CASE("ops: layout, thread count and repetition change no bit") {
  for (const OpEntry* op : all_ops())
    for (const RowSample& sample : samples_of_all_sizes(*op))
      for (const DType t : {DType::f32, DType::f64}) {
        CAPTURE(std::string(op->row.name));
        CAPTURE(sample.text);
        const std::vector<Tensor> inputs = in_dtype(sample.inputs, t);
        const OpResults plain = forward_backward(*op, inputs, sample.attrs);
        check_same(plain, forward_backward(*op, inputs, sample.attrs));
        std::vector<Tensor> strided;
        for (const Tensor& x : inputs) strided.push_back(reversed_memory(x));
        check_same(plain, forward_backward(*op, strided, sample.attrs));
        std::vector<Tensor> sliced, views, copies;
        for (const Tensor& x : inputs) {
          sliced.push_back(sliced_memory(x));
          views.push_back(repeated(x, false));
          copies.push_back(repeated(x, true));
        }
        check_same(plain, forward_backward(*op, sliced, sample.attrs));
        check_same(forward_backward(*op, copies, sample.attrs), forward_backward(*op, views, sample.attrs));
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

TEST_CASE("ops: an infinity in gives the same class of value in f32 as in f64") {
  for (const OpEntry* op : all_ops()) {
    if (op->schema.outputs[0].dtype) continue;
    const RowSample sample = row_samples(*op)[0];
    for (size_t i = 0; i < sample.inputs.size(); ++i)
      for (const double infinity : {INFINITY, -INFINITY}) {
        if (!sample.inputs[i].defined() || !is_floating(sample.inputs[i].dtype()) || sample.inputs[i].numel() == 0) continue;
        CAPTURE(std::string(op->row.name));
        CAPTURE(i);
        Tensor y[2];
        for (const DType t : {DType::f32, DType::f64}) {
          std::vector<Tensor> inputs = in_dtype(sample.inputs, t);
          inputs[i] = empty(inputs[i].shape(), {.dtype = t});
          copy_elements(inputs[i], converted(sample.inputs[i], t));
          fill(alias(inputs[i], {1}, {1}, 0), infinity);
          manual_seed(7);
          y[t == DType::f64] = contiguous(converted(run(*op, inputs, sample.attrs)[0], DType::f64));
        }
        for (int64_t e = 0; e < y[0].numel(); ++e) {
          const double a = y[0].data<double>()[e], b = y[1].data<double>()[e];
          CHECK(std::isnan(a) == std::isnan(b));
          if (std::isinf(a) || std::isinf(b)) CHECK(a == b);
        }
      }
  }
}

TEST_CASE("ops: an input that does not fit is refused in the op's name, before anything is computed") {
  for (const OpEntry* op : all_ops()) {
    const RowSample sample = row_samples(*op)[0];
    const auto refusal = [&](std::vector<Tensor> inputs) -> std::string {
      try {
        run(*op, std::move(inputs), sample.attrs);
      } catch (const Error& e) {
        return e.what();
      }
      return "";
    };
    CAPTURE(std::string(op->row.name));
    for (size_t i = 0; i < op->schema.inputs.size(); ++i) {
      const Operand& operand = op->schema.inputs[i];
      CAPTURE(operand.name);
      if (!operand.optional) {
        std::vector<Tensor> without = sample.inputs;
        without[i] = Tensor();
        CHECK(refusal(without) == str(op->row.name, ": ", operand.name, " is none; it must be a tensor."));
      }
      if (!sample.inputs[i].defined() || operand.any_dtype || op->formula != nullptr) continue;
      std::vector<Tensor> wrong = sample.inputs;
      wrong[i] = converted(wrong[i], operand.dtype && *operand.dtype == DType::u8 ? DType::f32 : DType::u8);
      const std::string text = refusal(wrong);
      CHECK(text.rfind(str(op->row.name, ": ", operand.name, " is u8["), 0) == 0);
    }
  }
}

namespace {

// One line a row and sample: a sum over the bits of the output and of the gradients.
std::string bits_of_rows() {
  std::string lines;
  for (const OpEntry* op : all_ops())
    for (const RowSample& sample : samples_of_all_sizes(*op)) {
      const OpResults r = forward_backward(*op, in_dtype(sample.inputs, DType::f32), sample.attrs);
      uint64_t hash = 14695981039346656037u;
      std::vector<Tensor> all = r.grads;
      all.push_back(r.y);
      for (const Tensor& x : all) {
        if (!x.defined()) continue;
        const Tensor plain = contiguous(x);
        const auto* bytes = static_cast<const unsigned char*>(plain.raw());
        for (int64_t i = 0; i < plain.numel() * size_of(plain.dtype()); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
      }
      lines += str(op->row.name, " ", sample.text, " ", hash, "\n");
    }
  return lines;
}

}  // namespace

TEST_CASE("ops: every instruction set gives the same bits") {
  if (const std::string file = testing::bits_file(); !file.empty()) return write_file(file, bits_of_rows());
  const std::string here = bits_of_rows();
  const testing::TempFolder folder;
  for (const char* isa : {"scalar", "avx2", "avx512", "neon"}) {
    if (kernel_table(isa) == nullptr) continue;
    CAPTURE(std::string(isa));
    const std::string file = folder.path() + "/" + isa;
    const std::string command = str("ROTE_ISA=", isa, " ", testing::build_folder(), "/test-house --bits=", file, " -tc=\"ops: every instruction*\" > /dev/null");
    REQUIRE(std::system(command.c_str()) == 0);
    CHECK(read_file(file) == here);
  }
}
