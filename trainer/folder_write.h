// trainer/folder_write.h — writing a whole folder so that a crash leaves the old or the new, never a half. Single files: tensor/file.h.
#pragma once

#include <filesystem>

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

}  // namespace rote
