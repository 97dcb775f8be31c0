// kernels/cpu/table.cpp — the kernels of this instruction set as tables.
#include "kernels/cpu/kernels.h"

namespace rote::isa::ROTE_ISA_NAME {

#define ROTE_ISA_TEXT(name) #name
#define ROTE_ISA_STRING(name) ROTE_ISA_TEXT(name)

constinit const KernelTable<Real> kTable = {
    .isa = ROTE_ISA_STRING(ROTE_ISA_NAME),
    .gemm = gemm,
    .sum_rows = sum_rows,
    .sum_columns = sum_columns,
    .max_rows = max_rows,
    .softmax = softmax,
    .softmax_backward = softmax_backward,
    .log_softmax = log_softmax,
    .log_softmax_backward = log_softmax_backward,
    .layer_norm = layer_norm,
    .layer_norm_backward = layer_norm_backward,
    .cross_entropy = cross_entropy,
    .cross_entropy_backward = cross_entropy_backward,
    .embedding_backward = embedding_backward,
    .dropout = dropout,
    .uniform = uniform,
    .normal = normal,
    .square_blocks = square_blocks,
};

constinit const RareTable<Real> kRareTable = {
    .isa = ROTE_ISA_STRING(ROTE_ISA_NAME),
    .attention = attention,
    .attention_backward = attention_backward,
    .batch_norm = batch_norm,
    .batch_norm_backward = batch_norm_backward,
    .group_norm = group_norm,
    .group_norm_backward = group_norm_backward,
    .ctc = ctc,
    .ctc_backward = ctc_backward,
    .conv = conv,
    .conv_input = conv_input,
    .conv_weight = conv_weight,
    .unfold = unfold,
    .fold = fold,
    .taps = taps,
};

}  // namespace rote::isa::ROTE_ISA_NAME
