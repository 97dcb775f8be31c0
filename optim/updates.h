// optim/updates.h — every update formula of the library. Light: per-ISA objects include it.
#pragma once

#include "autograd/row.h"
#include "optim/adadelta.h"
#include "optim/adagrad.h"
#include "optim/adamax.h"
#include "optim/adamw.h"
#include "optim/adamw_hf.h"
#include "optim/ademamix.h"
#include "optim/asgd.h"
#include "optim/grad_scaler.h"
#include "optim/lion.h"
#include "optim/nadam.h"
#include "optim/radam.h"
#include "optim/rmsprop.h"
#include "optim/rprop.h"
#include "optim/sgd.h"

namespace rote::optim {

using AllUpdates = OpList<AdamUpdate<false, false>, AdamUpdate<false, true>, AdamUpdate<true, false>, AdamUpdate<true, true>, AdamWHfUpdate, SgdUpdate, MomentumUpdate,
                          AdagradUpdate, RmsPropUpdate<false, false>, RmsPropUpdate<false, true>, RmsPropUpdate<true, false>, RmsPropUpdate<true, true>,
                          AdadeltaUpdate, AdamaxUpdate, NAdamUpdate, RAdamUpdate, RpropUpdate, AsgdUpdate, LionUpdate, AdEmaMixUpdate, UnscaleUpdate>;

}  // namespace rote::optim
