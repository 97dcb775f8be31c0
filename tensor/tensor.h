// tensor/tensor.h — the one Tensor handle and the ways to make one without an op. Members are queries only; all math is in autograd/ops.h.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "kernels/dtype.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

namespace rote {

struct TensorImpl;
struct AutogradMeta;

// A counted handle: copies share storage, shape and gradient. A default-made Tensor is undefined and stands for "none".
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const;
  const Strides& strides() const;  // in elements
  int64_t offset() const;          // of the first element in its storage, in elements
  int axes() const { return shape().axes(); }
  int64_t size(int64_t axis) const;  // negative axes count from the end
  int64_t numel() const { return shape().numel(); }
  DType dtype() const;
  Device device() const;
  bool is_contiguous() const;

  // First element. Throws DTypeError where T is not the dtype.
  template <class T>
  T* data() const {
    check_dtype(DTypeOf<T>::value);
    return static_cast<T*>(raw());
  }
  void* raw() const;
  // The value of a tensor with one element, converted.
  double item() const;
  int64_t item_i64() const;

  bool requires_grad() const;
  Tensor grad() const;  // undefined before the first backward
  const std::shared_ptr<Storage>& storage() const;
  const std::shared_ptr<TensorImpl>& impl() const { return impl_; }

 private:
  void check_dtype(DType t) const;
  std::shared_ptr<TensorImpl> impl_;
};

// What autograd hangs on a tensor; derived there.
struct AutogradMeta {
  virtual ~AutogradMeta() = default;
  bool requires_grad = false;
  Tensor grad;
};

struct TensorImpl {
  std::shared_ptr<Storage> storage;
  Shape shape;
  Strides strides;
  int64_t offset = 0;
  DType dtype = DType::f32;
  std::shared_ptr<AutogradMeta> meta;
  std::shared_ptr<TensorImpl> base;  // of a view: the tensor whose storage it shows
};

std::ostream& operator<<(std::ostream& out, const Tensor& x);  // values, aligned and abridged
std::string describe(const Tensor& x);                         // f32[4,128], or "none"

struct TensorOptions {
  DType dtype = DType::f32;
  Device device = {};
};

Tensor empty(const Shape& shape, TensorOptions options = {});
Tensor zeros(const Shape& shape, TensorOptions options = {});
Tensor full(const Shape& shape, double value, TensorOptions options = {});
Tensor arange(int64_t n, TensorOptions options = {.dtype = DType::i64});  // 0, 1, … n-1
Tensor from_values(const Shape& shape, const std::vector<float>& values);
Tensor from_values(const Shape& shape, const std::vector<double>& values);
Tensor from_values(const Shape& shape, const std::vector<int64_t>& values);
inline Tensor scalar(double value, DType dtype = DType::f32) { return full({}, value, {.dtype = dtype}); }

// The same storage under another shape, strides, offset (all in elements); no op is recorded. Views that train are ops (ops/view.h).
Tensor alias(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset);
// The same elements outside of the graph.
Tensor detach(const Tensor& x);

// Elements in logical order, converted to dst's dtype; shapes must be equal. The one strided copy of the library.
void copy_elements(const Tensor& dst, const Tensor& src);
Tensor contiguous(const Tensor& x);                   // x itself where it is; outside of the graph
Tensor converted(const Tensor& x, DType dtype);       // x itself where it is; outside of the graph
void fill(const Tensor& x, double value);

}  // namespace rote
