// tests/fuzz/yaml_fuzz.cpp — a file of arguments in YAML, into values.
#include "tests/fuzz/input.h"
#include "tests/fuzz/targets.h"
#include "trainer/yaml_text.h"

namespace rote::fuzz {

int yaml(const uint8_t* data, size_t size) {
  run([&] { parse_yaml(std::string(reinterpret_cast<const char*>(data), size), "a.yaml"); });
  return 0;
}

}  // namespace rote::fuzz
