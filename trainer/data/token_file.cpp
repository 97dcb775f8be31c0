// trainer/data/token_file.cpp — the header of .npy files and the mapping of what follows it.
#include "trainer/data/token_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

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
constexpr int64_t kLookedAt = int64_t{1} << 26;  // tokens of a file whose ids are all seen before the first is used: a tenth of a second
constexpr size_t kHeaderBytes = 128;  // that are written: room for any length, and a multiple of 64 as the format asks for
constexpr const char* kAdvice = "; a file of tokens is written by np.save(path, np.asarray(ids, dtype=np.uint16)) or rote tokenize --output_file.";

struct Header {
  std::string dtype;  // `<u2`
  int64_t length = 0;
  int64_t begin = 0;  // of the data
};

// What numpy writes of an array, read word by word: {'descr': '<u2', 'fortran_order': False, 'shape': (3,), } in any order, each key once, then blanks.
class HeaderText {
 public:
  explicit HeaderText(std::string_view rest) : rest_(rest) {}

  std::optional<Header> read() {
    Header header;
    int descr = 0, order = 0, shape = 0;
    bool good = take("{");
    while (good && !take("}")) {
      const std::optional<std::string_view> key = quoted();
      good = key && take(":");
      if (!good) break;
      if (*key == "descr") good = ++descr == 1 && read_dtype(header);
      else if (*key == "fortran_order") good = ++order == 1 && (take("False") || take("True"));
      else good = *key == "shape" && ++shape == 1 && read_length(header);
      good = good && (take(",") || begins_with('}'));
    }
    good = good && descr + order + shape == 3 && rest_.ends_with('\n') && rest_.find_first_not_of(" \n") == std::string_view::npos;
    return good ? std::optional(header) : std::nullopt;
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
  bool begins_with(char c) {
    skip_blanks();
    return rest_.starts_with(c);
  }
  bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> quoted() {
    if (!take("'")) return {};
    const size_t end = rest_.find('\'');
    if (end == std::string_view::npos) return {};
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool read_dtype(Header& header) {
    const std::optional<std::string_view> dtype = quoted();
    if (dtype) header.dtype = *dtype;
    return dtype.has_value();
  }
  bool read_length(Header& header) {
    if (!take("(")) return false;
    skip_blanks();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), header.length);
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return error == std::errc() && header.length >= 0 && take(",") && take(")");
  }

  std::string_view rest_;
};

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
  std::optional<Header> header = HeaderText(text).read();
  if (header) header->begin = begin + bytes;
  return header;
}

}  // namespace

TokenFile::TokenFile(const std::string& path, const TokenFileOptions& options) : file_(path), options_(options) {
  const std::optional<Header> header = read_header(file_);
  ROTE_CHECK(header.has_value(), ArgumentError, path, ": is no array of one dimension in NumPy's format", kAdvice);
  ROTE_CHECK(header->dtype == "<u2" || header->dtype == "<u4", ArgumentError, path, ": holds ", header->dtype.empty() ? "no dtype" : header->dtype,
             ", ids are <u2 (uint16) or <u4 (uint32)", kAdvice);
  width_ = header->dtype == "<u2" ? 2 : 4;
  tokens_ = header->length;
  begin_ = header->begin;
  bytes_ = file_.bytes();
  ROTE_CHECK(tokens_ <= (bytes_ - begin_) / static_cast<int64_t>(width_), ArgumentError, path, ": says that it holds ", tokens_, " ids of ", width_, " bytes, but has ",
             bytes_ - begin_, " bytes of them; it is cut short, write it again.");
  ROTE_CHECK(tokens_ >= options.length, ArgumentError, path, ": has ", tokens_, " tokens, fewer than the ", options.length,
             " of one block; give more text, or a smaller --block_size.");
  void* at = ::mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ, MAP_PRIVATE, file_.descriptor(), 0);
  ROTE_CHECK(at != MAP_FAILED, IoError, "map ", path, ": ", std::strerror(errno), ".");
  map_ = {static_cast<const std::byte*>(at), Unmap{static_cast<size_t>(bytes_)}};
  if (tokens_ <= kLookedAt)
    for (int64_t row = 0; row < size(); ++row) check_ids(row);
}

void TokenFile::Unmap::operator()(const std::byte* at) const { ::munmap(const_cast<std::byte*>(at), bytes); }

int64_t TokenFile::id_at(int64_t place) const {
  uint32_t value = 0;
  std::memcpy(&value, map_.get() + begin_ + place * static_cast<int64_t>(width_), width_);  // little endian, as are all machines that this is built for
  return value;
}

void TokenFile::check_ids(int64_t row) const {
  for (int64_t place = row * options_.length; place < (row + 1) * options_.length; ++place)
    ROTE_CHECK(id_at(place) < options_.id_limit, ArgumentError, file_.path(), ": the id ", id_at(place), " stands in block ", row, ", but ids are below ", options_.id_limit,
               "; the file was written with another tokenizer.");
}

Example TokenFile::at(int64_t row) const {
  struct stat now = {};
  const bool is_whole = ::fstat(file_.descriptor(), &now) == 0 && now.st_size >= bytes_;
  ROTE_CHECK(is_whole, IoError, file_.path(), ": had ", bytes_, " bytes and has ", now.st_size, "; a file of tokens must stay as it is while it is read.");
  check_ids(row);
  std::vector<int64_t> ids;
  for (int64_t place = row * options_.length; place < (row + 1) * options_.length; ++place) ids.push_back(id_at(place));
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
