// kernels/table.cpp — which instruction sets this build and this machine have, and which one the process uses.
#include "kernels/table.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "kernels/check.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rote {

#ifdef ROTE_WITH_SCALAR
namespace isa::scalar {
extern const KernelTable<float> kTable;
}
#endif
#ifdef ROTE_WITH_AVX2
namespace isa::avx2 {
extern const KernelTable<float> kTable;
}
#endif
#ifdef ROTE_WITH_AVX512
namespace isa::avx512 {
extern const KernelTable<float> kTable;
}
#endif
#ifdef ROTE_WITH_NEON
namespace isa::neon {
extern const KernelTable<float> kTable;
}
#endif
namespace isa::f64 {
extern const KernelTable<double> kTable;
}

namespace {

struct Cpu {
  bool avx2 = false, avx512 = false, neon = false;
};

#if defined(__x86_64__)
// A register file counts only if the operating system saves it: XCR0 bits 1, 2 for AVX, and 5, 6, 7 for AVX-512.
Cpu detect() {
  Cpu cpu;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return cpu;
  constexpr unsigned kFma = 1u << 12, kOsSaves = 1u << 27, kAvx = 1u << 28, kF16c = 1u << 29;
  constexpr unsigned kFirst = kFma | kOsSaves | kAvx | kF16c;
  if ((c & kFirst) != kFirst) return cpu;
  unsigned saved = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return cpu;
  constexpr unsigned kAvx2 = 1u << 5, kBmi2 = 1u << 8, kF = 1u << 16, kDq = 1u << 17, kBw = 1u << 30, kVl = 1u << 31;
  constexpr unsigned kNarrow = kAvx2 | kBmi2, kWide = kF | kDq | kBw | kVl;
  cpu.avx2 = (saved & 0x06) == 0x06 && (b & kNarrow) == kNarrow;
  cpu.avx512 = cpu.avx2 && (saved & 0xE6) == 0xE6 && (b & kWide) == kWide;
  return cpu;
}
#elif defined(__aarch64__)
Cpu detect() { return {.neon = true}; }
#else
Cpu detect() { return {}; }
#endif

struct Choice {
  const char* name;
  bool here;                                       // this machine can run it
  const KernelTable<float>* table = nullptr;       // nullptr: not in this build
};

// From the widest to the baseline.
struct Choices {
  Choice all[4];
};

Choices find_choices() {
  const Cpu cpu = detect();
  Choices found{{{.name = "avx512", .here = cpu.avx512}, {.name = "avx2", .here = cpu.avx2}, {.name = "neon", .here = cpu.neon},
                 {.name = "scalar", .here = true}}};
#ifdef ROTE_WITH_AVX512
  found.all[0].table = &isa::avx512::kTable;
#endif
#ifdef ROTE_WITH_AVX2
  found.all[1].table = &isa::avx2::kTable;
#endif
#ifdef ROTE_WITH_NEON
  found.all[2].table = &isa::neon::kTable;
#endif
#ifdef ROTE_WITH_SCALAR
  found.all[3].table = &isa::scalar::kTable;
#endif
  return found;
}

const Choices& choices() {
  static const Choices found = find_choices();
  return found;
}

bool usable(const Choice& choice) { return choice.here && choice.table; }

const Choice* usable_by_name(const char* isa) {
  for (const Choice& choice : choices().all) {
    if (std::strcmp(choice.name, isa) == 0) return usable(choice) ? &choice : nullptr;
  }
  return nullptr;
}

}  // namespace

const KernelTable<float>& choose_kernels(const char* wanted) {
  std::string usable_names;
  const Choice* widest = nullptr;
  for (const Choice& choice : choices().all) {
    if (!usable(choice)) continue;
    if (!widest) widest = &choice;
    usable_names += (usable_names.empty() ? "" : ", ") + std::string(choice.name);
  }
  ROTE_ASSERT(widest, "a build has at least the baseline kernels");
  if (!wanted || !*wanted) return *widest->table;
  for (const Choice& choice : choices().all) {
    if (std::strcmp(choice.name, wanted) != 0) continue;
    ROTE_CHECK(usable(choice), ArgumentError, "ROTE_ISA: this ", choice.here ? "build" : "machine", " has no ", wanted, "; it has ", usable_names, ".");
    return *choice.table;
  }
  throw ArgumentError(str("ROTE_ISA: '", wanted, "' is no instruction set of Rote; here it can be ", usable_names, "."));
}

template <>
const KernelTable<float>& kernels<float>() {
  static const KernelTable<float>& table = choose_kernels(std::getenv("ROTE_ISA"));
  return table;
}

template <>
const KernelTable<double>& kernels<double>() {
  return isa::f64::kTable;
}

const KernelTable<float>* kernel_table(const char* isa) {
  const Choice* choice = usable_by_name(isa);
  return choice ? choice->table : nullptr;
}

}  // namespace rote
