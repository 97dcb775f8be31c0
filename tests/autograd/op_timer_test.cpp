// tests/autograd/op_timer_test.cpp — ops are told with their times while somebody asks, forward and backward, under their module's path.
#include "autograd/op_timer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "autograd/backward.h"
#include "autograd/op.h"
#include "autograd/ops.h"
#include "autograd/status.h"

using namespace rote;

namespace {

struct Told {
  std::vector<std::string> ops;
  bool in_order = true;
};

void note(Told& told, const OpSpan& span) {
  told.ops.push_back(str(span.op, span.phase == Phase::forward ? " " : "' ", status_path(span.path), " ", span.shapes[0]));
  told.in_order = told.in_order && span.begun <= span.ended;
}

}  // namespace

TEST_CASE("op timer: each op of the thread, forward and backward, as long as it lives; an inner timer takes over") {
  Tensor x = full({2, 3}, 0.5);
  requires_grad(x);
  Told outer, inner;
  const auto pass = [&] {
    const PathGuard path("layer");
    backward(sum(gelu(x)));
  };
  {
    const OpTimer timer([&](const OpSpan& span) { note(outer, span); });
    pass();
    CHECK(outer.ops[0] == "gelu layer [2,3]");
    CHECK(outer.ops[1] == "sum layer [2,3]");
    const auto times = [&](const char* op) { return std::count(outer.ops.begin(), outer.ops.end(), op); };
    CHECK(times("sum' layer [2,3]") == 1);
    CHECK(times("gelu' layer [2,3]") == 1);
    outer.ops.clear();
    {
      const OpTimer another([&](const OpSpan& span) { note(inner, span); });
      gelu(x);
    }
    gelu(x);
  }
  gelu(x);
  CHECK(inner.ops == std::vector<std::string>{"gelu  [2,3]"});
  CHECK(outer.ops == std::vector<std::string>{"gelu  [2,3]"});
  CHECK(outer.in_order);
}

TEST_CASE("op observer: who asks is told of each backward too, with the path of its forward and what it gave") {
  Tensor x = full({2, 3}, 0.5), unused = full({3}, 1.0);
  requires_grad(x);
  std::vector<std::string> forwards, backwards;
  const OpObserver forward_only([&](const Call& call) { forwards.push_back(call.op->row.name); });
  const OpObserver both([](const Call&) {},
                        [&](const Call& call, const std::string& path) {
                          backwards.push_back(str(call.op->row.name, " ", path, " ", describe(call.dout[0]), " ", describe(call.din[0]), call.din.size() > 1 ? str(" ", describe(call.din[1])) : ""));
                        });
  {
    const PathGuard path("layer");
    backward(sum(mul(x, unused)));
  }
  CHECK(forwards[0] == "mul");
  CHECK(forwards[1] == "sum");
  CHECK(backwards == std::vector<std::string>{"sum layer f32[] f32[2,3]", "mul layer f32[2,3] f32[2,3] none"});
}
