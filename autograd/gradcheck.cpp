#include "autograd/gradcheck.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>

#include "autograd/backward.h"
#include "autograd/ops/join.h"
#include "autograd/ops/view.h"
#include "tensor/generator.h"

namespace rote {

namespace {

// A fixed sequence of numbers in [0,1): samples must not change from run to run.
class Sequence {
 public:
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_ = 42;
};

std::vector<std::string> split_text(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

Shape shape_from(const std::string& text) {
  Shape shape;
  for (const std::string& n : split_text(text, ',')) shape.append(std::atoll(n.c_str()));
  return shape;
}

Attr attr_from(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (text[0] == '"') return text.substr(1, text.size() - 2);
  if (text[0] == '[') {
    std::vector<int64_t> list;
    for (const std::string& n : split_text(text.substr(1, text.size() - 2), ',')) list.push_back(std::atoll(n.c_str()));
    return list;
  }
  if (text.find_first_of(".e") != std::string::npos) return std::atof(text.c_str());
  return static_cast<int64_t>(std::atoll(text.c_str()));
}

// A value of [low, high] at least a hundredth away from each kink.
double value_off_kinks(const Row& row, Sequence& sequence) {
  double x = row.low + (row.high - row.low) * sequence.next();
  for (const std::string& kink : split_text(row.kinks, ' ')) {
    const double k = std::atof(kink.c_str());
    if (std::abs(x - k) < 0.01) x = k + (x < k ? -0.01 : 0.01);
  }
  return x;
}

Tensor sample_input(const OpEntry& op, const Operand& operand, const Shape& shape, const Binding& binding, Sequence& sequence) {
  const Row& row = op.row;
  if (operand.dtype == DType::i64) {
    const int64_t V = binding.bound['V' - 'A'] ? binding.letters['V' - 'A'] : 2;
    std::vector<int64_t> values(static_cast<size_t>(shape.numel()));
    for (int64_t& v : values) v = static_cast<int64_t>(sequence.next() * static_cast<double>(V));
    return from_values(shape, values);
  }
  std::vector<double> values(static_cast<size_t>(shape.numel()));
  for (double& v : values) v = operand.dtype == DType::boolean ? static_cast<double>(sequence.next() < 0.7) : value_off_kinks(row, sequence);
  const bool integers = op.formula != nullptr && op.formula->f64->forward == nullptr;  // it has no loop over floating numbers
  return converted(from_values(shape, values), operand.dtype.value_or(integers ? DType::i64 : DType::f64));
}

// Σ y·weights with fixed weights, and the weights.
double weighted(const Tensor& y, std::vector<double>* weights) {
  Sequence sequence;
  sequence.next();
  const Tensor plain = contiguous(y);
  double total = 0;
  for (int64_t i = 0; i < y.numel(); ++i) {
    const double w = sequence.next() + 0.5;
    total += plain.data<double>()[i] * w;
    if (weights) weights->push_back(w);
  }
  return total;
}

}  // namespace

RowSample row_sample(const OpEntry& op, const std::string& text) {
  std::map<std::string, std::string> given;
  for (const std::string& word : split_text(text, ' ')) {
    if (word.empty()) continue;
    const size_t eq = word.find('=');
    given[word.substr(0, eq)] = eq == std::string::npos ? "" : word.substr(eq + 1);
  }
  Binding binding;
  binding.lead = shape_from(given.count("*") ? given["*"] : "");
  binding.lead_bound = true;
  for (const auto& [key, value] : given)
    if (key.size() == 1 && key[0] >= 'A' && key[0] <= 'Z') {
      binding.letters[key[0] - 'A'] = std::atoll(value.c_str());
      binding.bound[key[0] - 'A'] = true;
    }
  RowSample sample{text, {}, {}};
  Sequence sequence;
  for (const Operand& operand : op.schema.inputs) {
    const bool absent = operand.any_shape && !given.count(operand.name);
    const Shape shape = operand.any_shape ? shape_from(given[operand.name]) : bound_shape(operand, binding);
    sample.inputs.push_back(absent ? Tensor() : sample_input(op, operand, shape, binding, sequence));
  }
  for (const AttrSpec& attr : op.schema.attrs) sample.attrs.push_back(given.count(attr.name) ? attr_from(given[attr.name]) : attr.fallback);
  return sample;
}

std::vector<RowSample> row_samples(const OpEntry& op) {
  std::vector<RowSample> samples;
  for (const std::string& text : split_text(op.row.samples, ';')) samples.push_back(row_sample(op, text));
  return samples;
}

std::string gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs, GradcheckOptions options) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : inputs) {
    Tensor leaf = x.defined() ? detach(contiguous(x)) : x;
    if (leaf.defined() && leaf.dtype() == DType::f64) {
      const Tensor copy = empty(leaf.shape(), {.dtype = DType::f64});
      copy_elements(copy, leaf);
      leaf = copy;
      requires_grad(leaf);
    }
    leaves.push_back(leaf);
  }
  const DrawsAside draws;
  const auto value = [&] {
    manual_seed(7);  // what f draws is the same at each point
    return f(leaves);
  };
  std::vector<double> weights;
  const Tensor y = value();
  weighted(y, &weights);
  Tensor dy = from_values({static_cast<int64_t>(weights.size())}, weights);
  backward({y}, {alias(dy, y.shape(), contiguous_strides(y.shape()), 0)});
  std::string fault;
  const NoGrad guard;
  for (size_t i = 0; i < leaves.size() && fault.empty(); ++i) {
    if (!leaves[i].defined() || leaves[i].dtype() != DType::f64 || (i < options.skip.size() && options.skip[i])) continue;
    double* x = leaves[i].data<double>();
    const Tensor grad = leaves[i].grad().defined() ? contiguous(leaves[i].grad()) : zeros(leaves[i].shape(), {.dtype = DType::f64});
    for (int64_t e = 0; e < leaves[i].numel() && fault.empty(); ++e) {
      const double at = x[e], h = options.step * std::max(1.0, std::abs(at));
      const auto moved = [&](double by) {
        x[e] = at + by;
        const double v = weighted(value(), nullptr);
        x[e] = at;
        return v;
      };
      const double expected = (moved(-2 * h) - 8 * moved(-h) + 8 * moved(h) - moved(2 * h)) / (12 * h);
      const double got = grad.data<double>()[e];
      if (!(std::abs(got - expected) <= options.atol + options.rtol * std::abs(expected)))
        fault = str("gradcheck: input ", i, " element ", e, ": backward gives ", got, ", differences ", expected, ".");
    }
  }
  return fault;
}

