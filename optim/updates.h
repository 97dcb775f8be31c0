// optim/updates.h — every update formula of the library. Light: per-ISA objects include it.
#pragma once

#include "autograd/row.h"
#include "optim/adamw.h"

namespace rote::optim {

using AllUpdates = OpList<AdamWUpdate>;

}  // namespace rote::optim
