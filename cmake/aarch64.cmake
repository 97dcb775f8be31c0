# The toolchain of Debian's g++-aarch64-linux-gnu, for the target golden_run alone: what else the configuration finds is this machine's.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(ROTE_UTF8PROC_LIBRARY none CACHE STRING "golden_run reads no text")
