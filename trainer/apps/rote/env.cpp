// trainer/apps/rote/env.cpp — `rote env`: what a bug report needs to know of the machine and the build.
#include <cstdio>

#include "kernels/pool.h"
#include "kernels/table.h"
#include "trainer/apps/rote/machine.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/checkpoint.h"
#include "trainer/parser.h"

namespace rote::app {

namespace {

struct EnvArguments {
  static const ArgumentTable<EnvArguments>& table() {
    static const ArgumentTable<EnvArguments> rows = {"arguments", {}};
    return rows;
  }
};

}  // namespace

int env(int argc, char** argv) {
  parse_command(argc, argv, Usage{"rote env", "Processor, instruction set, threads, build and arithmetic contract."}, EnvArguments{});
  std::printf("rote          %s, commit %s\n", kBuild.version, kBuild.commit);
  std::printf("contract      %s\n", kContract);
  std::printf("processor     %s\n", processor().c_str());
  std::printf("instructions  %s (built: %s; ROTE_ISA chooses another)\n", kernels<float>().isa, kBuild.isas);
  std::printf("threads       %d\n", num_threads());
  std::printf("build         %s, %s, %s\n", kBuild.type, kBuild.compiler, kBuild.flags);
  return 0;
}

}  // namespace rote::app
