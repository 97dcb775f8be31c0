// trainer/argument_reasons.h — why arguments of several structs do nothing here, said in one place.
#pragma once

namespace rote {

inline constexpr const char* kOneProcess = "since a run is one process";
inline constexpr const char* kNoCapture = "since a step is not captured or compiled";
inline constexpr const char* kNoDevice = "since there is no such device here";

}  // namespace rote
