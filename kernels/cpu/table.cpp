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

}  // namespace rote::isa::ROTE_ISA_NAME

namespace rote {

namespace here = isa::ROTE_ISA_NAME;

template <>
constinit const AttentionTable<here::Real> RareTable<here::Tag, AttentionTable<here::Real>>::table = {here::attention, here::attention_backward};
template <>
constinit const BatchNormTable<here::Real> RareTable<here::Tag, BatchNormTable<here::Real>>::table = {here::batch_norm, here::batch_norm_backward};
template <>
constinit const GroupNormTable<here::Real> RareTable<here::Tag, GroupNormTable<here::Real>>::table = {here::group_norm, here::group_norm_backward};
template <>
constinit const CtcTable<here::Real> RareTable<here::Tag, CtcTable<here::Real>>::table = {here::ctc, here::ctc_backward};
template <>
constinit const ConvTable<here::Real> RareTable<here::Tag, ConvTable<here::Real>>::table = {here::conv, here::conv_input, here::conv_weight};
template <>
constinit const WindowTable<here::Real> RareTable<here::Tag, WindowTable<here::Real>>::table = {here::unfold, here::fold};
template <>
constinit const TapsTable<here::Real> RareTable<here::Tag, TapsTable<here::Real>>::table = {here::taps};

}  // namespace rote
