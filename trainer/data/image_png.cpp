// trainer/data/image_png.cpp — PNG through libpng.
#include "kernels/check.h"
#include "trainer/data/image_codec.h"

#if ROTE_PNG

#include <png.h>

#include <csetjmp>
#include <cstring>

namespace rote::data {

namespace {

// 1. libpng reports a fault by a jump from its own frames to the setjmp of the function here that called it. Those functions return false then
//    and hold nothing that has a destructor; memory is owned by the frames above them.
// 2. The text of the fault is in `fault` then. Warnings are dropped: what libpng can read in spite of them is read.
struct PngReader {
  std::string_view bytes;
  size_t at = 0;
  char fault[160] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;

  explicit PngReader(std::string_view from) : bytes(from) {}
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void on_fault(png_structp png, png_const_charp text) {
  auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
  std::strncpy(reader->fault, text, sizeof reader->fault - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, size_t n) {
  auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
  if (n > reader->bytes.size() - reader->at) png_error(png, "it ends too early");
  std::memcpy(to, reader->bytes.data() + reader->at, n);
  reader->at += n;
}

// Whether each chunk, from its length on, lies inside the file: libpng takes memory for as many bytes as a chunk says before it reads them.
bool chunks_fit(std::string_view bytes) {
  for (size_t at = 8; at + 12 <= bytes.size();) {
    uint32_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(bytes[at + i]);
    if (length > bytes.size() - at - 12) return false;
    if (bytes.substr(at + 4, 4) == "IEND") break;
    at += 12 + size_t{length};
  }
  return true;  // libpng says what is missing
}

// Not even unpacked: a few bytes of these can be megabytes.
constexpr png_byte kSkipped[] = "iTXt\0tEXt\0zTXt\0iCCP\0sPLT";

bool begin(PngReader& r) {
  r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_fault, on_warning);
  if (r.png == nullptr) return false;
  if (setjmp(png_jmpbuf(r.png))) return false;
  r.info = png_create_info_struct(r.png);
  png_set_read_fn(r.png, &r, read_bytes);
  png_set_user_limits(r.png, 0x7fffffff, 0x7fffffff);  // check_header knows better
  png_set_keep_unknown_chunks(r.png, PNG_HANDLE_CHUNK_NEVER, kSkipped, sizeof kSkipped / 5);
  png_read_info(r.png, r.info);
  return true;
}

// Red, green and blue of 8 bits for every kind of file but grey of 16 bits, which stays as it is.
bool prepare(PngReader& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  const int colors = png_get_color_type(r.png, r.info), bits = png_get_bit_depth(r.png, r.info);
  if (colors != PNG_COLOR_TYPE_GRAY || bits != 16) {
    if (colors == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(r.png);
    if (colors == PNG_COLOR_TYPE_GRAY && bits < 8) png_set_expand_gray_1_2_4_to_8(r.png);
    png_set_strip_16(r.png);
    png_set_strip_alpha(r.png);
    if (colors == PNG_COLOR_TYPE_GRAY || colors == PNG_COLOR_TYPE_GRAY_ALPHA) png_set_gray_to_rgb(r.png);
  }
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

bool read_rows(PngReader& r, uint8_t* rows, size_t row_bytes, int64_t height, int passes) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  for (int pass = 0; pass < passes; ++pass)
    for (int64_t y = 0; y < height; ++y) png_read_row(r.png, rows + static_cast<size_t>(y) * row_bytes, nullptr);
  png_read_end(r.png, r.info);
  return true;
}

// From the upper and the lower byte. The reference cuts at 255 here and keeps the upper byte everywhere else.
void narrow_grey(const std::vector<uint8_t>& wide, Image& image) {
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = wide[i / 3 * 2] != 0 ? 255 : wide[i / 3 * 2 + 1];
}

int orientation_of(const PngReader& r) {
  png_bytep block = nullptr;
  png_uint_32 bytes = 0;
  if (png_get_eXIf_1(r.png, r.info, &bytes, &block) == 0) return 1;
  return exif_orientation({reinterpret_cast<const char*>(block), bytes});
}

}  // namespace

StoredImage decode_png(std::string_view bytes, const std::string& who) {
  PngReader r(bytes);
  const auto must = [&](bool done) { ROTE_CHECK(done, IoError, who, ": cannot be decoded; libpng says: ", r.fault, "."); };
  ROTE_CHECK(chunks_fit(bytes), IoError, who, ": cannot be decoded; it ends too early.");
  must(begin(r));
  const int64_t height = png_get_image_height(r.png, r.info), width = png_get_image_width(r.png, r.info);
  check_header(who, height, width, static_cast<double>(png_get_rowbytes(r.png, r.info)) * static_cast<double>(height), bytes.size());
  const bool wide_grey = png_get_color_type(r.png, r.info) == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(r.png, r.info) == 16;
  const int passes = png_get_interlace_type(r.png, r.info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
  must(prepare(r));
  StoredImage stored{{height, width, 3, {}}};
  stored.image.pixels.resize(static_cast<size_t>(height * width * 3));
  std::vector<uint8_t> wide(wide_grey ? static_cast<size_t>(height * width * 2) : 0);
  const size_t row_bytes = png_get_rowbytes(r.png, r.info);
  ROTE_ASSERT(row_bytes == static_cast<size_t>(width * (wide_grey ? 2 : 3)), "rows have the form that was asked for");
  must(read_rows(r, wide_grey ? wide.data() : stored.image.pixels.data(), row_bytes, height, passes));
  if (wide_grey) narrow_grey(wide, stored.image);
  stored.orientation = orientation_of(r);
  return stored;
}

}  // namespace rote::data

#else

namespace rote::data {

StoredImage decode_png(std::string_view, const std::string& who) {
  throw IoError(str(who, ": this build does not read PNG files; install libpng-dev and zlib1g-dev and build again."));
}

}  // namespace rote::data

#endif
