// tests/support/shared.cpp — where tests read and write: the tree, the build, the shared cases, folders of one test.
#include "tests/support/shared.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "tests/support/place.h"

namespace rote::testing {

namespace {

std::optional<std::string>& chosen_folder() {
  static std::optional<std::string> folder;
  return folder;
}

}  // namespace

namespace {
bool writes_pages = false;
}  // namespace
namespace {
std::string file_of_bits;
}  // namespace
std::string bits_file() { return file_of_bits; }
void set_bits_file(const std::string& file) { file_of_bits = file; }

bool writing_pages() { return writes_pages; }
void set_writing_pages() { writes_pages = true; }

void set_shared_folder(const std::string& folder) { chosen_folder() = folder; }

std::string shared_folder() {
  if (chosen_folder()) return *chosen_folder();
  const std::string beside = std::string(ROTE_SOURCE_DIR) + "/../shared";
  return std::filesystem::is_directory(beside) ? beside : std::string();
}

std::string source_folder() { return ROTE_SOURCE_DIR; }
std::string build_folder() { return ROTE_BINARY_DIR; }

TempFolder::TempFolder() {
  path_ = (std::filesystem::temp_directory_path() / "rote-test-XXXXXX").string();
  REQUIRE(mkdtemp(path_.data()) != nullptr);
}

TempFolder::~TempFolder() {
  std::error_code ignored;  // A destructor has no one to tell; the folder lies in the temporary folder anyway.
  std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::file(const std::string& name, const std::string& text) const {
  const std::string path = file(name);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  REQUIRE(out.good());
  return path;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), "cannot read " << path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

CommandResult run_command(const std::string& command) {
  FILE* pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  CommandResult result;
  char block[4096];
  for (size_t n; (n = fread(block, 1, sizeof block, pipe)) > 0;) result.output.append(block, n);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace rote::testing
