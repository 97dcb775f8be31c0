// kernels/math64.h — elementary functions in fp64, ours: the same bits on every machine. Scalar, compiled once, baseline.
//
// Within 2.2 ulps of the truth (erfc 3, erfinv and normal_quantile 4; measured); fmod is exact. They serve f64 tensors, tables, schedules, bias corrections
// and all f32 functions that have no polynomial of their own (simd/math.h). Special values are those of C's <math.h>. Formulas and
// coefficients: docs/arithmetic.md.
#pragma once

#include <stdint.h>

#include "kernels/host_device.h"

namespace rote::math64 {

ROTE_HD double exp(double x);
ROTE_HD double exp2(double x);
ROTE_HD double expm1(double x);
ROTE_HD double log(double x);
ROTE_HD double log2(double x);
ROTE_HD double log10(double x);
ROTE_HD double log1p(double x);
ROTE_HD double pow(double x, double y);
ROTE_HD double fmod(double x, double y);  // x - y·trunc(x/y)

ROTE_HD double sin(double x);
ROTE_HD double cos(double x);
ROTE_HD double tan(double x);
ROTE_HD double asin(double x);
ROTE_HD double acos(double x);
ROTE_HD double atan(double x);
ROTE_HD double atan2(double y, double x);
ROTE_HD double hypot(double x, double y);

ROTE_HD double sinh(double x);
ROTE_HD double cosh(double x);
ROTE_HD double tanh(double x);
ROTE_HD double asinh(double x);
ROTE_HD double acosh(double x);
ROTE_HD double atanh(double x);
ROTE_HD double sigmoid(double x);

ROTE_HD double erf(double x);
ROTE_HD double erfc(double x);
// Inverse of erf on [-1, 1]; NaN outside.
ROTE_HD double erfinv(double x);
// z with P(Z < z) = p for a standard normal Z; p in [0, 1], NaN outside.
ROTE_HD double normal_quantile(double p);
// normal_quantile of the middles (word + 1/2)·2^-32, which are exact and never 0 or 1.
void normal_quantiles(const uint32_t* words, int n, double* out);

}  // namespace rote::math64
