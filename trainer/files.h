// trainer/files.h — reading and writing whole files and folders so that a crash leaves the old or the new, never a half. No formats.
#pragma once

#include <filesystem>
#include <string>

namespace rote {

// All of a file. Throws IoError with the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

// Writes `text` to a temporary name beside `path`, fsyncs and renames it. Throws IoError; the temporary file is gone then.
void write_file(const std::filesystem::path& path, const std::string& text);

// A folder that is filled under `.tmp-<name>` beside its final place and appears there by one rename in commit(), after every file and the
// folder were fsynced. Without commit() the temporary folder is removed.
class FolderWrite {
 public:
  explicit FolderWrite(std::filesystem::path final_place);
  ~FolderWrite();
  FolderWrite(const FolderWrite&) = delete;
  FolderWrite& operator=(const FolderWrite&) = delete;

  const std::filesystem::path& folder() const { return temporary_; }
  // An older folder of the name is replaced.
  void commit();

 private:
  std::filesystem::path final_, temporary_;
  bool committed_ = false;
};

}  // namespace rote
