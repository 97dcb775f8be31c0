// tensor/file.h — files read whole, files written so that a reader sees all of one or nothing, and files that grow. No format.
#pragma once

#include <cstdint>
#include <string>

namespace rote {

// An open file, read by position. Move-only; closed by its destructor.
class InputFile {
 public:
  // Throws IoError where `path` cannot be opened or is not a regular file.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;

  const std::string& path() const { return path_; }
  int64_t bytes() const { return bytes_; }
  // Fills `to` with n bytes from `offset` on. Throws IoError where the file ends before. Any thread may call.
  void read(int64_t offset, int64_t n, void* to) const;
  int descriptor() const { return descriptor_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  int64_t bytes_ = 0;
};

// A file under a temporary name beside `path` that takes its place in commit(). Without commit() nothing is left.
class OutputFile {
 public:
  // `bytes`: its final size where known: one that the process may not write (RLIMIT_FSIZE) is refused before the first byte.
  // Throws IoError, here and below, with the path and the system's reason.
  explicit OutputFile(const std::string& path, int64_t bytes = 0);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, int64_t n);
  void overwrite(const std::string& begin);  // the first bytes again; the next write() goes on at the end
  // sync: the bytes are on the disk before the name is (fsync).
  void commit(bool sync);

 private:
  std::string path_, temporary_;
  int descriptor_ = -1;
};

// A file that grows at its end, piece by piece; what was written stays there whatever becomes of the process.
class AppendFile {
 public:
  // `keep`: bytes of what is there that stay, the rest is cut off; 0: the file begins anew. Throws IoError, here and below.
  AppendFile(const std::string& path, int64_t keep);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void write(const std::string& bytes);

 private:
  std::string path_;
  int descriptor_ = -1;
};

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text, bool sync = false);
bool is_file(const std::string& path);

}  // namespace rote
