#include "optim/registry.h"

#include <type_traits>

#include "kernels/check.h"
#include "optim/adadelta.h"
#include "optim/adafactor.h"
#include "optim/adagrad.h"
#include "optim/adamax.h"
#include "optim/adamw.h"
#include "optim/adamw_hf.h"
#include "optim/ademamix.h"
#include "optim/asgd.h"
#include "optim/lion.h"
#include "optim/nadam.h"
#include "optim/radam.h"
#include "optim/rmsprop.h"
#include "optim/rprop.h"
#include "optim/sgd.h"

namespace rote::optim {

namespace {

using Make = std::shared_ptr<Optimizer> (*)(std::vector<Group> groups, const AdamArguments& adam, OptionReader& options);

// torchdistx's AnyPrecisionAdamW: AdamW, each of whose dtypes has a name.
struct AnyPrecisionOptions : AdamWOptions {};

template <class O, class Options>
std::shared_ptr<Optimizer> made(std::vector<Group> groups, OptionReader& from, Options options) {
  options.read(from);
  Precision precision;
  if constexpr (!std::is_same_v<O, Adafactor>) precision.read(from);  // which needs whole tensors
  if constexpr (std::is_same_v<Options, AnyPrecisionOptions>) precision.read_dtypes(from);
  from.finish();
  const auto optimizer = std::make_shared<O>(std::move(groups), options);
  optimizer->keep(precision);
  return optimizer;
}

// With the betas and the eps of the arguments.
template <class O, class Options>
std::shared_ptr<Optimizer> of_adam(std::vector<Group> groups, const AdamArguments& adam, OptionReader& from) {
  Options options;
  options.betas = adam.betas;
  if constexpr (requires { options.eps; }) options.eps = adam.eps;
  return made<O>(std::move(groups), from, options);
}

template <class O, class Options>
std::shared_ptr<Optimizer> plain(std::vector<Group> groups, const AdamArguments&, OptionReader& from) {
  return made<O>(std::move(groups), from, Options());
}

std::shared_ptr<Optimizer> sgdw(std::vector<Group> groups, const AdamArguments&, OptionReader& from) {
  return made<Sgd>(std::move(groups), from, SgdOptions{.decoupled_weight_decay = true});
}

// The rate is the arguments', as the Trainer of the reference has it.
std::shared_ptr<Optimizer> adafactor(std::vector<Group> groups, const AdamArguments&, OptionReader& from) {
  return made<Adafactor>(std::move(groups), from, AdafactorOptions{.scale_parameter = false, .relative_step = false});
}

struct Named {
  const char* name;
  Make make;
};

constexpr Named kOptimizers[] = {
    {"adamw_torch", of_adam<AdamW, AdamWOptions>},
    {"adamw_torch_fused", of_adam<AdamW, AdamWOptions>},
    {"adamw_anyprecision", of_adam<AdamW, AnyPrecisionOptions>},
    {"sgd", plain<Sgd, SgdOptions>},
    {"adagrad", plain<Adagrad, AdagradOptions>},
    {"rmsprop", plain<RmsProp, RmsPropOptions>},
    {"adafactor", adafactor},
    {"lion_32bit", of_adam<Lion, LionOptions>},
    {"ademamix", of_adam<AdEmaMix, AdEmaMixOptions>},
    {"adamw_hf", of_adam<AdamWHf, AdamWHfOptions>},
    {"adam", of_adam<Adam, AdamOptions>},
    {"sgdw", sgdw},
    {"adadelta", plain<Adadelta, AdadeltaOptions>},
    {"adamax", of_adam<Adamax, AdamaxOptions>},
    {"nadam", of_adam<NAdam, NAdamOptions>},
    {"radam", of_adam<RAdam, RAdamOptions>},
    {"rprop", plain<Rprop, RpropOptions>},
    {"asgd", plain<Asgd, AsgdOptions>},
};

}  // namespace

const std::vector<std::string>& optimizer_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Named& one : kOptimizers) all.emplace_back(one.name);
    return all;
  }();
  return names;
}

std::shared_ptr<Optimizer> make_optimizer(const std::string& name, std::vector<Group> groups, const AdamArguments& adam, const Options& options) {
  for (const Named& one : kOptimizers) {
    if (name != one.name) continue;
    OptionReader from("optim_args of " + name, options);
    from.wait_for_all();
    return one.make(std::move(groups), adam, from);
  }
  const std::string near = nearest(name, optimizer_names().data(), static_cast<int64_t>(optimizer_names().size()));
  std::string all;
  for (const std::string& known : optimizer_names()) all += (all.empty() ? "" : ", ") + known;
  throw ArgumentError(str("optimizer: there is no ", name, near.empty() ? "" : "; did you mean " + near + "?", near.empty() ? "; choose one of " : " The names are ", all, "."));
}

}  // namespace rote::optim
