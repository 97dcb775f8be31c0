// tests/fuzz/config_json_fuzz.cpp — a config.json: read, written again, and built without values.
#include "nn/auto.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/targets.h"

namespace rote::fuzz {

int config_json(const uint8_t* data, size_t size) {
  static File file("config.json");
  file.fill(data, size);
  const SmallMachine machine;
  run([&] { nn::config_text(*nn::load_config(file.folder())); });
  run([&] { nn::read_code_files(file.folder()); });
  run([&] {
    const nn::NoInit no_values;
    nn::make_model("", file.folder());
  });
  return 0;
}

}  // namespace rote::fuzz
