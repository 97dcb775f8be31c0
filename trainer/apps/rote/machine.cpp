#include "trainer/apps/rote/machine.h"

#include <fstream>

#include "build_info.h"

namespace rote::app {

const Build kBuild = {build_info::kVersion, build_info::kCommit, build_info::kBuildType, build_info::kCompiler, build_info::kFlags, build_info::kIsas};

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace rote::app
