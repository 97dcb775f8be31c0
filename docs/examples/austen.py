# docs/examples/austen.py FOLDER — the novels in an unpacked r-cran-janeaustenr as train.txt (five of them) and test.txt (100,000 characters of the sixth,
# Persuasion). Each novel is a zlib stream of strings behind a header of four bytes and a length.
import re, struct, sys, zlib

data, novels = open(sys.argv[1] + "/usr/lib/R/site-library/janeaustenr/data/Rdata.rdb", "rb").read(), []
while data:
    stream = zlib.decompressobj()
    raw, lines, at = stream.decompress(data[4:]), [], 0
    data = stream.unused_data
    while found := re.compile(rb"\0[\0-\x0f][\0\x10\x40\x80]\x09", re.S).search(raw, at):
        at, length = found.end() + 4, struct.unpack(">i", raw[found.end() : found.end() + 4])[0]
        if 0 <= length < 200:
            lines.append(raw[at : at + length])
            at += length
        else:
            at = found.start() + 1
    novels.append(b"\n".join(lines).decode() + "\n")
test = next(novel for novel in novels if novel.startswith("Persuasion"))
novels.remove(test)
open("train.txt", "w").write("".join(novels))
open("test.txt", "w").write(test[:100000])
