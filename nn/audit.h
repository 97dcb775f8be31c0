// nn/audit.h — a look at a model's graph before it trains: parameters that no gradient reaches, ops that cut the way, f64 that leaks in.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/op.h"
#include "nn/model.h"

namespace rote::nn {

struct AuditReport {
  struct Cut {           // an op without a derivative between such a parameter and the loss
    std::string op, path, reason;
  };
  struct Leak {          // an op that gave f64 in a model without f64 parameters, the first of its module
    std::string op, path;
  };
  std::vector<std::string> unreached;  // names of parameters that require a gradient
  std::vector<Cut> cuts;
  std::vector<Leak> leaks;

  bool empty() const { return unreached.empty() && leaks.empty(); }
  std::vector<std::string> lines() const;  // one sentence each, none where all is well
};

// Watches the ops of this thread from construction to finish(): one forward, with or without its backward.
class Auditor {
 public:
  explicit Auditor(Module& model);
  // reached: whether a gradient reaches this parameter.
  AuditReport finish(const std::function<bool(const Tensor&)>& reached);

 private:
  struct Seen {
    std::string op, path, reason;
    std::vector<Tensor> inputs;
  };
  void see(const Call& call);

  Module& model_;
  bool has_f64_ = false;
  std::vector<Seen> cuts_;
  std::vector<AuditReport::Leak> leaks_;
  std::optional<OpObserver> observer_;
};

// One forward of the batch in a RunScope of its own: no gradient is written, buffers are put back, no draw is used up.
AuditReport audit(Model& model, const Batch& batch);

}  // namespace rote::nn
