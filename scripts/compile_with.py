#!/usr/bin/env python3
# scripts/compile_with.py — has another compiler read every source of a configured build, warnings as errors. Writes no object.
"""compile_with.py COMPILER BUILD    for example: compile_with.py clang++-14 build"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

CLANG = ["-Wno-unknown-warning-option", "-Wno-bitwise-instead-of-logical", "-Wno-undefined-var-template"]  # CMakeLists.txt says why


def check(compiler, entry):
    words = shlex.split(entry["command"])
    start = next(i for i, word in enumerate(words) if word.startswith("-"))  # behind a cache and the first compiler
    output = words.index("-o")
    # An option that only the first compiler knows, to silence one of its own warnings, is no fault.
    words = [compiler] + words[start:output] + words[output + 2:] + ["-Werror", *CLANG, "-fsyntax-only"]
    done = subprocess.run(words, cwd=entry["directory"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def main(compiler, build):
    with open(os.path.join(build, "compile_commands.json")) as file:
        entries = json.load(file)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for code, text in pool.map(lambda entry: check(compiler, entry), entries):
            if code:
                failed += 1
                print(text, end="")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
