// kernels/elements.h — what a kernel reads and writes in a type that it does not compute in: a pointer, and how its elements are stored.
#pragma once

#include <cstdint>

namespace rote {

// Of Real itself, or of 16 bits; the last two are Reals that are rounded to 16 bits as they are read, which gives what converting them first
// would. All but the first are for Real = float.
enum class Stored : uint8_t { real, bf16, f16, rounded_to_bf16, rounded_to_f16 };

// Per-ISA sources include this: what is not inlined by force would be a weak symbol there.
__attribute__((always_inline)) inline bool is_narrow(Stored stored) { return stored == Stored::bf16 || stored == Stored::f16; }

// A Real* is taken as it stands.
template <class Real>
struct Elements {
  const void* p = nullptr;
  Stored stored = Stored::real;

  __attribute__((always_inline)) Elements(const Real* p = nullptr) : p(p) {}
  __attribute__((always_inline)) Elements(const void* p, Stored stored) : p(p), stored(stored) {}
  __attribute__((always_inline)) Elements from(int64_t i) const {
    return {static_cast<const char*>(p) + i * static_cast<int64_t>(is_narrow(stored) ? sizeof(uint16_t) : sizeof(Real)), stored};
  }
};

template <class Real>
struct Results {
  void* p = nullptr;
  Stored stored = Stored::real;  // one of the first three

  __attribute__((always_inline)) Results(Real* p = nullptr) : p(p) {}
  __attribute__((always_inline)) Results(void* p, Stored stored) : p(p), stored(stored) {}
  __attribute__((always_inline)) Results from(int64_t i) const {
    return {static_cast<char*>(p) + i * static_cast<int64_t>(is_narrow(stored) ? sizeof(uint16_t) : sizeof(Real)), stored};
  }
  __attribute__((always_inline)) Elements<Real> read() const { return {p, stored}; }  // what was written
};

}  // namespace rote
