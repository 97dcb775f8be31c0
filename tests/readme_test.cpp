// tests/readme_test.cpp — the program in README.md is the one that is built, and it learns.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tensor/file.h"
#include "tests/support/place.h"

using namespace rote;

TEST_CASE("readme: its program is trainer/apps/train_mlp.cpp, letter by letter, in at most 40 lines") {
  const std::string readme = read_file(testing::source_folder() + "/README.md");
  const std::string program = read_file(testing::source_folder() + "/trainer/apps/train_mlp.cpp");
  CHECK(readme.find("```cpp\n" + program + "```") != std::string::npos);
  CHECK(std::count(program.begin(), program.end(), '\n') <= 40);
}

TEST_CASE("readme: the program tells the inside of a circle from its outside") {
  const testing::TempFolder folder;
  std::ofstream rows(folder.path() + "/rows.tsv");
  rows << "x\ty\tplace\n";
  for (int i = 0; i < 400; ++i) {
    const double x = (i * 37 % 101) / 50.0 - 1, y = (i * 59 % 97) / 48.0 - 1;
    rows << x << '\t' << y << '\t' << (x * x + y * y < 0.5 ? "inside" : "outside") << '\n';
  }
  rows.close();
  const std::string command = testing::build_folder() + "/train_mlp " + folder.path() + "/rows.tsv place --max_steps 400 --output_dir " + folder.path() +
                              "/out --disable_tqdm true > " + folder.path() + "/log 2>&1";
  const int status = std::system(command.c_str());
  const std::string log = read_file(folder.path() + "/log");
  CAPTURE(log);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  const size_t at = log.find("loss ", log.rfind("\nloss ") == std::string::npos ? 0 : log.rfind("\nloss "));
  REQUIRE(at != std::string::npos);
  CHECK(std::atof(log.c_str() + at + 5) < 0.5);  // log 2 = 0.69 without learning; the mean over the run
}
