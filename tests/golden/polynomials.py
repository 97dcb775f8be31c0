"""Prints the f32 polynomials of kernels/simd/math.h and the f64 ones of kernels/math64.cpp. Needs mpmath 1.3; takes a minute.

A polynomial is fitted by least squares of the relative error at Chebyshev nodes. For f32 coefficients are rounded one by one from the lowest up,
the rest fitted again each time, so that rounding a coefficient is made good by the higher ones.
"""
import struct

from mpmath import mp, mpf

mp.dps = 60


def to_f32(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def to_f64(x):
    return mpf(float(x))


def fit(target, weight, low, high, powers, rounding, points=None):
    """Coefficients c of sum c[i]*t**powers[i] ~ target(t), error times weight(t) least, each passed through rounding."""
    points = points or 4 * len(powers) + 8
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * points)) for i in range(points)]
    known = []
    values = [target(t) for t in nodes]
    weights = [weight(t) for t in nodes]
    while len(known) < len(powers):
        free = powers[len(known):]
        rows = mp.matrix(points, len(free))
        rest = mp.matrix(points, 1)
        for i, t in enumerate(nodes):
            for j, p in enumerate(free):
                rows[i, j] = weights[i] * t**p
            rest[i] = weights[i] * (values[i] - sum(c * t**p for c, p in zip(known, powers)))
        solution = mp.lu_solve(rows, rest)
        known.append(rounding(solution[0]))
    worst = max(abs(w * (v - sum(c * t**p for c, p in zip(known, powers)))) for w, v, t in zip(weights, values, nodes))
    return known, worst


def show(name, result, digits):
    coefficients, worst = result
    print(f"{name}: error 2^{float(mp.log(worst, 2)):.1f}")
    for c in coefficients:
        print("   ", float(c).hex() if digits == 64 else mp.nstr(c, 9), "" if digits == 64 else float(c).hex())


def f32():
    half_ln2 = mp.log(2) / 2 * mpf("1.002")
    show("exp: (e^r - 1 - r)/r^2, |r| <= ln2/2",
         fit(lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.exp(r), -half_ln2, half_ln2, list(range(6)), to_f32), 32)
    show("log: (log(1+f) - f + f^2/2)/f^3, sqrt(1/2) <= 1+f <= sqrt(2)",
         fit(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, lambda f: f**3 / mp.log1p(f), mp.sqrt(0.5) - 1, mp.sqrt(2) - 1, list(range(9)), to_f32), 32)
    show("tanh: (tanh x - x)/x^3 in x^2, |x| <= 0.625",
         fit(lambda x: (mp.tanh(x) - x) / x**3, lambda x: x**3 / mp.tanh(x), mpf("1e-3"), mpf("0.625"), [0, 2, 4, 6, 8, 10], to_f32), 32)
    show("erf: (erf x - x)/x in x^2, |x| <= 0.875",
         fit(lambda x: (mp.erf(x) - x) / x, lambda x: x / mp.erf(x), mpf("1e-3"), mpf("0.875"), [0, 2, 4, 6, 8, 10, 12], to_f32), 32)
    show("erf: log(erfc x) in x - 2, 0.875 <= x <= 4",
         fit(lambda t: mp.log(mp.erfc(t + 2)), lambda t: mp.erfc(t + 2) / mp.erf(t + 2), mpf("-1.125"), mpf(2), list(range(10)), to_f32), 32)
    ln2 = mp.log(2)
    high = mpf(round(ln2 * 2**16)) / 2**16
    print("ln2 = ", float(high).hex(), float(to_f32(ln2 - high)).hex(), mp.nstr(to_f32(ln2 - high), 9))
    high = to_f32(ln2)
    print("ln2 = ", float(high).hex(), float(to_f32(ln2 - high)).hex(), mp.nstr(to_f32(ln2 - high), 9))


def f64():
    show("atan: (atan x - x)/x^3 in x^2, |x| <= 7/16",
         fit(lambda x: (mp.atan(x) - x) / x**3, lambda x: x**3 / mp.atan(x), mpf("1e-3"), mpf(7) / 16, list(range(0, 24, 2)), to_f64), 64)
    show("erf: (erf x - x)/x in x^2, |x| <= 0.5",
         fit(lambda x: (mp.erf(x) - x) / x, lambda x: x / mp.erf(x), mpf("1e-3"), mpf("0.5"), list(range(0, 20, 2)), to_f64), 64)
    c = mpf("2.5")
    unmap = lambda t: c * (1 + t) / (1 - t)
    scaled = lambda x: (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)
    ends = [(mpf(x) - c) / (mpf(x) + c) for x in ("0.5", "27.5")]
    show("erfc: (1 + 2x)e^(x^2)erfc x in (x - 2.5)/(x + 2.5), 0.5 <= x <= 27.5",
         fit(lambda t: scaled(unmap(t)), lambda t: 1 / scaled(unmap(t)), ends[0], ends[1], list(range(23)), to_f64, 160), 64)


if __name__ == "__main__":
    f32()
    f64()
