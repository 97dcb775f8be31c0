// tests/fuzz/safetensors_fuzz.cpp — a file of weights: its header, and every tensor in its own dtype and as f32.
#include "tensor/safetensors.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/targets.h"

namespace rote::fuzz {

int safetensors(const uint8_t* data, size_t size) {
  static File file("model.safetensors");
  file.fill(data, size);
  const SmallMachine machine;
  run([&] {
    const SafetensorsFolder folder = SafetensorsFolder::open(file.folder());
    for (const SafetensorsFile& one : folder.files()) {
      for (const SafetensorsInfo& info : one.infos()) {
        const Tensor x = one.read(info.name);
        one.mapped(info);
        if (!is_floating(info.dtype)) continue;
        run([&] { one.read_into(info, empty(x.shape())); });
      }
    }
  });
  return 0;
}

}  // namespace rote::fuzz
