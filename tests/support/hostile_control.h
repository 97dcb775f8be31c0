// tests/support/hostile_control.h — the floating-point control word of a host that rounds up and, where the processor can, flushes small numbers.
#pragma once

#include <cfenv>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace rote::testing {

inline void set_hostile_control() {
  std::fesetround(FE_UPWARD);
#if defined(__SSE__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
#endif
}

inline bool has_hostile_control() {
#if defined(__SSE__)
  return (_mm_getcsr() & 0xE040) == 0xC040;  // fegetround would read the x87 word
#else
  return std::fegetround() == FE_UPWARD;
#endif
}

inline void set_default_control() {
  std::fesetround(FE_TONEAREST);
#if defined(__SSE__)
  _mm_setcsr(_mm_getcsr() & ~0x8040u);
#endif
}

}  // namespace rote::testing
