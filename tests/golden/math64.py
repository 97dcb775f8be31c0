"""Writes tests/golden/math64.inc: values of kernels/math64.h's functions at doubles, correctly rounded from 400 digits. mpmath 1.3."""
import os

from mpmath import mp, mpf

mp.dps = 400
FUNCTIONS = {
    "exp": (mp.exp, [-745.1, -708.5, -37.25, -0.3, 1e-9, 0.1, 1.0, 2.75, 100.0, 709.7]),
    "exp2": (lambda x: mpf(2) ** x, [-1074.0, -1022.5, -3.3, -0.5, 0.0625, 0.7, 10.0, 1023.99]),
    "expm1": (mp.expm1, [-50.0, -1.7, -0.36, -1e-10, 1e-300, 0.2, 0.4, 1.1, 45.0, 700.0]),
    "log": (mp.log, [5e-324, 1e-310, 1e-100, 0.1, 0.70710678, 0.99999, 1.0000001, 1.41421357, 2.0, 12345.678, 1e300]),
    "log2": (lambda x: mp.log(x) / mp.log(2), [5e-324, 0.3, 0.999, 1.0001, 3.0, 8.0, 1e200]),
    "log10": (mp.log10, [1e-310, 0.001, 0.5, 1.5, 1000.0, 1e22, 1.7e308]),
    "log1p": (mp.log1p, [-0.9999, -0.5, -0.2, -1e-12, 1e-20, 0.3, 0.45, 1.0, 1e10, 1e300]),
    "sin": (mp.sin, [1e-9, 0.5, 0.78539817, 1.5707963267948966, 3.141592653589793, -4.0, 22.0, 1e5, 6381956970095103.0 * 2.0**797, 1.7976931348623157e308]),
    "cos": (mp.cos, [1e-9, 0.5, 0.78539817, 1.5707963267948966, 3.0, -4.0, 11.0, 1e5, 6381956970095103.0 * 2.0**797, 1.7976931348623157e308]),
    "tan": (mp.tan, [1e-9, 0.5, 0.8, 1.5707963267948966, 3.141592653589793, -4.0, 1e22]),
    "asin": (mp.asin, [1e-10, 0.1, 0.5, -0.7, 0.999, 1.0]),
    "acos": (mp.acos, [-1.0, -0.9, 0.0, 0.3, 0.9999999, 1e-17]),
    "atan": (mp.atan, [1e-300, 0.2, 0.4375, 0.6, 0.9, -1.3, 2.4375, 10.0, 1e300]),
    "sinh": (mp.sinh, [1e-10, 0.3, -0.99, 5.0, 30.0, 710.0]),
    "cosh": (mp.cosh, [0.0, 0.1, 0.34, -0.36, 5.0, 30.0, 710.0]),
    "tanh": (mp.tanh, [1e-10, 0.1, -0.5, 0.99, 1.0, 5.0, 19.0, 30.0]),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), [-740.0, -40.0, -3.0, -0.1, 0.0, 0.5, 10.0, 40.0]),
    "erf": (mp.erf, [1e-300, 0.01, 0.5, -0.51, 1.0, 2.5, 5.9, 6.5]),
    "erfc": (mp.erfc, [-6.0, -1.0, -0.3, 0.1, 0.26, 0.49, 0.51, 1.0, 3.0, 10.0, 26.5]),
    "erfinv": (mp.erfinv, [1e-20, 0.1, -0.5, 0.84, 0.86, 0.999, 0.9999999999]),
    "normal_quantile": (lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), [2.0**-33, 1e-5, 0.02, 0.075, 0.3, 0.51, 0.925, 0.99, 1 - 2.0**-33]),
}
TWO = {
    "pow": (lambda x, y: x**y, [(2.0, 0.5), (0.9, 999.0), (0.999, 3000.0), (1.0000001, 5e8), (10.0, -307.9), (3.0, 600.0), (5e-324, 0.25), (1.5, -1700.0), (7.0, 3.0)]),
    "atan2": (mp.atan2, [(1.0, 2.0), (-1.0, 2.0), (1.0, -2.0), (-3.0, -0.5), (1e-200, 1e200), (1e-3, -7.0)]),
}


def main():
    lines = ["// Made by tests/golden/math64.py: name, x, y, f(x, y) rounded to fp64; y = 0 for functions of one number. mpmath 1.3.\n"]
    for name, (f, xs) in FUNCTIONS.items():
        lines += [f'{{"{name}", {x.hex()}, 0, {float(f(mpf(x))).hex()}}},\n' for x in xs]
    for name, (f, pairs) in TWO.items():
        lines += [f'{{"{name}", {x.hex()}, {y.hex()}, {float(f(mpf(x), mpf(y))).hex()}}},\n' for x, y in pairs]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "math64.inc"), "w") as out:
        out.writelines(lines)


if __name__ == "__main__":
    main()
