// autograd/ops/contract.h — products of tensors summed over named axes, made of matrix products. Compositions alone.
#pragma once

#include "autograd/apply.h"

namespace rote {

// The product of all operands, summed over the letters that the output leaves out: `bqhd,bkhd->bhqk`. A letter is an axis, equal in all operands
// or 1; twice in one operand it is the diagonal; `...` stands for the axes that no letter names, which broadcast. Without `->` the output has `...`
// and then, in the order of ASCII, the letters that occur once. Operands join from left to right.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);
// Σ x·y over pairs of axes: axis x_axes[i] of x with y_axes[i] of y. What is left of x, then of y.
Tensor tensordot(const Tensor& x, const Tensor& y, const std::vector<int64_t>& x_axes, const std::vector<int64_t>& y_axes);
Tensor kron(const Tensor& x, const Tensor& y);   // every element of x times all of y
Tensor inner(const Tensor& x, const Tensor& y);  // over the last axis of both; a tensor without axes multiplies
Tensor vecdot(const Tensor& x, const Tensor& y, int64_t axis = -1);  // Σ x·y along one axis
Tensor multi_dot(const std::vector<Tensor>& matrices);               // their product, in the order that multiplies least
Tensor bilinear(const Tensor& x, const Tensor& y, const Tensor& w, const Tensor& b = {});  // x [*,I], y [*,J], w [O,I,J] -> [*,O]
Tensor cross(const Tensor& x, const Tensor& y, int64_t axis = -1);                         // of vectors of size 3 along the axis
std::vector<Composition> contract_compositions();

}  // namespace rote
