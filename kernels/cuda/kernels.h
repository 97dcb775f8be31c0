// kernels/cuda/kernels.h — the CUDA kernels as host code calls them: device pointers, extents, a stream. No Tensor and no header of CUDA.
//
// They are those of cpu/kernels.h and of the formulas, with the same bits, in f32. A launcher queues its work on the stream and returns; what
// the CPU kernel returns as its amax word is joined into *status on the device, which holds 0 or the words of earlier launches. It throws
// DeviceError where the launch fails. Arrays of pointers and all numbers lie on the host.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace rote::cuda {

using Stream = CUstream_st*;  // cudaStream_t

// One formula. `backward` is null where it has no derivative, `integer` where it is not exact on integers, the first two where it has a
// meaning on nothing else.
struct FormulaLaunchers {
  void (*forward)(Stream stream, int64_t n, const float* const* in, const float* params, float* out, uint32_t* status);
  void (*backward)(Stream stream, int64_t n, const float* const* saved, const float* dy, const float* params, float* const* din, uint32_t* status);
  void (*integer)(Stream stream, int64_t n, const int64_t* const* in, const int64_t* params, int64_t* out);
};
// Defined for the listed formulas (autograd/ops/instantiate.cu).
template <class F>
const FormulaLaunchers& formula_launchers();

// One step of an optimizer's update formula over n elements; m and v may be null.
using UpdateLauncher = void (*)(Stream stream, int64_t n, float* p, const float* g, float* const* state, const float* scalars, uint32_t* status);
// Defined for the listed updates (optim/instantiate.cu).
template <class F>
UpdateLauncher update_launcher();

// reduce.cu. scratch: as many floats as the function beside says, none where that is 0.
int64_t row_scratch(int64_t rows, int64_t n);
void sum_rows(Stream stream, int64_t rows, int64_t n, const float* x, float* y, float* scratch, uint32_t* status);
void max_rows(Stream stream, int64_t rows, int64_t n, const float* x, float* y, float* scratch, uint32_t* status);
int64_t column_scratch(int64_t rows, int64_t columns, int64_t leaf);
void sum_columns(Stream stream, int64_t rows, int64_t columns, int64_t leaf, const float* x, float* y, float* scratch, uint32_t* status);

// device.cu. Devices of this machine, 0 where there is no driver either; what the kernels are compiled for, as in "sm_80 sm_90".
int device_count();
const char* architectures();
// Throws DeviceError if the launch before failed.
void check_launch(const char* kernel);

}  // namespace rote::cuda
