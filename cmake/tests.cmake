# The target `tests`: one doctest program a room (test-<room>), test-house for the cases across rooms, and the user programs of
# trainer/apps and docs/examples, which link librote.a alone. Nothing here is part of the default build.

add_custom_target(tests)

file(GLOB programs CONFIGURE_DEPENDS trainer/apps/*.cpp)
foreach(source IN LISTS programs)
  get_filename_component(program ${source} NAME_WE)
  add_executable(${program} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${program} PRIVATE librote)
  add_dependencies(tests ${program})
endforeach()

# The programs of the documents, each build/examples/NAME from docs/examples/NAME.cpp.
add_custom_target(examples)
add_dependencies(tests examples)
file(GLOB programs CONFIGURE_DEPENDS docs/examples/*.cpp)
foreach(source IN LISTS programs)
  get_filename_component(program ${source} NAME_WE)
  add_executable(example-${program} EXCLUDE_FROM_ALL ${source})
  set_target_properties(example-${program} PROPERTIES OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
  target_link_libraries(example-${program} PRIVATE librote)
  add_dependencies(examples example-${program})
endforeach()

if(NOT ROTE_DOCTEST_INCLUDE)
  add_custom_command(TARGET tests COMMAND ${CMAKE_COMMAND} -E echo "doctest was not found; apt-get install doctest-dev" COMMAND false VERBATIM)
  return()
endif()

file(GLOB support CONFIGURE_DEPENDS tests/main.cpp tests/support/*.cpp)
add_library(test_support OBJECT EXCLUDE_FROM_ALL ${support})
target_include_directories(test_support SYSTEM PUBLIC ${ROTE_DOCTEST_INCLUDE})
target_compile_definitions(test_support PRIVATE ROTE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ROTE_BINARY_DIR="${CMAKE_BINARY_DIR}")

# rote_tests(NAME FOLDER LIBRARY…): the program test-NAME from FOLDER/*_test.cpp.
function(rote_tests name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*_test.cpp)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR ROTE_SANITIZE)
    list(FILTER sources EXCLUDE REGEX "/symbols_test\\.cpp$")  # of release objects only
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(test-${name} EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(test-${name} PRIVATE test_support ${ARGN})
  add_dependencies(tests test-${name})
endfunction()

# Where the objects of the instruction sets lie, for the symbol test: lines `target object`.
get_property(isa_targets GLOBAL PROPERTY ROTE_ISA_OBJECTS)
set(lines "")
foreach(target IN LISTS isa_targets ITEMS test_lane)
  string(APPEND lines "${target} $<JOIN:$<TARGET_OBJECTS:${target}>,\n${target} >\n")
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/isa_objects.txt CONTENT "${lines}")

# One lane as one more instruction set (kernels/simd/lane.h): what nvcc compiles for devices, compiled for the host.
add_library(test_lane OBJECT EXCLUDE_FROM_ALL kernels/cpu/functions.cpp autograd/ops/instantiate.cpp optim/instantiate.cpp)
target_compile_definitions(test_lane PRIVATE ROTE_ISA_NAME=lane)

get_property(rooms GLOBAL PROPERTY ROTE_ROOMS)
foreach(room kernels tensor autograd nn trainer)
  if(TARGET rote_${room})
    rote_tests(${room} tests/${room} rote_${room})
  endif()
endforeach()
target_link_libraries_if(test-autograd PRIVATE test_lane)
rote_tests(optim tests/optim test_lane ${rooms})  # its golden schedules are JSON, read with the trainer's reader
rote_tests(house tests fuzz_targets ${rooms})
foreach(command rote rote-conformance train_mlp own_op examples test_lane)
  if(TARGET test-house AND TARGET ${command})
    add_dependencies(test-house ${command})
  endif()
endforeach()

# Every input of every elementary function, for scripts/test-nightly.
add_executable(function-hashes EXCLUDE_FROM_ALL tests/function_hashes.cpp)
target_link_libraries(function-hashes PRIVATE rote_tensor)

# The golden job alone, for scripts/test-golden: rooms up to optim, and of the trainer its two files.
add_executable(golden_run EXCLUDE_FROM_ALL tests/golden_run.cpp trainer/golden_job.cpp trainer/golden_links.cpp)
target_link_libraries(golden_run PRIVATE rote_optim)
if(CMAKE_CROSSCOMPILING)
  target_link_options(golden_run PRIVATE -static)
endif()
