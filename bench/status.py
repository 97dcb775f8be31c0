#!/usr/bin/env python3
# bench/status.py — what the status words of kernels cost: this tree built with and without them, one thread.
"""status.py BUILD [PAIRS]    for example: status.py build-status
Products: instructions by valgrind's callgrind under avx2. Loops: the median ratio of PAIRS (default 30) runs in turns. Builds go to BUILD/with and BUILD/without."""

import os
import re
import statistics
import subprocess
import sys


def build(folder, status):
    tree = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for command in (["cmake", "-S", tree, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", f"-DROTE_STATUS={status}"],
                    ["cmake", "--build", folder, "-j", str(os.cpu_count()), "--target", "bench-status"]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return os.path.join(folder, "bench-status")


def instructions(program, name, repeats):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "product", name, str(repeats)],
                          env={**os.environ, "ROTE_ISA": "avx2"}, check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def milliseconds(program, name):
    return float(subprocess.run([program, "loop", name], check=True, capture_output=True, text=True).stdout)


def main(folder, pairs=30):
    with_words, without = build(os.path.join(folder, "with"), "ON"), build(os.path.join(folder, "without"), "OFF")
    for line in subprocess.run([with_words], check=True, capture_output=True, text=True).stdout.splitlines():
        kind, name = line.split(" ", 1)
        if kind == "product":
            own = [instructions(p, name, 1) - instructions(p, name, 0) for p in (with_words, without)]
            print(f"{name:28} {own[0]:14} instructions, {100 * (own[0] / own[1] - 1):+.2f} %", flush=True)
        else:
            ratios = [milliseconds(with_words, name) / milliseconds(without, name) for _ in range(int(pairs))]
            print(f"{name:28} {100 * (statistics.median(ratios) - 1):+.2f} % time", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
