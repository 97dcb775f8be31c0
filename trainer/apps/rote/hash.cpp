// trainer/apps/rote/hash.cpp — `rote hash`: the SHA-256 of weights, and of all else that a checkpoint carries.
#include <cstdio>
#include <filesystem>

#include "tensor/hash.h"
#include "tensor/file.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/apps/rote/weights.h"
#include "trainer/parser.h"

namespace rote::app {

namespace fs = std::filesystem;

namespace {

struct HashArguments {
  bool all = false;
  bool per_tensor = false;

  static const ArgumentTable<HashArguments>& table();
};

const ArgumentTable<HashArguments>& HashArguments::table() {
  using A = HashArguments;
  static const ArgumentTable<A> rows = {
      "arguments",
      {
          field(&A::all, {.name = "all", .help = "one more line a file: moments, schedule, scale and random state, the data cursor among it"}),
          field(&A::per_tensor, {.name = "per_tensor", .help = "one more line a weight"}),
      },
  };
  return rows;
}

std::string hash_of_file(const fs::path& path) {
  if (path.extension() == ".safetensors") return hash_tensors(weights_of(path.string()));
  Sha256 sha;
  sha.add(read_file(path.string()));
  return sha.hex();
}

}  // namespace

int hash(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{"rote hash", "The SHA-256 of the weights of a checkpoint, a run folder (its own final model) or a .safetensors file.", "PATH"},
                              HashArguments{});
  const HashArguments& args = std::get<0>(parsed.values);
  ROTE_CHECK(parsed.positional.size() == 1, ArgumentError, parsed.positional.size(), " paths; give one folder or .safetensors file.");
  const fs::path path = parsed.positional[0];
  const auto weights = weights_of(path.string());
  std::printf("%s\n", hash_tensors(weights).c_str());
  if (args.per_tensor)
    for (const auto& [name, x] : weights) std::printf("%s  %s %s\n", hash_tensor(name, x).c_str(), name.c_str(), describe(x).c_str());
  if (args.all) {
    ROTE_CHECK(fs::is_directory(path), ArgumentError, "--all needs a checkpoint folder, ", path.string(), " is a file.");
    for (const char* name : {"optimizer.safetensors", "optimizer.json", "scheduler.json", "scaler.json", "rng_state.json"}) {
      ROTE_CHECK(fs::exists(path / name), IoError, path.string(), " holds no ", name, "; --all needs a checkpoint with its training state.");
      std::printf("%s  %s\n", hash_of_file(path / name).c_str(), name);
    }
  }
  return 0;
}

}  // namespace rote::app
