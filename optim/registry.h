// optim/registry.h — optimizers by the names that arguments give them. Holds no rule.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/optimizer.h"
#include "optim/options.h"

namespace rote::optim {

// The adam_* arguments: what Adam and its relatives take beside their own options.
struct AdamArguments {
  Betas betas = {};
  double eps = 1e-8;
};

// Names of the Trainer's --optim, those of transformers first.
const std::vector<std::string>& optimizer_names();

// The optimizer of that name with lr and weight_decay from the groups. Throws ArgumentError for an unknown name with the nearest, for an option that the
// optimizer lacks with those that it has, and for values out of range.
std::shared_ptr<Optimizer> make_optimizer(const std::string& name, std::vector<Group> groups, const AdamArguments& adam = {}, const Options& options = {});

}  // namespace rote::optim
