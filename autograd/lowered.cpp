#include "autograd/lowered.h"

#include <array>

namespace rote {

namespace {

struct Copy {
  std::weak_ptr<TensorImpl> of, made;
  int64_t of_version = 0, made_version = 0;
};

thread_local std::array<Copy, 4> copies;  // the newest
thread_local size_t next = 0;

}  // namespace

Tensor lowered(const Tensor& x, DType to) {
  if (x.dtype() != DType::f32 || size_of(to) != 2) return converted(x, to);
  for (const Copy& copy : copies)
    if (copy.of.lock() == x.impl() && copy.of_version == x.storage()->version())
      if (const Tensor made(copy.made.lock()); made.defined() && made.dtype() == to && made.storage()->version() == copy.made_version) return made;
  const Tensor made = converted(x, to);
  copies[next++ % copies.size()] = {x.impl(), made.impl(), x.storage()->version(), made.storage()->version()};
  return made;
}

}  // namespace rote
