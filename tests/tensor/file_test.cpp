// tests/tensor/file_test.cpp — files appear whole or not at all, and each fault is one sentence with the path.
#include "tensor/file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "kernels/check.h"
#include "tests/support/place.h"

using namespace rote;
using rote::testing::TempFolder;

namespace {

int64_t files_in(const std::string& folder) {
  int64_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const IoError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("file: what was written is read, and a new text replaces the old") {
  const TempFolder folder;
  const std::string path = folder.file("a.txt");
  write_file(path, "first");
  write_file(path, std::string("se\0cond", 7), /*sync=*/true);
  CHECK(read_file(path) == std::string("se\0cond", 7));
  CHECK(files_in(folder.path()) == 1);
  CHECK(is_file(path));
  CHECK_FALSE(is_file(folder.path()));
}

TEST_CASE("file: without commit the old text stays and nothing else") {
  const TempFolder folder;
  const std::string path = folder.file("a.txt", "old");
  {
    OutputFile file(path);
    file.write("new", 3);
  }
  CHECK(read_file(path) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("file: the first bytes may be written again, what follows goes on at the end") {
  const TempFolder folder;
  const std::string path = folder.file("a.txt");
  OutputFile file(path);
  file.write("0000 tail", 9);
  file.overwrite("head");
  file.write("!", 1);
  file.commit(false);
  CHECK(read_file(path) == "head tail!");
}

TEST_CASE("file: faults name the path and the system's reason") {
  const TempFolder folder;
  const std::string plain = folder.file("plain", "text"), absent = folder.file("absent");
  CHECK(text_of([&] { read_file(absent); }) == "read " + absent + ": No such file or directory.");
  CHECK(text_of([&] { read_file(folder.path()); }) == "read " + folder.path() + ": it is not a regular file; name the file itself.");
  CHECK(text_of([&] { write_file(plain + "/below", "x"); }) == "write " + plain + "/below: Not a directory.");
  char bytes[3];
  CHECK_THROWS_AS(InputFile(plain).read(2, 3, bytes), IoError);
}

TEST_CASE("file: a size over the process's limit is refused before the first byte") {
  const TempFolder folder;
  struct rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  struct rlimit small = before;
  small.rlim_cur = 100;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string path = folder.file("big");
  const std::string text = text_of([&] { write_file(path, std::string(101, 'x')); });
  const std::string fits = text_of([&] { write_file(path, std::string(100, 'x')); });
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(text == "write " + path + ": File too large.");
  CHECK(fits == "");
  CHECK(read_file(path).size() == 100);
}

TEST_CASE("file: a pipe, a device and a folder are neither read nor replaced, and a link stays one") {
  const TempFolder folder;
  const std::string pipe = folder.file("pipe"), target = folder.file("target", "old"), link = folder.file("link");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(text_of([&] { read_file(pipe); }) == "read " + pipe + ": it is not a regular file; name the file itself.");
  for (const std::string& other : {pipe, folder.path(), std::string("/dev/null")})
    CHECK(text_of([&] { write_file(other, "x"); }) == "write " + other + ": it is there and not a regular file; name another one.");
  CHECK(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::create_symlink("target", link);
  write_file(link, "new");
  CHECK(std::filesystem::is_symlink(link));
  CHECK(read_file(target) == "new");
}

TEST_CASE("file: one that grows keeps what is asked, and each piece is there at once") {
  const TempFolder folder;
  const std::string path = folder.file("a.bin", "12345");
  {
    AppendFile file(path, 3);
    CHECK(read_file(path) == "123");
    file.write("ab");
    CHECK(read_file(path) == "123ab");
    file.write(std::string("\0c", 2));
  }
  CHECK(read_file(path) == std::string("123ab\0c", 7));
  AppendFile(path, 0).write("new");
  CHECK(read_file(path) == "new");
  CHECK(text_of([&] { AppendFile(folder.path(), 0); }).find("write " + folder.path() + ": ") == 0);
  CHECK(text_of([&] { AppendFile(folder.file("none/a"), 0); }) == "write " + folder.file("none/a") + ": No such file or directory; name another one.");
}
