// kernels/check.h — the error types, the builder of their texts and the two checks. No formatting of tensors.
//
// A text reads `who: what is wrong, with values. What would be right.` User faults are thrown before any memory is written.
#pragma once

#include <cstdint>
#include <exception>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rote {

enum class ErrorKind { memory, shape, dtype, device, argument, state, io, non_finite };

class Error : public std::exception {
 public:
  // The text becomes one line of at most 4000 bytes: names come from files. What cannot be printed is written \n or \x07, a long middle left out.
  Error(ErrorKind kind, const std::string& text);
  // Several faults, a line each.
  Error(ErrorKind kind, const std::vector<std::string>& lines);
  const char* what() const noexcept override { return text.c_str(); }
  const ErrorKind kind;
  const std::string text;
};

template <ErrorKind K>
struct ErrorOf : Error {
  explicit ErrorOf(const std::string& text) : Error(K, text) {}
  explicit ErrorOf(const std::vector<std::string>& lines) : Error(K, lines) {}
};

using MemoryError = ErrorOf<ErrorKind::memory>;
using ShapeError = ErrorOf<ErrorKind::shape>;
using DTypeError = ErrorOf<ErrorKind::dtype>;
using DeviceError = ErrorOf<ErrorKind::device>;
using ArgumentError = ErrorOf<ErrorKind::argument>;
using StateError = ErrorOf<ErrorKind::state>;
using IoError = ErrorOf<ErrorKind::io>;
using NonFiniteError = ErrorOf<ErrorKind::non_finite>;

namespace detail {

// A value and how it is written. Call sites are many: each builds an array of these and calls one function.
struct Printed {
  const void* value;
  void (*write)(std::ostream& out, const void* value);
};
template <class T>
void write_value(std::ostream& out, const void* value) {
  out << *static_cast<const T*>(value);
}
inline void write_text(std::ostream& out, const void* value) { out << static_cast<const char*>(value); }

template <class T>
Printed printed(const T& value) {
  if constexpr (std::is_array_v<T>) return {value, write_text};
  else return {&value, write_value<T>};
}
std::string written(const Printed* parts, size_t count);

}  // namespace detail

// str(a, b, …): the arguments written one after the other.
template <class... A>
std::string str(const A&... a) {
  const detail::Printed parts[] = {detail::printed(a)...};
  return detail::written(parts, sizeof...(A));
}

namespace detail {

template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void fail_with(const Printed* parts, size_t count) {
  throw E(written(parts, count));
}
template <class E, class... A>
[[noreturn]] void fail(const A&... a) {
  const Printed parts[] = {printed(a)...};
  fail_with<E>(parts, sizeof...(A));
}

}  // namespace detail

// The name among `known` with the smallest edit distance to `word`, empty where none is near (more than a third differs).
std::string nearest(const std::string& word, const std::string* known, int64_t count);

namespace detail {
[[noreturn]] void assertion_failed(const char* file, int line, const char* condition, const char* reason);
}

}  // namespace rote

// A user's fault: throws `Type` with the text built from the rest.
#define ROTE_CHECK(condition, Type, ...)                              \
  do {                                                                \
    if (!(condition)) ::rote::detail::fail<::rote::Type>(__VA_ARGS__); \
  } while (false)

// Our own fault: prints place and reason and aborts, in every build.
#define ROTE_ASSERT(condition, reason)                                                        \
  do {                                                                                        \
    if (!(condition)) ::rote::detail::assertion_failed(__FILE__, __LINE__, #condition, reason); \
  } while (false)
