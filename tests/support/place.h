// tests/support/place.h — folders that tests read and write. No comparison of numbers.
#pragma once

#include <string>

#include "tests/support/shared.h"

namespace rote::testing {

// Overrides where shared_folder() looks; "" says that there is none. Called by main() before any test.
void set_shared_folder(const std::string& folder);

// Whether pages that are generated are written instead of compared.
bool writing_pages();
void set_writing_pages();

// Where a run with another instruction set leaves its bits for the test that started it; empty: nobody did.
std::string bits_file();
void set_bits_file(const std::string& file);

// The root of the source tree and the folder of this build, without a slash at the end.
std::string source_folder();
std::string build_folder();

// A new empty folder under $TMPDIR (or /tmp), removed with all it holds when this goes out of scope.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  // The path of `name` in it. With `text`: the file, written.
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string file(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

// All bytes of a file. A file that cannot be read ends the test.
std::string read_text(const std::string& path);

// What a shell command printed on both streams, and its exit status (128 + signal where a signal ended it).
struct CommandResult {
  int status = 0;
  std::string output;
};
CommandResult run_command(const std::string& command);

}  // namespace rote::testing
