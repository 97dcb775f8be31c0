// autograd/ops.h — the index of every function on tensors.
#pragma once

#include "autograd/ops/activation.h"
#include "autograd/ops/attention.h"
#include "autograd/ops/bitwise.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/compare.h"
#include "autograd/ops/contract.h"
#include "autograd/ops/conv.h"
#include "autograd/ops/create.h"
#include "autograd/ops/ctc.h"
#include "autograd/ops/distance.h"
#include "autograd/ops/elementary.h"
#include "autograd/ops/gather.h"
#include "autograd/ops/index.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/join.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/metric.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/pool.h"
#include "autograd/ops/random.h"
#include "autograd/ops/rearrange.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/regression.h"
#include "autograd/ops/resample.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sort.h"
#include "autograd/ops/strides.h"
#include "autograd/ops/svd.h"
#include "autograd/ops/view.h"

namespace rote {

using AllOps = Joined<PointwiseOps, ActivationOps, ViewOps, JoinOps, IndexOps, CastOps, LinearOps, NormOps, SoftmaxOps, LossOps, AttentionOps,
                      RandomOps, ReduceOps, GatherOps, ScanOps, SortOps, StridesOps, RearrangeOps, RegressionOps, CtcOps, ConvOps, PoolOps,
                      ResampleOps, PadOps, ElementaryOps, BitwiseOps, SvdOps>::type;

}  // namespace rote
