// trainer/apps/rote/machine.h — what this program was built from and how, and what it runs on.
#pragma once

#include <string>

namespace rote::app {

struct Build {
  const char *version, *commit;  // "unknown" where the source was no git checkout
  const char *type, *compiler, *flags;
  const char* isas;              // instruction sets, parted by blanks
};
extern const Build kBuild;

std::string processor();  // "unknown" where the system does not say

}  // namespace rote::app
