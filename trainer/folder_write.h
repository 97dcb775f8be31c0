// trainer/folder_write.h — writing a whole folder so that a crash leaves the old or the new, never a half. Single files: tensor/file.h.
#pragma once

#include <filesystem>
#include <functional>

namespace rote {

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

// Files into a folder that holds others and is made where it is missing: `fill` writes them into the temporary folder it is given, and when
// all are whole each takes its place by a rename. When `fill` or the disk fails, nothing of them is left.
void write_files_into(const std::filesystem::path& folder, const std::function<void(const std::filesystem::path& temporary)>& fill);

}  // namespace rote
