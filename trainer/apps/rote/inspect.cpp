// trainer/apps/rote/inspect.cpp — `rote inspect`: parameters, shapes, dtypes and configuration of a saved model, read from headers alone.
#include <cstdio>
#include <filesystem>

#include "tensor/file.h"
#include "tensor/safetensors.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/parser.h"

namespace rote::app {

namespace fs = std::filesystem;

namespace {

struct InspectArguments {
  static const ArgumentTable<InspectArguments>& table() {
    static const ArgumentTable<InspectArguments> rows = {"arguments", {}};
    return rows;
  }
};

std::vector<SafetensorsInfo> infos_of(const fs::path& path) {
  if (fs::is_directory(path)) return SafetensorsFolder::open(path.string()).infos();
  return SafetensorsFile::open(path.string()).infos();
}

}  // namespace

int inspect(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{"rote inspect", "Parameters, shapes, dtypes and configuration of a model folder or a .safetensors file.", "PATH"}, InspectArguments{});
  ROTE_CHECK(parsed.positional.size() == 1, ArgumentError, parsed.positional.size(), " paths; give one folder or .safetensors file.");
  const fs::path path = parsed.positional[0];
  ROTE_CHECK(fs::exists(path), IoError, path.string(), " does not exist; give a model folder or a .safetensors file.");
  int64_t numbers = 0, bytes = 0;
  const std::vector<SafetensorsInfo> infos = infos_of(path);
  for (const SafetensorsInfo& info : infos) {
    std::printf("%-64s %s%s\n", info.name.c_str(), name(info.dtype), str(info.shape).c_str());
    numbers += info.shape.numel();
    bytes += info.bytes;
  }
  std::printf("%zu tensors, %lld numbers, %lld bytes\n", infos.size(), static_cast<long long>(numbers), static_cast<long long>(bytes));
  const fs::path config = path / "config.json";
  if (fs::is_directory(path) && fs::exists(config)) std::printf("\n%s", read_file(config.string()).c_str());
  return 0;
}

}  // namespace rote::app
