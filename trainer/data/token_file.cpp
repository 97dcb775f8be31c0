// trainer/data/token_file.cpp — the header of .npy files and the mapping of what follows it.
#include "trainer/data/token_file.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "kernels/check.h"

namespace rote::data {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kHeaderBytes = 128;  // that are written: room for any length, and a multiple of 64 as the format asks for
constexpr const char* kAdvice = "; a file of tokens is written by np.save(path, np.asarray(ids, dtype=np.uint16)) or rote tokenize --output_file.";

struct Header {
  std::string dtype;  // `<u2`
  int64_t length = 0;
  int64_t begin = 0;  // of the data
};

// What stands behind `'key': `; empty where it does not.
std::string_view value_of(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size());
  header.remove_prefix(std::min(header.find_first_not_of("': "), header.size()));
  return header;
}

std::optional<Header> read_header(const InputFile& file) {
  unsigned char start[12] = {};
  if (file.bytes() < static_cast<int64_t>(sizeof start)) return {};
  file.read(0, sizeof start, start);
  const int version = start[6];
  if (std::memcmp(start, kMagic.data(), kMagic.size()) != 0 || (version != 1 && version != 2)) return {};
  const int64_t begin = version == 1 ? 10 : 12;
  int64_t bytes = start[8] | start[9] << 8;
  if (version == 2) bytes |= static_cast<int64_t>(start[10]) << 16 | static_cast<int64_t>(start[11]) << 24;
  if (bytes > 1 << 16 || begin + bytes > file.bytes()) return {};
  std::string text(static_cast<size_t>(bytes), '\0');
  file.read(begin, bytes, text.data());
  Header header;
  header.begin = begin + bytes;
  const std::string_view dtype = value_of(text, "'descr'"), shape = value_of(text, "'shape'");
  header.dtype = dtype.substr(0, dtype.find('\''));
  if (shape.empty() || shape[0] != '(') return {};
  const auto [end, error] = std::from_chars(shape.data() + 1, shape.data() + shape.size(), header.length);
  const std::string_view rest = shape.substr(static_cast<size_t>(end - shape.data()));
  if (error != std::errc() || header.length < 0 || !rest.starts_with(",)")) return {};
  return header;
}

}  // namespace

TokenFile::TokenFile(const std::string& path, const TokenFileOptions& options) : path_(path), options_(options) {
  const InputFile file(path);
  const std::optional<Header> header = read_header(file);
  ROTE_CHECK(header.has_value(), ArgumentError, path, ": is no array of one dimension in NumPy's format", kAdvice);
  ROTE_CHECK(header->dtype == "<u2" || header->dtype == "<u4", ArgumentError, path, ": holds ", header->dtype.empty() ? "no dtype" : header->dtype,
             ", ids are <u2 (uint16) or <u4 (uint32)", kAdvice);
  width_ = header->dtype == "<u2" ? 2 : 4;
  tokens_ = header->length;
  begin_ = header->begin;
  bytes_ = file.bytes();
  ROTE_CHECK(tokens_ <= (bytes_ - begin_) / static_cast<int64_t>(width_), ArgumentError, path, ": says that it holds ", tokens_, " ids of ", width_, " bytes, but has ",
             bytes_ - begin_, " bytes of them; it is cut short, write it again.");
  ROTE_CHECK(tokens_ >= options.length, ArgumentError, path, ": has ", tokens_, " tokens, fewer than the ", options.length,
             " of one block; give more text, or a smaller --block_size.");
  void* at = ::mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  ROTE_CHECK(at != MAP_FAILED, IoError, "map ", path, ": ", std::strerror(errno), ".");
  map_ = static_cast<const std::byte*>(at);
}

TokenFile::~TokenFile() { ::munmap(const_cast<std::byte*>(map_), static_cast<size_t>(bytes_)); }

Example TokenFile::at(int64_t row) const {
  std::vector<int64_t> ids(static_cast<size_t>(options_.length));
  const std::byte* from = map_ + begin_ + row * options_.length * static_cast<int64_t>(width_);
  for (int64_t& id : ids) {
    uint32_t value = 0;
    std::memcpy(&value, from, width_);  // little endian, as are all machines that this is built for
    from += width_;
    id = value;
    ROTE_CHECK(id < options_.id_limit, ArgumentError, path_, ": the id ", id, " stands in block ", row, ", but ids are below ", options_.id_limit,
               "; the file was written with another tokenizer.");
  }
  Example example = {{"input_ids", Feature::list(std::move(ids))}};
  if (options_.labels) example.emplace_back("labels", example[0].second);
  return example;
}

TokenFileWriter::TokenFileWriter(const std::string& path, int64_t id_limit)
    : file_(path), id_limit_(std::min(id_limit, int64_t{1} << 32)), width_(id_limit_ <= 1 << 16 ? 2 : 4) {
  const std::string begin = header();
  file_.write(begin.data(), static_cast<int64_t>(begin.size()));
}

std::string TokenFileWriter::header() const {
  std::string out = std::string(kMagic) + '\x01' + '\0' + static_cast<char>(kHeaderBytes - 10) + '\0';
  out += str("{'descr': '<u", width_, "', 'fortran_order': False, 'shape': (", tokens_, ",), }");
  out.resize(kHeaderBytes - 1, ' ');
  return out + '\n';
}

void TokenFileWriter::write(const std::vector<int64_t>& ids) {
  std::string bytes(ids.size() * width_, '\0');
  for (size_t i = 0; i < ids.size(); ++i) {
    ROTE_CHECK(ids[i] >= 0 && ids[i] < id_limit_, ArgumentError, "a file of tokens: the id ", ids[i], " is to be written; ids lie in 0 … ", id_limit_ - 1, ".");
    const uint32_t id = static_cast<uint32_t>(ids[i]);
    std::memcpy(bytes.data() + i * width_, &id, width_);
  }
  file_.write(bytes.data(), static_cast<int64_t>(bytes.size()));
  tokens_ += static_cast<int64_t>(ids.size());
}

void TokenFileWriter::commit() {
  file_.overwrite(header());
  file_.commit(/*sync=*/false);
}

}  // namespace rote::data
