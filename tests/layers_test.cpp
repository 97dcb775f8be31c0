// tests/layers_test.cpp — the rules of the tree that a reader of one file cannot see: arrows between rooms, sizes, macros, leftovers.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/place.h"

namespace {

using rote::testing::read_text;
using rote::testing::source_folder;

struct Line {
  std::string file;  // from the root of the tree
  int number = 0;
  std::string text;
};

std::string place(const Line& line) { return line.file + ":" + std::to_string(line.number) + ": " + line.text; }

bool starts(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }
bool ends(const std::string& text, const std::string& with) {
  return text.size() >= with.size() && text.compare(text.size() - with.size(), with.size(), with) == 0;
}
bool is_header(const std::string& file) { return ends(file, ".h") || ends(file, ".cuh"); }
bool is_source(const std::string& file) { return ends(file, ".cpp") || ends(file, ".cu"); }

// Every file of the tree that a person wrote: build folders, hidden ones and test values are left out.
const std::vector<std::string>& files() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> found;
    const std::filesystem::path root = source_folder();
    for (auto at = std::filesystem::recursive_directory_iterator(root); at != std::filesystem::recursive_directory_iterator(); ++at) {
      const std::string file = at->path().lexically_relative(root).string();
      const std::string name = at->path().filename().string();
      const bool built = std::filesystem::exists(at->path() / "CMakeCache.txt");
      if (at->is_directory() && (name[0] == '.' || name == "__pycache__" || built || file == "tests/golden" || file == "tests/fuzz/corpus")) {
        at.disable_recursion_pending();
      } else if (at->is_regular_file() && name[0] != '.') {
        found.push_back(file);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }();
  return list;
}

std::vector<Line> lines_of(const std::string& file) {
  std::istringstream text(read_text(source_folder() + "/" + file));
  std::vector<Line> lines;
  for (std::string line; std::getline(text, line);) lines.push_back({file, static_cast<int>(lines.size()) + 1, line});
  return lines;
}

// The preprocessor lines of all C++ files, without blanks around and after the '#'.
const std::vector<Line>& directives() {
  static const std::vector<Line> list = [] {
    std::vector<Line> found;
    for (const std::string& file : files()) {
      if (!is_header(file) && !is_source(file)) continue;
      for (Line line : lines_of(file)) {
        const size_t hash = line.text.find_first_not_of(" \t");
        if (hash == std::string::npos || line.text[hash] != '#') continue;
        const size_t word = line.text.find_first_not_of(" \t", hash + 1);
        line.text = "#" + (word == std::string::npos ? std::string() : line.text.substr(word));
        found.push_back(line);
      }
    }
    return found;
  }();
  return list;
}

struct Include {
  Line line;
  std::string path;
  bool quoted = false;
};

std::vector<Include> includes() {
  std::vector<Include> found;
  for (const Line& line : directives()) {
    if (!starts(line.text, "#include")) continue;
    const size_t open = line.text.find_first_of("\"<");
    // The one header whose name is put together by a macro is that of the instruction set.
    if (line.file == "kernels/simd/vec.h" && starts(line.text, "#include ROTE_")) continue;
    REQUIRE_MESSAGE(open != std::string::npos, place(line));
    const bool quoted = line.text[open] == '"';
    const size_t close = line.text.find(quoted ? '"' : '>', open + 1);
    REQUIRE_MESSAGE(close != std::string::npos, place(line));
    found.push_back({line, line.text.substr(open + 1, close - open - 1), quoted});
  }
  return found;
}

// 0 for kernels … 5 for trainer, 6 for programs (trainer/apps, docs/examples), 7 for what may see everything (tests, bench), -1 for anything else.
int rank_of(const std::string& file) {
  constexpr std::array<const char*, 6> kRooms = {"kernels/", "tensor/", "autograd/", "nn/", "optim/", "trainer/"};
  if (starts(file, "trainer/apps/") || starts(file, "docs/examples/")) return 6;
  if (starts(file, "tests/") || starts(file, "bench/")) return 7;
  for (size_t i = 0; i < kRooms.size(); ++i) {
    if (starts(file, kRooms[i])) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

TEST_CASE("layers: the tree is where the build says") {
  CHECK(std::count(files().begin(), files().end(), "kernels/check.h") == 1);
  CHECK(std::count(files().begin(), files().end(), "tests/layers_test.cpp") == 1);
  CHECK(includes().size() > 100);
}

TEST_CASE("layers: quoted includes name an existing file from the root and point left") {
  for (const Include& include : includes()) {
    if (!include.quoted) continue;
    CAPTURE(place(include.line));
    const int from = rank_of(include.line.file);
    CHECK(from >= 0);
    if (include.path == "build_info.h") {  // written at configure time, for the commands only
      CHECK(from >= 6);
      continue;
    }
    CHECK(std::filesystem::is_regular_file(source_folder() + "/" + include.path));
    const int to = rank_of(include.path);
    CHECK(to >= 0);
    CHECK(to <= from);
  }
}

TEST_CASE("layers: a header of our own is never included with <>") {
  for (const Include& include : includes()) {
    if (include.quoted) continue;
    CAPTURE(place(include.line));
    CHECK(rank_of(include.path) == -1);
  }
}

TEST_CASE("layers: foreign libraries stay where they belong") {
  for (const Include& include : includes()) {
    const std::string& file = include.line.file;
    CAPTURE(place(include.line));
    if (starts(include.path, "nlohmann/")) {  // 3 s a file to compile: sources only, and not the kernels
      CHECK_FALSE(is_header(file));
      CHECK(rank_of(file) >= 1);
    } else if (include.path == "utf8proc.h") {
      CHECK_FALSE(is_header(file));
      CHECK(rank_of(file) >= 5);
    } else if (starts(include.path, "Eigen/")) {
      CHECK_FALSE(is_header(file));
      CHECK((rank_of(file) == 2 || rank_of(file) == 7));
    } else if (include.path == "immintrin.h" || include.path == "arm_neon.h") {
      CHECK(starts(file, "kernels/simd/"));
    } else if (starts(include.path, "doctest/")) {
      CHECK(starts(file, "tests/"));
    } else if (include.path == "omp.h") {
      FAIL_CHECK("one pool a process, no OpenMP");
    }
  }
}

TEST_CASE("layers: macros are ROTE_… ones") {
  for (const Line& line : directives()) {
    if (!starts(line.text, "#define")) continue;
    const size_t name = line.text.find_first_not_of(" \t", 7);
    const bool doctest_option = line.file == "tests/main.cpp" && line.text.compare(name, 8, "DOCTEST_") == 0;
    CHECK_MESSAGE((line.text.compare(name, 5, "ROTE_") == 0 || doctest_option), place(line));
  }
}

TEST_CASE("layers: no code is switched off by hand") {
  for (const Line& line : directives()) CHECK_MESSAGE(line.text != "#if 0", place(line));
}

TEST_CASE("layers: a header begins with its own name and is read once") {
  for (const std::string& file : files()) {
    if (!is_header(file)) continue;
    const std::vector<Line> lines = lines_of(file);
    REQUIRE_MESSAGE(!lines.empty(), file);
    CHECK_MESSAGE(starts(lines[0].text, "// " + file + " — "), place(lines[0]));
    const bool once = std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.text == "#pragma once"; });
    // Without it a header is read several times on purpose, which its name says.
    CHECK_MESSAGE((once || ends(file, ".inc.h")), file);
  }
}

TEST_CASE("layers: no file is longer than 600 lines") {
  for (const std::string& file : files()) {
    if (file == "LICENSE" || ends(file, ".json")) continue;
    CHECK_MESSAGE(lines_of(file).size() <= 600, file);
  }
  CHECK(lines_of("CMakeLists.txt").size() <= 300);
}

TEST_CASE("layers: nothing is left for later") {
  const std::vector<std::string> words = {std::string("TO") + "DO", std::string("FIX") + "ME", std::string("XX") + "X:", std::string("HA") + "CK"};
  for (const std::string& file : files()) {
    if (file == "LICENSE") continue;
    for (const Line& line : lines_of(file)) {
      for (const std::string& word : words) CHECK_MESSAGE(line.text.find(word) == std::string::npos, place(line));
    }
  }
}
