// kernels/math64.h — elementary functions in fp64, ours: the same bits on every machine. Scalar, compiled once, baseline.
//
// Within 2.2 ulps of the truth (erfc 3, erfinv and normal_quantile 4; measured); fmod is exact. They serve f64 tensors, tables, schedules, bias corrections
// and all f32 functions that have no polynomial of their own (simd/math.h). Special values are those of C's <math.h>. Formulas and
// coefficients: docs/arithmetic.md.
#pragma once

#include <stdint.h>

namespace rote::math64 {

double exp(double x);
double exp2(double x);
double expm1(double x);
double log(double x);
double log2(double x);
double log10(double x);
double log1p(double x);
double pow(double x, double y);
double fmod(double x, double y);  // x - y·trunc(x/y)

double sin(double x);
double cos(double x);
double tan(double x);
double asin(double x);
double acos(double x);
double atan(double x);
double atan2(double y, double x);
double hypot(double x, double y);

double sinh(double x);
double cosh(double x);
double tanh(double x);
double asinh(double x);
double acosh(double x);
double atanh(double x);
double sigmoid(double x);

double erf(double x);
double erfc(double x);
// Inverse of erf on [-1, 1]; NaN outside.
double erfinv(double x);
// z with P(Z < z) = p for a standard normal Z; p in [0, 1], NaN outside.
double normal_quantile(double p);
// normal_quantile of the middles (word + 1/2)·2^-32, which are exact and never 0 or 1.
void normal_quantiles(const uint32_t* words, int n, double* out);

}  // namespace rote::math64
