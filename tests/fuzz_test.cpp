// tests/fuzz_test.cpp — the kept inputs of tests/fuzz/corpus through the functions that libFuzzer calls (scripts/test-nightly).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"
#include "tests/support/place.h"

using rote::testing::read_text;
using rote::testing::source_folder;

namespace {

std::vector<std::string> corpus(const std::string& name) {
  std::vector<std::string> files;
  for (const auto& one : std::filesystem::directory_iterator(source_folder() + "/tests/fuzz/corpus/" + name)) files.push_back(one.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

void feed(const rote::fuzz::Target& target, const std::string& bytes) {
  // A copy that ends where the bytes do, for sanitizers.
  const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  CHECK(target.run(exact.data(), exact.size()) == 0);
}

}  // namespace

TEST_CASE("fuzz: every kept input ends well") {
  for (const rote::fuzz::Target& target : rote::fuzz::kTargets) {
    const std::vector<std::string> files = corpus(target.name);
    CHECK(files.size() >= 3);
    for (const std::string& file : files) {
      CAPTURE(file);
      feed(target, read_text(file));
    }
  }
}

TEST_CASE("fuzz: so does each of them cut short, and no input at all") {
  for (const rote::fuzz::Target& target : rote::fuzz::kTargets) {
    feed(target, "");
    for (const std::string& file : corpus(target.name)) {
      CAPTURE(file);
      const std::string bytes = read_text(file);
      for (const size_t parts : {1, 2, 3}) feed(target, bytes.substr(0, bytes.size() * parts / 4));
    }
  }
}

TEST_CASE("fuzz: the corpus is small") {
  size_t bytes = 0;
  for (const rote::fuzz::Target& target : rote::fuzz::kTargets)
    for (const std::string& file : corpus(target.name)) bytes += std::filesystem::file_size(file);
  CHECK(bytes < 200'000);
}
