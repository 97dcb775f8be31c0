// tests/trainer/checkpoint_test.cpp — folders that appear whole, finding them and rotating them. Their content: resume_test.cpp.
#include "trainer/checkpoint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "kernels/check.h"
#include "tests/support/place.h"
#include "trainer/folder_write.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

void make(const TempFolder& folder, const std::string& name) { fs::create_directory(folder.file(name)); }

std::string names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : " ") + name;
  return out;
}

// Saves 1 … metrics.size() under a rotation, the best so far protected.
std::string rotated(const TempFolder& folder, int64_t limit, const std::vector<double>& metrics) {
  Rotation rotation{.limit = limit};
  double best = -1;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const std::string name = str("checkpoint-", i + 1);
    make(folder, name);
    rotation.written.push_back(name);
    if (metrics[i] > best) {
      best = metrics[i];
      rotation.best = name;
    }
    rotate_checkpoints(folder.path(), rotation);
  }
  return names_in(folder.path());
}

}  // namespace

TEST_CASE("rotate: newest and best stay, the oldest go (48, 49, 54)") {
  const std::vector<double> metrics = {.5, .9, .3, .4, .2, .1};
  const std::pair<int64_t, const char*> table[] = {
      {1, "checkpoint-2 checkpoint-6"},
      {2, "checkpoint-2 checkpoint-6"},
      {3, "checkpoint-2 checkpoint-5 checkpoint-6"},
      {0, "checkpoint-1 checkpoint-2 checkpoint-3 checkpoint-4 checkpoint-5 checkpoint-6"},
  };
  for (const auto& [limit, left] : table) {
    const TempFolder folder;
    CHECK(rotated(folder, limit, metrics) == left);
  }
  const TempFolder folder;
  rotated(folder, 1, metrics);
  keep_one_checkpoint(folder.path(), "checkpoint-2");
  CHECK(names_in(folder.path()) == "checkpoint-2");
}

TEST_CASE("rotate: folders of an older run are older, whatever their number; by number among themselves (50, 51)") {
  const TempFolder folder;
  for (const char* name : {"checkpoint-100", "checkpoint-90", "checkpoint-5"}) make(folder, name);
  rotate_checkpoints(folder.path(), {.limit = 3, .written = {"checkpoint-5"}, .best = {}});
  CHECK(names_in(folder.path()) == "checkpoint-100 checkpoint-5 checkpoint-90");
  make(folder, "checkpoint-10");
  rotate_checkpoints(folder.path(), {.limit = 3, .written = {"checkpoint-5", "checkpoint-10"}, .best = {}});
  CHECK(names_in(folder.path()) == "checkpoint-10 checkpoint-100 checkpoint-5");
  rotate_checkpoints(folder.path(), {.limit = 1, .written = {"checkpoint-5", "checkpoint-10"}, .best = {}});
  CHECK(names_in(folder.path()) == "checkpoint-10");
}

TEST_CASE("rotate: other names are left alone, remains of a kill are not") {
  const TempFolder folder;
  for (const char* name : {"checkpoint-1", "checkpoint-2", "checkpoint-best", "checkpoint-", "checkpoint-3x", "runs", ".tmp-checkpoint-9-deleted", ".tmp-checkpoint-3"}) make(folder, name);
  folder.file("checkpoint-7", "a file");
  rotate_checkpoints(folder.path(), {.limit = 1, .written = {"checkpoint-2"}, .best = {}});
  CHECK(names_in(folder.path()) == "checkpoint- checkpoint-2 checkpoint-3x checkpoint-7 checkpoint-best runs");
}

TEST_CASE("get_last_checkpoint: the highest step among folders, by number") {
  const TempFolder folder;
  CHECK_FALSE(get_last_checkpoint(folder.path()).has_value());
  CHECK_FALSE(get_last_checkpoint(folder.file("nowhere")).has_value());
  for (const char* name : {"checkpoint-9", "checkpoint-10", "checkpoint-11.old"}) make(folder, name);
  folder.file("checkpoint-12", "a file");
  CHECK(get_last_checkpoint(folder.path())->filename() == "checkpoint-10");
}

TEST_CASE("FolderWrite: a folder appears whole or not at all, and replaces an older one") {
  const TempFolder folder;
  {
    FolderWrite dropped(folder.file("new"));
    CHECK(names_in(folder.path()) == ".tmp-new");
  }
  CHECK(names_in(folder.path()) == "");
  make(folder, "new");
  folder.file("new/old.txt", "old");
  FolderWrite write(folder.file("new"));
  folder.file(".tmp-new/new.txt", "new");
  write.commit();
  CHECK(names_in(folder.path()) == "new");
  CHECK(names_in(folder.file("new")) == "new.txt");
}

TEST_CASE("write_files_into: all files take their places, or none") {
  const TempFolder folder;
  folder.file("a", "old a");
  CHECK_THROWS_AS(write_files_into(folder.path(),
                                   [&](const fs::path&) {
                                     folder.file(".tmp-files/a", "new a");
                                     throw IoError("full");
                                   }),
                  IoError);
  CHECK(names_in(folder.path()) == "a");
  CHECK(read_text(folder.file("a")) == "old a");
  write_files_into(folder.path(), [&](const fs::path&) {
    folder.file(".tmp-files/a", "new a");
    folder.file(".tmp-files/b", "b");
  });
  CHECK(names_in(folder.path()) == "a b");
  CHECK(read_text(folder.file("a")) == "new a");
  CHECK_THROWS_AS(write_files_into(folder.file("made"), [](const fs::path&) { throw IoError("full"); }), IoError);
  CHECK(names_in(folder.path()) == "a b");
  CHECK_THROWS_WITH_AS(write_files_into(folder.file("a/below"), [](const fs::path&) {}), ("cannot create " + folder.file("a/below") + ": Not a directory.").c_str(), IoError);
}

}  // namespace rote::testing
