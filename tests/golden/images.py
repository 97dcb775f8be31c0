"""Writes tests/golden/images.inc: small pictures with what Pillow reads in them, and what Pillow's resize and the processors of transformers
over Pillow make of a pattern; results as 64-bit FNV-1a of their bytes. Pillow 13.0.0 (libjpeg-turbo 3.2), transformers 5.24.0."""
import io
import json
import os
import struct
import tempfile
import zlib

import numpy as np
from PIL import Image, ImageOps
from transformers import AutoImageProcessor


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"0x{value:016x}u"


def pattern(height, width, channels):
    y, x, c = np.ogrid[:height, :width, :channels]
    return ((x * 37 + y * 101 + c * 53 + x * y * 7 + x * x * 3) % 256).astype(np.uint8)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(height, width, bits, colors, rows, before=b"", interlace=0):
    header = struct.pack(">IIBBBBB", width, height, bits, colors, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def lines(array):
    return b"".join(b"\0" + row.tobytes() for row in array)


def adam7(array):
    starts = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
    return b"".join(lines(array[y::dy, x::dx]) for y, x, dy, dx in starts if array[y::dy, x::dx].size)


def exif(orientation, order="<"):
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return mark + struct.pack(order + "IHHHIHHI", 8, 1, 0x112, 3, 1, orientation, 0, 0)


def jpeg(array, mode, **options):
    out = io.BytesIO()
    Image.fromarray(array if array.shape[-1] > 1 else array[..., 0]).convert(mode).save(out, "JPEG", optimize=True, **options)
    return out.getvalue()


def pictures():
    rng = np.random.default_rng(5)
    wide = np.frombuffer(struct.pack(">6H", 0, 200, 255, 256, 40000, 65535), np.uint8).reshape(1, 12)
    yield "grey of 1 bit", png(2, 11, 1, 0, lines(rng.integers(0, 256, (2, 2), np.uint8)))
    yield "grey of 2 bits", png(2, 7, 2, 0, lines(rng.integers(0, 256, (2, 2), np.uint8)))
    yield "grey of 4 bits", png(2, 3, 4, 0, lines(rng.integers(0, 256, (2, 2), np.uint8)))
    yield "grey of 16 bits", png(1, 6, 16, 0, lines(wide))
    yield "grey, one of them transparent", png(1, 4, 8, 0, b"\0\1\2\3\4", chunk(b"tRNS", b"\0\2"))
    yield "grey and alpha", png(2, 3, 8, 4, lines(rng.integers(0, 256, (2, 6), np.uint8)))
    yield "grey and alpha of 16 bits", png(2, 3, 16, 4, lines(rng.integers(0, 256, (2, 12), np.uint8)))
    yield "colours of 16 bits", png(2, 3, 16, 2, lines(rng.integers(0, 256, (2, 18), np.uint8)))
    yield "colours and alpha", png(2, 3, 8, 6, lines(rng.integers(0, 256, (2, 12), np.uint8)))
    yield "colours and alpha of 16 bits", png(2, 3, 16, 6, lines(rng.integers(0, 256, (2, 24), np.uint8)))
    palette = chunk(b"PLTE", bytes(rng.integers(0, 256, 30, np.uint8)))
    yield "palette with places that it lacks", png(2, 8, 4, 3, b"\0\x01\x23\x45\x67\0\x89\xab\xcd\xef", palette)
    yield "palette with transparency", png(1, 4, 8, 3, b"\0\0\1\2\3", palette + chunk(b"tRNS", b"\0\x80\xff"))
    yield "one pixel", png(1, 1, 8, 2, b"\0\x10\x80\xf0")
    yield "interlaced", png(9, 11, 8, 2, adam7(pattern(9, 11, 3)), interlace=1)
    for orientation in range(0, 10):
        order = "<>"[orientation % 2]
        yield f"orientation {orientation}", png(2, 3, 8, 2, lines(pattern(2, 3, 3).reshape(2, 9)), chunk(b"eXIf", exif(orientation, order)))
    smooth = np.array(Image.fromarray(pattern(3, 4, 3)).resize((19, 13), Image.BICUBIC))
    yield "JPEG", jpeg(smooth, "RGB", quality=80)
    yield "JPEG with colours of half the rows and columns, progressive", jpeg(smooth, "RGB", quality=60, subsampling=2, progressive=True)
    yield "JPEG of grey", jpeg(smooth, "L", quality=70)
    yield "JPEG of inks", jpeg(smooth, "CMYK", quality=70)
    yield "JPEG stored as red, green and blue", jpeg(smooth, "RGB", quality=70, keep_rgb=True)
    yield "JPEG that lies on its side", jpeg(smooth, "RGB", quality=70, exif=b"Exif\0\0" + exif(6, ">"))


def picture_row(name, data):
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    colors, grey = np.array(image.convert("RGB")), np.array(image.convert("L"))
    text = data.hex()
    literal = "\n  ".join(f'"{text[at:at + 150]}"' for at in range(0, len(text), 150))
    return f'{{"{name}",\n  {literal},\n  {colors.shape[0]}, {colors.shape[1]}, {fnv(colors.tobytes())}, {fnv(grey.tobytes())}}},'


def resize_rows():
    sizes = [(1, 1, 5, 7), (1, 1, 1, 1), (8, 8, 32, 32), (33, 21, 10, 10), (21, 33, 10, 10), (40, 7, 9, 30), (7, 40, 30, 9), (64, 64, 64, 10),
             (64, 64, 10, 64), (5, 300, 3, 3), (300, 5, 3, 3), (2, 2, 1, 1), (100, 90, 50, 64), (100, 90, 50, 65), (100, 90, 49, 65), (13, 13, 12, 14)]
    for at, (height, width, to_height, to_width) in enumerate(sizes):
        for filter in (0, 2, 3):
            channels = 3 if at % 2 else 1
            array = pattern(height, width, channels)
            image = Image.fromarray(array if channels == 3 else array[..., 0]).resize((to_width, to_height), filter)
            yield f"{{{height}, {width}, {channels}, {to_height}, {to_width}, {filter}, {fnv(np.array(image).tobytes())}}},"


PROCESSORS = [
    (40, 30, 3, {"image_processor_type": "ViTImageProcessor"}),
    (40, 30, 3, {"image_processor_type": "ViTImageProcessor", "size": 18, "resample": 3}),
    (40, 30, 3, {"image_processor_type": "ViTImageProcessorFast", "size": {"height": 20, "width": 17}, "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}),
    (30, 41, 3, {"feature_extractor_type": "ViTFeatureExtractor", "size": [9, 11], "resample": 0, "do_normalize": False}),
    (30, 41, 3, {"image_processor_type": "ViTImageProcessor", "do_resize": False, "do_rescale": False, "image_mean": 127.5, "image_std": [127.5, 127.5, 128]}),
    (30, 41, 1, {"image_processor_type": "ViTImageProcessor", "size": 12, "image_mean": [0.3], "image_std": [0.7], "rescale_factor": 0.01}),
    (40, 30, 3, {"image_processor_type": "DeiTImageProcessor", "size": 24, "crop_size": 19}),
    (20, 20, 3, {"image_processor_type": "DeiTImageProcessor", "do_resize": False, "crop_size": {"height": 25, "width": 13}}),
    (21, 20, 3, {"image_processor_type": "DeiTImageProcessor", "do_resize": False, "crop_size": {"height": 14, "width": 27}, "do_normalize": False}),
    (40, 30, 3, {"image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": 16}}),
    (29, 47, 3, {"feature_extractor_type": "ConvNextFeatureExtractor", "size": 17, "crop_pct": 0.9, "resample": 2}),
    (9, 7, 3, {"image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": 384}}),
    (40, 30, 3, {"image_processor_type": "BitImageProcessor", "size": {"shortest_edge": 20}, "crop_size": 16}),
    (30, 61, 3, {"image_processor_type": "BitImageProcessor", "size": 15, "do_center_crop": False}),
    (40, 30, 3, {"image_processor_type": "EfficientNetImageProcessor", "size": 22}),
    (40, 30, 3, {"image_processor_type": "EfficientNetImageProcessor", "size": 22, "rescale_offset": True, "rescale_factor": 0.00784313725490196, "include_top": False, "do_center_crop": True, "crop_size": 20}),
    (1, 1, 3, {"image_processor_type": "ViTImageProcessor", "size": 4}),
]


def processor_rows():
    for height, width, channels, settings in PROCESSORS:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "preprocessor_config.json"), "w") as out:
                json.dump(settings, out)
            processor = AutoImageProcessor.from_pretrained(folder, backend="pil")
            array = pattern(height, width, channels)
            image = Image.fromarray(array if channels == 3 else array[..., 0])
            values = processor(image, return_tensors="np")["pixel_values"][0].astype(np.float32)
        yield f'{{{height}, {width}, {channels}, R"({json.dumps(settings)})",\n  {values.shape[1]}, {values.shape[2]}, {fnv(values.tobytes())}}},'


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "images.inc"), "w") as out:
        out.write("// Made by tests/golden/images.py with Pillow 13.0.0 and transformers 5.24.0.\n")
        for guard, rows in (("PICTURES", (picture_row(*one) for one in pictures())), ("RESIZED", resize_rows()), ("PROCESSED", processor_rows())):
            out.write(f"#ifdef ROTE_GOLDEN_{guard}\n" + "\n".join(rows) + "\n#endif\n")


main()
