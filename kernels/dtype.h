// kernels/dtype.h — element types: name, size, category, and the two 16-bit floats with their conversions. No tensors.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace rote {

enum class DType : uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };
inline constexpr int kDTypes = 10;

struct DTypeInfo {
  const char* name;         // in our texts
  const char* safetensors;  // in safetensors headers
  const char* torch;        // in config.json and conformance files
  int8_t size;              // bytes
  int8_t category;          // promotion: 0 bool, 1 integer, 2 floating
};

inline constexpr DTypeInfo kDTypeInfo[kDTypes] = {
    {"f64", "F64", "float64", 8, 2}, {"f32", "F32", "float32", 4, 2},   {"f16", "F16", "float16", 2, 2}, {"bf16", "BF16", "bfloat16", 2, 2},
    {"i64", "I64", "int64", 8, 1},   {"i32", "I32", "int32", 4, 1},     {"i16", "I16", "int16", 2, 1},   {"i8", "I8", "int8", 1, 1},
    {"u8", "U8", "uint8", 1, 1},     {"bool", "BOOL", "bool", 1, 0},
};

constexpr const DTypeInfo& info(DType t) { return kDTypeInfo[static_cast<int>(t)]; }
constexpr const char* name(DType t) { return info(t).name; }
constexpr int64_t size_of(DType t) { return info(t).size; }
constexpr bool is_floating(DType t) { return info(t).category == 2; }

// IEEE binary16. Conversions round to nearest even; NaN becomes 0x7E00.
struct Half {
  uint16_t bits = 0;
};
// The upper half of a binary32. Conversions round to nearest even by integer arithmetic; NaN becomes 0x7FC0.
struct BFloat16 {
  uint16_t bits = 0;
};

constexpr float to_float(BFloat16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }

constexpr BFloat16 to_bfloat16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  if ((u & 0x7FFFFFFFu) > 0x7F800000u) return {0x7FC0};
  return {static_cast<uint16_t>((u + 0x7FFFu + ((u >> 16) & 1u)) >> 16)};
}

constexpr float to_float(Half x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t magnitude = x.bits & 0x7FFFu;
  if (magnitude > 0x7C00u) return std::bit_cast<float>(sign | 0x7FC00000u | (magnitude & 0x3FFu) << 13);  // quiet
  if (magnitude == 0x7C00u) return std::bit_cast<float>(sign | 0x7F800000u);
  if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f));  // subnormal: exact
}

constexpr Half to_half(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  const uint16_t sign = static_cast<uint16_t>((u >> 16) & 0x8000u);
  const uint32_t a = u & 0x7FFFFFFFu;
  if (a > 0x7F800000u) return {0x7E00};
  if (a >= 0x477FF000u) return {static_cast<uint16_t>(sign | 0x7C00u)};  // 65520 and above round to infinity
  if (a >= 0x38800000u) return {static_cast<uint16_t>(sign | ((a - (112u << 23) + 0xFFFu + ((a >> 13) & 1u)) >> 13))};
  const float shifted = std::bit_cast<float>(a) + 0.5f;  // ulp of [0.5,1) is 2^-24, the step of subnormal halves: rounds once, to even
  return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000u))};
}

template <class T>
struct DTypeOf;
template <> struct DTypeOf<double> { static constexpr DType value = DType::f64; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::f32; };
template <> struct DTypeOf<Half> { static constexpr DType value = DType::f16; };
template <> struct DTypeOf<BFloat16> { static constexpr DType value = DType::bf16; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::i64; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::i32; };
template <> struct DTypeOf<int16_t> { static constexpr DType value = DType::i16; };
template <> struct DTypeOf<int8_t> { static constexpr DType value = DType::i8; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::u8; };
template <> struct DTypeOf<bool> { static constexpr DType value = DType::boolean; };

// Calls f(T{}) with the C++ type of `t`: the one switch over dtypes.
template <class F>
auto visit(DType t, F&& f) {
  switch (t) {
    case DType::f64: return f(double{});
    case DType::f32: return f(float{});
    case DType::f16: return f(Half{});
    case DType::bf16: return f(BFloat16{});
    case DType::i64: return f(int64_t{});
    case DType::i32: return f(int32_t{});
    case DType::i16: return f(int16_t{});
    case DType::i8: return f(int8_t{});
    case DType::u8: return f(uint8_t{});
    case DType::boolean: break;
  }
  return f(bool{});
}

// One element from one type to another by arithmetic.md 5: float → int truncates toward zero, clamped, NaN → 0; 16-bit floats round once.
template <class To, class From>
constexpr To convert(From x) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    if constexpr (std::is_same_v<From, To>) return x;
    else return convert<To>(to_float(x));
  } else if constexpr (std::is_same_v<To, Half>) {
    return to_half(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return to_bfloat16(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (x != x) return 0;
    constexpr uint64_t top = uint64_t(1) << (sizeof(To) * 8 - 1);  // the sign bit of To
    constexpr From low = std::is_signed_v<To> ? -static_cast<From>(top) : From(0);
    if (x <= low) return static_cast<To>(std::is_signed_v<To> ? top : 0);
    constexpr To high = static_cast<To>(std::is_signed_v<To> ? top - 1 : ~uint64_t(0));
    if (x >= static_cast<From>(high)) return high;
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace rote
