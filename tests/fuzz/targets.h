// tests/fuzz/targets.h — what libFuzzer (cmake/fuzz.cmake) and tests/fuzz_test.cpp feed with bytes: one function a format.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rote::fuzz {

// Each reads `data` as a file of its format, as far as users' calls would. An Error of one sentence is a good end; another exception, a crash, a
// leak or a request for far more memory than the file is worth is a finding. Each gives 0, as libFuzzer wants.
int safetensors(const uint8_t* data, size_t size);
int gguf(const uint8_t* data, size_t size);
int tokenizer_json(const uint8_t* data, size_t size);
int config_json(const uint8_t* data, size_t size);
int table(const uint8_t* data, size_t size);
int image(const uint8_t* data, size_t size);
int yaml(const uint8_t* data, size_t size);

struct Target {
  const char* name;  // of its folder in corpus/
  int (*run)(const uint8_t* data, size_t size);
};
inline constexpr Target kTargets[] = {
    {"safetensors", safetensors}, {"gguf", gguf}, {"tokenizer_json", tokenizer_json}, {"config_json", config_json}, {"table", table}, {"image", image}, {"yaml", yaml}};

}  // namespace rote::fuzz
