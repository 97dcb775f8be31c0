// trainer/data/image_jpeg.cpp — JPEG through libjpeg-turbo.
#include "kernels/check.h"
#include "trainer/data/image_codec.h"

#if ROTE_JPEG

#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include <csetjmp>

namespace rote::data {

namespace {

// 1. libjpeg reports a fault by a jump from its own frames to the setjmp of the function here that called it. Those functions return false then
//    and hold nothing that has a destructor; memory is owned by the frames above them.
// 2. The text of the fault is in `fault` then. Warnings are dropped: what libjpeg can read in spite of them is read, as the reference does.
struct JpegReader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back;
  char fault[JMSG_LENGTH_MAX] = "";

  JpegReader() = default;
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&info); }  // does nothing to one that was not made
};

void on_fault(j_common_ptr info) {
  auto* reader = static_cast<JpegReader*>(info->client_data);
  info->err->format_message(info, reader->fault);
  std::longjmp(reader->back, 1);
}

void on_message(j_common_ptr, int) {}

boolean on_end_of_bytes(j_decompress_ptr info) {
  ERREXIT(info, JERR_INPUT_EOF);
  return FALSE;
}

// A file of a few bytes a scan costs the time of a whole picture for each.
constexpr int kMaxScans = 500;

void on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMaxScans) return;
  auto* reader = static_cast<JpegReader*>(info->client_data);
  std::snprintf(reader->fault, sizeof reader->fault, "it has more than %d scans", kMaxScans);
  std::longjmp(reader->back, 1);
}

bool begin(JpegReader& r, std::string_view bytes) {
  r.info.err = jpeg_std_error(&r.errors);
  r.errors.error_exit = on_fault;
  r.errors.emit_message = on_message;
  r.info.client_data = &r;
  if (setjmp(r.back)) return false;
  jpeg_create_decompress(&r.info);  // keeps err and client_data
  r.progress.progress_monitor = on_progress;
  r.info.progress = &r.progress;
  jpeg_mem_src(&r.info, reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<unsigned long>(bytes.size()));
  r.info.src->fill_input_buffer = on_end_of_bytes;
  jpeg_save_markers(&r.info, JPEG_APP0 + 1, 0xffff);  // where EXIF is
  jpeg_read_header(&r.info, TRUE);
  return true;
}

bool prepare(JpegReader& r) {
  if (setjmp(r.back)) return false;
  r.info.out_color_space = r.info.num_components == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&r.info);
  return true;
}

bool read_rows(JpegReader& r, uint8_t* rows, size_t row_bytes) {
  if (setjmp(r.back)) return false;
  while (r.info.output_scanline < r.info.output_height) {
    JSAMPROW row = rows + row_bytes * r.info.output_scanline;
    jpeg_read_scanlines(&r.info, &row, 1);
  }
  jpeg_finish_decompress(&r.info);
  return true;
}

// Files of four channels hold inks upside down, as Adobe writes them: 255 is none. All are taken for such, as by the reference, whose formula this is:
// with 255 - k the white that black leaves, a colour is white - ink·white/255, rounded.
void inks_to_colors(const std::vector<uint8_t>& inks, Image& image) {
  for (size_t i = 0; i < image.pixels.size() / 3; ++i) {
    const int white = inks[4 * i + 3];
    for (size_t c = 0; c < 3; ++c) {
      const int product = (255 - inks[4 * i + c]) * white + 128;
      image.pixels[3 * i + c] = static_cast<uint8_t>(white - (((product >> 8) + product) >> 8));
    }
  }
}

int orientation_of(const JpegReader& r) {
  constexpr std::string_view kBegins("Exif\0\0", 6);
  for (const jpeg_marker_struct* marker = r.info.marker_list; marker != nullptr; marker = marker->next) {
    const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (data.substr(0, kBegins.size()) == kBegins) return exif_orientation(data.substr(kBegins.size()));
  }
  return 1;
}

}  // namespace

StoredImage decode_jpeg(std::string_view bytes, const std::string& who) {
  JpegReader r;
  const auto must = [&](bool done) { ROTE_CHECK(done, IoError, who, ": cannot be decoded; libjpeg says: ", r.fault, "."); };
  must(begin(r, bytes));
  const int64_t height = r.info.image_height, width = r.info.image_width, channels = r.info.num_components;
  ROTE_CHECK(channels == 1 || channels == 3 || channels == 4, IoError, who, ": has ", channels, " channels; JPEG files of 1, 3 and 4 are read.");
  check_header(who, height, width, static_cast<double>(height) * static_cast<double>(width), bytes.size());
  must(prepare(r));
  StoredImage stored{{height, width, 3, {}}, orientation_of(r)};
  stored.image.pixels.resize(static_cast<size_t>(height * width * 3));
  std::vector<uint8_t> inks(channels == 4 ? static_cast<size_t>(height * width * 4) : 0);
  must(read_rows(r, channels == 4 ? inks.data() : stored.image.pixels.data(), static_cast<size_t>(width * (channels == 4 ? 4 : 3))));
  if (channels == 4) inks_to_colors(inks, stored.image);
  return stored;
}

}  // namespace rote::data

#else

namespace rote::data {

StoredImage decode_jpeg(std::string_view, const std::string& who) {
  throw IoError(str(who, ": this build does not read JPEG files; install libjpeg-dev and build again."));
}

}  // namespace rote::data

#endif
