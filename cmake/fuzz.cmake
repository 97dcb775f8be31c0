# The functions of tests/fuzz: an object library for test-house, and with -DROTE_FUZZ=ON (clang++) the target `fuzz`, a libFuzzer program
# fuzz-NAME for each tests/fuzz/NAME_fuzz.cpp. scripts/test-nightly builds and runs those.
file(GLOB targets CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cpp)
get_property(rooms GLOBAL PROPERTY ROTE_ROOMS)

add_library(fuzz_targets OBJECT EXCLUDE_FROM_ALL ${targets} tests/fuzz/input.cpp)

if(ROTE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "ROTE_FUZZ needs libFuzzer, which comes with clang; pass -DCMAKE_CXX_COMPILER=clang++-14")
  endif()
  add_custom_target(fuzz)
  foreach(target IN LISTS targets)
    get_filename_component(name ${target} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" name ${name})
    add_executable(fuzz-${name} EXCLUDE_FROM_ALL tests/fuzz/entry.cpp)
    target_compile_definitions(fuzz-${name} PRIVATE ROTE_FUZZ_TARGET=${name})
    target_link_libraries(fuzz-${name} PRIVATE fuzz_targets ${rooms})
    target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzz fuzz-${name})
  endforeach()
endif()
