#include "tensor/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "kernels/check.h"

namespace rote {

namespace {

std::string reason() { return std::strerror(errno); }

// Where a symbolic link leads, else the path itself: a file that is renamed over a link would take its place.
std::string behind_links(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

bool write_all(int descriptor, const void* data, int64_t n) {
  for (int64_t done = 0; done < n;) {
    const ssize_t put = ::write(descriptor, static_cast<const char*>(data) + done, static_cast<size_t>(n - done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    done += put;
  }
  return true;
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {  // a pipe without a writer opens too, and is refused below
  ROTE_CHECK(descriptor_ >= 0, IoError, "read ", path, ": ", reason(), ".");
  struct stat found;
  const bool regular = ::fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode);
  if (!regular) ::close(std::exchange(descriptor_, -1));
  ROTE_CHECK(regular, IoError, "read ", path, ": it is not a regular file; name the file itself.");
  bytes_ = found.st_size;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), bytes_(other.bytes_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void InputFile::read(int64_t offset, int64_t n, void* to) const {
  for (int64_t done = 0; done < n;) {
    const ssize_t got = ::pread(descriptor_, static_cast<char*>(to) + done, static_cast<size_t>(n - done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    ROTE_CHECK(got >= 0, IoError, "read ", path_, ": ", reason(), " at byte ", offset + done, ".");
    ROTE_CHECK(got > 0, IoError, "read ", path_, ": it ends at byte ", offset + done, " but ", n, " bytes from ", offset,
               " on are wanted; it was cut short while it was read.");
    done += got;
  }
}

OutputFile::OutputFile(const std::string& path, int64_t bytes) : path_(behind_links(path)), temporary_(str(path_, ".tmp-", ::getpid())) {
  struct stat found;
  ROTE_CHECK(::stat(path_.c_str(), &found) != 0 || S_ISREG(found.st_mode), IoError, "write ", path_, ": it is there and not a regular file; name another one.");
  struct rlimit limit;
  // Past this limit the system does not only refuse a write, it ends the process by SIGXFSZ.
  const bool allowed = ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || static_cast<uint64_t>(bytes) <= limit.rlim_cur;
  if (!allowed) errno = EFBIG;
  if (allowed) descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  ROTE_CHECK(descriptor_ >= 0, IoError, "write ", path_, ": ", reason(), ".");
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void OutputFile::write(const void* data, int64_t n) {
  ROTE_CHECK(write_all(descriptor_, data, n), IoError, "write ", path_, ": ", reason(), "; nothing of it is left.");
}

void OutputFile::overwrite(const std::string& begin) {
  const ssize_t put = ::pwrite(descriptor_, begin.data(), begin.size(), 0);
  ROTE_CHECK(put == static_cast<ssize_t>(begin.size()), IoError, "write ", path_, ": ", reason(), "; nothing of it is left.");
}

void OutputFile::commit(bool sync) {
  ROTE_CHECK(!sync || ::fsync(descriptor_) == 0, IoError, "write ", path_, ": ", reason(), "; nothing of it is left.");
  // Some file systems report a full disk only here.
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (closed && std::rename(temporary_.c_str(), path_.c_str()) == 0) return;
  const std::string why = reason();
  ::unlink(temporary_.c_str());
  throw IoError(str("write ", path_, ": ", why, "; nothing of it is left."));
}

AppendFile::AppendFile(const std::string& path, int64_t keep)
    : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)) {
  struct stat found = {};
  const bool is_cut = descriptor_ >= 0 && ::fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode) && ::ftruncate(descriptor_, keep) == 0;
  const std::string why = descriptor_ >= 0 && !S_ISREG(found.st_mode) ? "it is there and not a regular file" : reason();
  if (!is_cut && descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  ROTE_CHECK(is_cut, IoError, "write ", path_, ": ", why, "; name another one.");
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendFile::write(const std::string& bytes) {
  ROTE_CHECK(write_all(descriptor_, bytes.data(), static_cast<int64_t>(bytes.size())), IoError, "write ", path_, ": ", reason(), ".");
}

std::string read_file(const std::string& path) {
  const InputFile file(path);
  std::string text(static_cast<size_t>(file.bytes()), '\0');
  file.read(0, file.bytes(), text.data());
  return text;
}

void write_file(const std::string& path, const std::string& text, bool sync) {
  OutputFile file(path, static_cast<int64_t>(text.size()));
  file.write(text.data(), static_cast<int64_t>(text.size()));
  file.commit(sync);
}

bool is_file(const std::string& path) {
  struct stat found;
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

}  // namespace rote
