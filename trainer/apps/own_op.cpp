// trainer/apps/own_op.cpp — an op of one's own: the bump function with its derivative, checked against differences and run.
#include <iostream>

#include "autograd/backward.h"
#include "autograd/gradcheck.h"
#include "autograd/ops.h"
#include "autograd/own_op.h"

using namespace rote;

struct Bump : OwnFormula<1, 1> {  // y = e^(-a·x²)
  static constexpr Row row{.name = "bump", .schema = "bump(x[*], a=1.0) -> y[*]", .saves = "x y", .samples = "*=2,3 a=0.5; *=4; *="};
  template <class V> static V forward(V x, V a) { return exp(-(a * (x * x))); }
  template <class V> static V backward(V x, V y, V dy, V a) { return dy * (V(-2) * a * x * y); }
};

int main() {
  const std::string fault = gradcheck<Bump>();  // first and second derivatives at every sample of the row
  Tensor x = from_values({3}, std::vector<float>{-1, 0, 2});
  requires_grad(x);
  backward(sum(apply<Bump>({x}, {0.5})));
  std::cout << "gradcheck: " << (fault.empty() ? "passed" : fault) << "\nd/dx: " << x.grad() << "\n";
  return fault.empty() ? 0 : 1;
}
