// autograd/gradcheck.h — derivatives against four-point differences in f64, for any function and for every Row's own samples.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/registry.h"

namespace rote {

// One call made from a Row's samples: inputs in f64 (integers and masks as the schema says), attributes in schema order.
struct RowSample {
  std::string text;
  std::vector<Tensor> inputs;
  std::vector<Attr> attrs;
};
std::vector<RowSample> row_samples(const OpEntry& op);
RowSample row_sample(const OpEntry& op, const std::string& text);  // of one such text: `*=2,3 C=4 axis=1`

using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

struct GradcheckOptions {
  double step = 1e-3;  // times max(1, |x|)
  double rtol = 1e-6, atol = 1e-9;
  std::vector<bool> skip = {};  // inputs that are constants
};

// Empty where every derivative of f's result in every f64 input agrees; else one sentence with input, element and both values.
std::string gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs, GradcheckOptions options = {});
// The first output of the op at one sample.
std::string gradcheck(const OpEntry& op, const RowSample& sample);

// The same for the gradients of f as functions of the inputs and of dy: second derivatives.
std::string gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs, GradcheckOptions options = {});
std::string gradgradcheck(const OpEntry& op, const RowSample& sample);

// A user's own op, at all samples of its Row, first and second derivatives.
template <class Op>
std::string gradcheck() {
  for (const RowSample& sample : row_samples(entry<Op>()))
    for (const std::string& fault : {gradcheck(entry<Op>(), sample), Op::row.once[0] == 0 ? gradgradcheck(entry<Op>(), sample) : ""})
      if (!fault.empty()) return str(Op::row.name, " at ", sample.text, ": ", fault);
  return "";
}

}  // namespace rote