namespace {

TensorFunction first_output(const OpEntry& op, const RowSample& sample) {
  return [&](std::vector<Tensor> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (op.constant[i]) inputs[i] = sample.inputs[i];
    return run(op, inputs, sample.attrs)[0];
  };
}

bool differentiable(const Tensor& x) { return x.defined() && x.dtype() == DType::f64; }

}  // namespace

std::string gradcheck(const OpEntry& op, const RowSample& sample) {
  return gradcheck(first_output(op, sample), sample.inputs, {.skip = op.constant});
}

std::string gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs, GradcheckOptions options) {
  options.skip.resize(inputs.size());
  const auto gradients = [&](const std::vector<Tensor>& all) {
    const EnableGrad guard;
    const std::vector<Tensor> x(all.begin(), all.end() - 1);
    std::vector<Tensor> wanted, flat;
    for (size_t i = 0; i < x.size(); ++i)
      if (differentiable(x[i]) && !options.skip[i]) wanted.push_back(x[i]);
    for (const Tensor& dx : grad({f(x)}, wanted, {.dys = {all.back()}, .create_graph = true, .allow_unused = true}))
      if (dx.defined()) flat.push_back(flatten(dx));
    return cat(flat);
  };
  std::vector<Tensor> all = inputs;
  const Tensor y = f(inputs);
  if (y.numel() == 0) return "";
  std::vector<double> dy;
  weighted(y, &dy);
  const Tensor values = from_values({static_cast<int64_t>(dy.size())}, dy);
  all.push_back(alias(values, y.shape(), contiguous_strides(y.shape()), 0));
  return gradcheck(gradients, all, options);
}

std::string gradgradcheck(const OpEntry& op, const RowSample& sample) {
  return gradgradcheck(first_output(op, sample), sample.inputs, {.skip = op.constant});
}

}  // namespace rote
