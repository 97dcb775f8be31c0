// tests/support/shared.h — where the golden cases lie that are not part of this tree.
#pragma once

#include <string>

namespace rote::testing {

// The folder given by `--shared=DIR` or found as ../shared beside the source tree; empty where there is none: such tests say "skipped".
std::string shared_folder();

}  // namespace rote::testing
