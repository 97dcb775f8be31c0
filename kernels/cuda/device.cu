#include "kernels/check.h"
#include "kernels/cuda/kernels.h"

namespace rote::cuda {

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

const char* architectures() {
  static const std::string text = [] {
    std::string names;
    for (const int arch : {__CUDA_ARCH_LIST__}) names += (names.empty() ? "sm_" : " sm_") + std::to_string(arch / 10);
    return names;
  }();
  return text.c_str();
}

void check_launch(const char* kernel) {
  const cudaError_t error = cudaGetLastError();
  ROTE_CHECK(error == cudaSuccess, DeviceError, kernel, ": the launch failed: ", cudaGetErrorString(error), ".");
}

}  // namespace rote::cuda
