// autograd/inplace.h — writing into a tensor that the graph knows: the history of a base and of its views. The ops themselves: ops/inplace.h.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace rote {

// x takes the values and the history of y, which has its shape; y is converted to x's dtype. Every view of x's memory shows the new
// values and their history. Throws where x is a leaf that requires a gradient (under NoGrad it may be written), where elements of x share
// memory, where y's category is above x's dtype, where x shows a tensor with a history that x itself does not know (a view made under NoGrad).
// `op` names the caller; replaces: y does not depend on x, whose history then gets zeros.
struct WriteOptions {
  bool replaces = false;
};
void write_into(const Tensor& x, const Tensor& y, const char* op, WriteOptions options = {});

// What an op that will be written into x reads in x's place: a copy where the op may be recorded, for it may save what it reads.
Tensor before_write(const Tensor& x, const std::vector<Tensor>& others);

// The history of a view whose base was written since: that of the base, seen through the view. Nothing for other tensors.
void renew_view(const Tensor& x);
// A new view knows all that was written to its base so far.
void join_history(const Tensor& view);

}  // namespace rote
