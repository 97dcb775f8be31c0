// tests/fuzz/entry.cpp — what libFuzzer calls, for the target that the build names.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { return rote::fuzz::ROTE_FUZZ_TARGET(data, size); }
