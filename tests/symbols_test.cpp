// tests/symbols_test.cpp — what the objects compiled for one instruction set may hold, read with nm and objdump. The build leaves it out where
// these are no release objects.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/place.h"

namespace {

using rote::testing::build_folder;
using rote::testing::read_text;
using rote::testing::run_command;

struct Object {
  std::string isa;
  std::string path;
};

struct Symbol {
  char kind = 0;  // as nm prints it
  std::string name;
};

// From the build's list, lines `rote_<room>_<isa> path`.
std::vector<Object> isa_objects() {
  std::vector<Object> objects;
  std::istringstream lines(read_text(build_folder() + "/isa_objects.txt"));
  for (std::string target, path; lines >> target && std::getline(lines >> std::ws, path);) {
    objects.push_back({target.substr(target.rfind('_') + 1), path});
  }
  REQUIRE(!objects.empty());
  return objects;
}

std::vector<Symbol> symbols(const Object& object) {
  const rote::testing::CommandResult nm = run_command("nm -P '" + object.path + "'");
  REQUIRE_MESSAGE(nm.status == 0, nm.output);
  std::vector<Symbol> found;
  std::istringstream lines(nm.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Symbol symbol;
    words >> symbol.name >> symbol.kind;
    found.push_back(symbol);
  }
  return found;
}

bool one_of(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

// The linker keeps one copy of a weak symbol, whichever object it finds first: an inline function compiled with AVX-512 would then run on
// every machine. So weak symbols bear the name of their instruction set.
TEST_CASE("symbols: a weak symbol belongs to the namespace of its instruction set") {
  for (const Object& object : isa_objects()) {
    // Mangled `isa::avx2`; `rote::` before it may be abbreviated.
    const std::string wanted = "3isa" + std::to_string(object.isa.size()) + object.isa;
    for (const Symbol& symbol : symbols(object)) {
      const bool weak = symbol.kind == 'W' || symbol.kind == 'V' || symbol.kind == 'u';
      if (!weak || symbol.name == "DW.ref.__gxx_personality_v0") continue;  // the latter is a pointer, the same in every object
      CHECK_MESSAGE(symbol.name.find(wanted) != std::string::npos, object.path << ": " << symbol.name);
    }
  }
}

// Such an initialiser would run at start on machines that lack its instructions.
TEST_CASE("symbols: objects of an instruction set run nothing before main") {
  for (const Object& object : isa_objects()) {
    for (const Symbol& symbol : symbols(object)) {
      CHECK_MESSAGE(symbol.name.find("_GLOBAL__sub_I") == std::string::npos, object.path << ": " << symbol.name);
    }
  }
}

// Every machine's C library rounds these in its own way.
TEST_CASE("symbols: kernels call no elementary function of the C library") {
  const std::vector<std::string> functions = {"exp",  "exp2", "expm1", "log",  "log2", "log10", "log1p", "pow",    "sin",    "cos",  "tan",
                                              "asin", "acos", "atan",  "atan2", "sinh", "cosh",  "tanh",  "asinh",  "acosh",  "atanh", "erf",
                                              "erfc", "cbrt", "hypot", "sincos", "tgamma", "lgamma"};
  for (const Object& object : isa_objects()) {
    for (const Symbol& symbol : symbols(object)) {
      if (symbol.kind != 'U') continue;
      const std::string name = !symbol.name.empty() && symbol.name.back() == 'f' && symbol.name != "erf"
                                   ? symbol.name.substr(0, symbol.name.size() - 1)
                                   : symbol.name;
      CHECK_MESSAGE(!one_of(name, functions), object.path << ": " << symbol.name);
    }
  }
}

// Estimates come from tables that differ between vendors.
TEST_CASE("symbols: no reciprocal or reciprocal-root estimate is used") {
  for (const Object& object : isa_objects()) {
    const rote::testing::CommandResult found =
        run_command("objdump -d --no-show-raw-insn '" + object.path + "' | grep -wE 'v?r(cp|sqrt)(14|28)?[ps][sdh]|f?recp[esx]|f?rsqrt[es]|ursqrte|urecpe'");
    CHECK_MESSAGE(found.status == 1, object.path << ": " << found.output);  // grep found nothing
  }
}

// What a program does not name is left out by the linker: kernels/rare_table.h.
TEST_CASE("symbols: a program holds the rare kernels whose tables it names, and no others") {
  const auto holds = [](const char* program, const std::string& kernel) {
    const rote::testing::CommandResult nm = run_command("nm -C '" + build_folder() + "/" + program + "'");
    REQUIRE_MESSAGE(nm.status == 0, nm.output);
    return nm.output.find("::f64::" + kernel + "(") != std::string::npos;
  };
  CHECK(holds("train_mlp", "gemm"));
  CHECK_FALSE(holds("train_mlp", "attention"));
  CHECK(holds("rote", "attention"));
  CHECK(holds("rote", "conv"));
  CHECK_FALSE(holds("rote", "ctc"));
  CHECK_FALSE(holds("rote", "group_norm"));
}
