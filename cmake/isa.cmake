# Which instruction sets are built and with which flags. The sources see ROTE_ISA_NAME; the tables see ROTE_WITH_<ISA>.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(ROTE_ISAS_HERE scalar avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(ROTE_ISAS_HERE scalar neon)
else()
  set(ROTE_ISAS_HERE scalar)
endif()
set(ROTE_ISAS "${ROTE_ISAS_HERE}" CACHE STRING "instruction sets to build (scalar is always needed)")

set(ROTE_FLAGS_scalar "")
set(ROTE_FLAGS_neon "")
set(ROTE_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi2)
set(ROTE_FLAGS_avx512 ${ROTE_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
set(ROTE_FLAGS_f64 "")

foreach(isa IN LISTS ROTE_ISAS)
  if(NOT DEFINED ROTE_FLAGS_${isa})
    message(FATAL_ERROR "ROTE_ISAS names ${isa}, which is not one of: ${ROTE_ISAS_HERE}.")
  endif()
  string(TOUPPER ${isa} upper)
  add_compile_definitions(ROTE_WITH_${upper})
endforeach()

option(ROTE_STATUS "kernels write status words; OFF finds no overflow and is for bench/status.py alone" ON)
mark_as_advanced(ROTE_STATUS)

# Loops without tiles are as fast at -O2, which leaves tails as they are written, and a quarter smaller.
foreach(name batch_norm clip ctc group_norm index loss norm random reduce sixteen softmax taps)
  set_source_files_properties(kernels/cpu/${name}.cpp PROPERTIES COMPILE_OPTIONS "$<$<BOOL:$<TARGET_PROPERTY:ROTE_FAST>>:-O2>")
endforeach()

# Kernels are optimised in every build: at -O0 the always_inline vector layer would make the debug tests useless.
function(rote_isa_options target isa)
  if(ROTE_LEVEL)
    set(level ${ROTE_LEVEL})
  elseif(ROTE_SANITIZE)
    set(level -O1)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(level -O2)
  elseif(isa MATCHES "^(scalar|f64)$")
    set(level -Os -DROTE_SMALL)  # for checks and old machines: size before speed
  else()
    set(level -O3)
    set_target_properties(${target} PROPERTIES ROTE_FAST ON)
  endif()
  # Loops of formulas and updates do not throw, so nothing needs to unwind them. Kernels may: working memory can run out.
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT target MATCHES "^rote_kernels_")
    list(APPEND level -fno-exceptions -fno-asynchronous-unwind-tables)
  endif()
  target_compile_definitions(${target} PRIVATE ROTE_ISA_NAME=${isa} $<$<NOT:$<BOOL:${ROTE_STATUS}>>:ROTE_WITHOUT_STATUS>)
  target_compile_options(${target} PRIVATE ${level} ${ROTE_FLAGS_${isa}})
endfunction()
