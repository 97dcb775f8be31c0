# What is looked for on this machine: two libraries that must be there and five that may be. Fetches nothing.

# One sentence with the remedy for a library that must be there.
function(rote_require found what package)
  if(NOT ${found})
    message(FATAL_ERROR "${what} was not found; install it with `apt-get install ${package}` and configure again.")
  endif()
endfunction()

find_package(Threads REQUIRED)

find_path(ROTE_JSON_INCLUDE nlohmann/json.hpp)
rote_require(ROTE_JSON_INCLUDE "The header nlohmann/json.hpp" nlohmann-json3-dev)
# The static library: the commands depend on nothing but the C and C++ run-time.
find_library(ROTE_UTF8PROC_LIBRARY NAMES libutf8proc.a)
find_path(ROTE_UTF8PROC_INCLUDE utf8proc.h)
rote_require(ROTE_UTF8PROC_LIBRARY "The static library libutf8proc.a" libutf8proc-dev)
rote_require(ROTE_UTF8PROC_INCLUDE "The header utf8proc.h" libutf8proc-dev)
include_directories(SYSTEM ${ROTE_JSON_INCLUDE} ${ROTE_UTF8PROC_INCLUDE})

find_package(CUDAToolkit QUIET)
find_library(ROTE_OPENBLAS_LIBRARY openblas)
find_path(ROTE_OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas openblas-pthread)
find_path(ROTE_EIGEN_INCLUDE Eigen/Core PATH_SUFFIXES eigen3)
find_path(ROTE_DOCTEST_INCLUDE doctest/doctest.h)
find_package(benchmark QUIET)
mark_as_advanced(ROTE_JSON_INCLUDE ROTE_UTF8PROC_LIBRARY ROTE_UTF8PROC_INCLUDE ROTE_OPENBLAS_LIBRARY ROTE_OPENBLAS_INCLUDE
                 ROTE_EIGEN_INCLUDE ROTE_DOCTEST_INCLUDE)

# The one line about the optional ones and the instruction sets.
function(rote_report)
  set(line "")
  foreach(pair "OpenBLAS ROTE_OPENBLAS_LIBRARY" "Eigen ROTE_EIGEN_INCLUDE" "CUDA CUDAToolkit_FOUND"
               "doctest ROTE_DOCTEST_INCLUDE" "benchmark benchmark_FOUND")
    string(REPLACE " " ";" pair ${pair})
    list(GET pair 0 name)
    list(GET pair 1 variable)
    if(${variable})
      list(APPEND line "${name} yes")
    else()
      list(APPEND line "${name} no")
    endif()
  endforeach()
  list(JOIN line ", " line)
  list(JOIN ROTE_ISAS " " isas)
  set(devices "")
  if(ROTE_CUDA)
    list(JOIN CMAKE_CUDA_ARCHITECTURES " " archs)
    set(devices "; CUDA kernels for ${archs}")
  endif()
  message(STATUS "rote ${PROJECT_VERSION} ${CMAKE_BUILD_TYPE}: instruction sets ${isas}${devices}; ${line}")
endfunction()
