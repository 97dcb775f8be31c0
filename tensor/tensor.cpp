#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "tensor/strided.h"

namespace rote {

namespace {

constexpr int64_t kMostBytes = int64_t{1} << 48;

const TensorImpl& checked(const std::shared_ptr<TensorImpl>& impl) {
  ROTE_CHECK(impl != nullptr, ArgumentError, "tensor: this handle is undefined (none). Give a tensor.");
  return *impl;
}

template <class T>
Tensor from_vector(const Shape& shape, const std::vector<T>& values) {
  ROTE_CHECK(shape.numel() == static_cast<int64_t>(values.size()), ShapeError, "from_values: ", values.size(), " values for shape ", shape,
             ", which holds ", shape.numel(), ".");
  Tensor x = empty(shape, {.dtype = DTypeOf<T>::value});
  std::copy(values.begin(), values.end(), x.data<T>());
  return x;
}

}  // namespace

const Shape& Tensor::shape() const { return checked(impl_).shape; }
const Strides& Tensor::strides() const { return checked(impl_).strides; }
int64_t Tensor::offset() const { return checked(impl_).offset; }
DType Tensor::dtype() const { return checked(impl_).dtype; }
Device Tensor::device() const { return checked(impl_).storage->device(); }
const std::shared_ptr<Storage>& Tensor::storage() const { return checked(impl_).storage; }
void* Tensor::raw() const { return checked(impl_).storage->data() + impl_->offset * size_of(impl_->dtype); }
bool Tensor::requires_grad() const { return impl_ && impl_->meta && impl_->meta->requires_grad; }
Tensor Tensor::grad() const { return impl_ && impl_->meta ? impl_->meta->grad : Tensor(); }

int64_t Tensor::size(int64_t axis) const {
  ROTE_CHECK(axes() > 0, ShapeError, "size: a tensor without axes has no axis ", axis, ".");
  return shape()[normalize_axis(axis, axes(), "size")];
}

bool Tensor::is_contiguous() const {
  int64_t step = 1;
  for (int i = axes() - 1; i >= 0; --i) {
    if (shape()[i] != 1 && strides()[i] != step) return numel() == 0;
    step *= shape()[i];
  }
  return true;
}

void Tensor::check_dtype(DType t) const {
  ROTE_CHECK(dtype() == t, DTypeError, "data: the tensor is ", describe(*this), ", asked for as ", name(t), "; convert it with to(x, DType::", name(t),
             ") first.");
}

double Tensor::item() const {
  ROTE_CHECK(numel() == 1, ShapeError, "item: ", describe(*this), " has ", numel(), " elements; item() reads a tensor with exactly one.");
  return visit(dtype(), [&](auto t) { return convert<double>(*static_cast<const decltype(t)*>(raw())); });
}

int64_t Tensor::item_i64() const {
  ROTE_CHECK(numel() == 1, ShapeError, "item: ", describe(*this), " has ", numel(), " elements; item() reads a tensor with exactly one.");
  return visit(dtype(), [&](auto t) { return convert<int64_t>(*static_cast<const decltype(t)*>(raw())); });
}

std::string describe(const Tensor& x) { return x.defined() ? str(name(x.dtype()), x.shape()) : "none"; }

Tensor empty(const Shape& shape, TensorOptions options) {
  int64_t bytes = size_of(options.dtype);
  for (const int64_t extent : shape) {
    ROTE_CHECK(extent >= 0, ShapeError, "empty: shape ", shape, " has a negative size.");
    ROTE_CHECK(!__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes) && bytes < kMostBytes, ShapeError, "empty: shape ", shape,
               " holds more than any memory; a tensor has less than 2^48 bytes.");
  }
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = std::make_shared<Storage>(shape.numel() * size_of(options.dtype), options.device);
  impl->shape = shape;
  impl->strides = contiguous_strides(shape);
  impl->dtype = options.dtype;
  return Tensor(std::move(impl));
}

Tensor zeros(const Shape& shape, TensorOptions options) {
  Tensor x = empty(shape, options);
  std::memset(x.raw(), 0, static_cast<size_t>(x.numel() * size_of(options.dtype)));
  return x;
}

Tensor full(const Shape& shape, double value, TensorOptions options) {
  Tensor x = empty(shape, options);
  fill(x, value);
  return x;
}

Tensor arange(int64_t n, TensorOptions options) {
  Tensor x = empty({n}, options);
  visit(options.dtype, [&](auto t) {
    auto* p = x.data<decltype(t)>();
    for (int64_t i = 0; i < n; ++i) p[i] = convert<decltype(t)>(i);
  });
  return x;
}

Tensor from_values(const Shape& shape, const std::vector<float>& values) { return from_vector(shape, values); }
Tensor from_values(const Shape& shape, const std::vector<double>& values) { return from_vector(shape, values); }
Tensor from_values(const Shape& shape, const std::vector<int64_t>& values) { return from_vector(shape, values); }

Tensor alias(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset) {
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = x.storage();
  impl->shape = shape;
  impl->strides = strides;
  impl->offset = offset;
  impl->dtype = x.dtype();
  impl->base = x.impl()->base ? x.impl()->base : x.impl();
  return Tensor(std::move(impl));
}

Tensor detach(const Tensor& x) {
  ROTE_CHECK(x.defined(), ArgumentError, "detach: x is none; it must be a tensor.");
  auto impl = std::make_shared<TensorImpl>(*x.impl());
  impl->meta = nullptr;
  impl->base = nullptr;
  return Tensor(std::move(impl));
}

void copy_elements(const Tensor& dst, const Tensor& src) {
  ROTE_CHECK(dst.shape() == src.shape(), ShapeError, "copy: from ", describe(src), " to ", describe(dst), "; the shapes must be equal.");
  dst.storage()->bump_version();
  copy_runs(common_runs(dst.shape(), {dst.strides(), src.strides()}), dst.raw(), dst.dtype(), src.raw(), src.dtype());
}

Tensor contiguous(const Tensor& x) {
  if (x.is_contiguous()) return x;
  Tensor y = empty(x.shape(), {.dtype = x.dtype(), .device = x.device()});
  copy_elements(y, x);
  return y;
}

Tensor converted(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor y = empty(x.shape(), {.dtype = dtype, .device = x.device()});
  copy_elements(y, x);
  return y;
}

void fill(const Tensor& x, double value) {
  x.storage()->bump_version();
  const Runs runs = common_runs(x.shape(), {x.strides()});
  visit(x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T v = convert<T>(value);
    for_each_run(runs, [&](const int64_t* at) {
      T* p = static_cast<T*>(x.raw()) + at[0];
      for (int64_t i = 0; i < runs.length; ++i) p[i * runs.step[0]] = v;
    });
  });
}

}  // namespace rote
