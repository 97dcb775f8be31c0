# With -DROTE_CUDA=ON: rote_cuda, the kernels for devices compiled from the formulas that the CPU runs, and rote-cuda-check, which links all
# of them. Nothing else uses them yet, so a build without it loses nothing.

if(NOT ROTE_CUDA)
  return()
endif()
rote_require(CUDAToolkit_NVCC_EXECUTABLE "The compiler nvcc" nvidia-cuda-toolkit)
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
endif()
if(NOT CMAKE_CUDA_HOST_COMPILER)
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
endif()
set(CMAKE_CUDA_ARCHITECTURES 80 90 CACHE STRING "compute capabilities to compile for")
if(ROTE_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${ROTE_CCACHE})
endif()
enable_language(CUDA)
foreach(kind STANDARD EXTENSION)  # CMake 3.25 does not know this one
  if(NOT CMAKE_CUDA20_${kind}_COMPILE_OPTION)
    set(CMAKE_CUDA20_${kind}_COMPILE_OPTION -std=c++20)
  endif()
endforeach()

# The arithmetic of docs/arithmetic.md: no contraction, gradual underflow, true divisions and roots. A call that a device cannot make would
# become a trap; as a warning it is an error here.
set(ROTE_CUDA_FLAGS -fmad=false -ftz=false -prec-div=true -prec-sqrt=true --expt-relaxed-constexpr -Werror cross-execution-space-call
    -Xcompiler=-Wall,-Wextra,-ffp-contract=off)
if(ROTE_WERROR)
  list(APPEND ROTE_CUDA_FLAGS -Werror all-warnings)
endif()
list(JOIN ROTE_CUDA_FLAGS " " ROTE_CUDA_FLAGS)

file(GLOB sources CONFIGURE_DEPENDS kernels/cuda/*.cu autograd/ops/*.cu optim/*.cu)
add_library(rote_cuda STATIC EXCLUDE_FROM_ALL ${sources})
# The same sources as text, in which forbidden instructions can be looked for.
add_library(rote_cuda_text OBJECT EXCLUDE_FROM_ALL ${sources})
foreach(target rote_cuda rote_cuda_text)
  # In place of the options of the C++ files, which nvcc does not know.
  set_target_properties(${target} PROPERTIES COMPILE_OPTIONS "SHELL:${ROTE_CUDA_FLAGS}" LINKER_LANGUAGE CXX)
  target_compile_definitions(${target} PRIVATE ROTE_ISA_NAME=lane)
endforeach()
set_target_properties(rote_cuda_text PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES 90-virtual)

add_executable(rote-cuda-check EXCLUDE_FROM_ALL trainer/apps/cuda_check/main.cpp kernels/check.cpp)
target_compile_definitions(rote-cuda-check PRIVATE ROTE_ISA_NAME=lane)  # of the ops, the formulas only
set_target_properties(rote-cuda-check PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(rote-cuda-check PRIVATE rote_cuda CUDA::cudart_static)
add_dependencies(rote-cuda-check rote_cuda_text)
