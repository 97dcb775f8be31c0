// tests/symbols_test.cpp — what kernels and programs may hold, read with nm and objdump. The build leaves it out where these are no release objects.
#include <dlfcn.h>
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

std::vector<std::string> foreign_weak_symbols(const Object& object) {
  const std::string wanted = "3isa" + std::to_string(object.isa.size()) + object.isa;  // mangled `isa::avx2`; `rote::` before it may be abbreviated
  std::vector<std::string> found;
  for (const Symbol& symbol : symbols(object)) {
    const bool weak = symbol.kind == 'W' || symbol.kind == 'V' || symbol.kind == 'u';
    // The pointer to the personality is the same in every object.
    if (weak && symbol.name != "DW.ref.__gxx_personality_v0" && symbol.name.find(wanted) == std::string::npos) found.push_back(symbol.name);
  }
  return found;
}

// The functions of the C library's libm that an object or archive calls, in order of their names.
std::vector<std::string> libm_calls(const std::string& path) {
  void* const library = dlopen("libm.so.6", RTLD_NOW);
  REQUIRE(library);
  const rote::testing::CommandResult nm = run_command("nm -P '" + path + "' 2>&1 | awk '$2 == \"U\" { print $1 }' | sort -u");
  REQUIRE(nm.status == 0);
  std::vector<std::string> found;
  std::istringstream lines(nm.output);
  for (std::string name; lines >> name;) {
    Dl_info where{};
    void* const symbol = dlsym(library, name.c_str());
    if (symbol && dladdr(symbol, &where) && std::string(where.dli_fname).find("/libm.") != std::string::npos) found.push_back(name);
  }
  dlclose(library);
  return found;
}

// The first instructions that match, by objdump's text; "" where there are none.
std::string instructions(const std::string& path, const std::string& pattern, const std::string& except = "^$") {
  const rote::testing::CommandResult found = run_command("objdump -d --no-show-raw-insn '" + path + "' | grep -E '" + pattern + "' | grep -vwE '" + except + "' | head -n 5");
  REQUIRE_MESSAGE(found.status == 0, found.output);
  return found.output;
}

// Their tables differ between vendors.
std::string estimates(const std::string& path) {
  return instructions(path, ":\t(v?r(cp|sqrt)(14|28)?[ps][sdh]|f?recp[esx]|f?rsqrt[es]|ursqrte|urecpe)([[:space:]]|$)");
}

// All but those that read and write its control words. Other processors name their own instructions so.
std::string x87([[maybe_unused]] const std::string& path) {
#ifdef __x86_64__
  return instructions(path, ":\tf(2xm1|abs|add|b|chs|cmov|com|cos|decstp|div|i|ld|mul|pa|prem|ptan|rndint|scale|sin|sqrt|st|sub|tst|ucom|xam|xch|xtract|yl2x)[a-z0-9]*([[:space:]]|$)",
                      "fldcw|fldenv|fstcw|fstsw|fstenv");
#else
  return "";
#endif
}

// An instruction of AVX in awk's and grep's words.
const std::string kVex = "%[yz]mm|\tv[a-z0-9]+ .*%xmm";

// What the object's instruction set does not have.
std::string wider([[maybe_unused]] const Object& object) {
#ifdef __x86_64__
  if (object.isa == "avx512") return "";
  return instructions(object.path, object.isa == "avx2" ? "%zmm|%k[0-7]|%[xy]mm(1[6-9]|2[0-9]|3[01])" : kVex);
#else
  return "";
#endif
}

}  // namespace

// The linker keeps one copy of a weak symbol, whichever object it finds first: an inline function compiled with AVX-512 would then run on
// every machine. So weak symbols bear the name of their instruction set.
TEST_CASE("symbols: a weak symbol belongs to the namespace of its instruction set") {
  for (const Object& object : isa_objects()) {
    for (const std::string& name : foreign_weak_symbols(object)) CHECK_MESSAGE(false, object.path << ": " << name);
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

// Every machine's C library rounds the others in its own way; these are exact by definition.
TEST_CASE("symbols: what a training step runs through calls nothing of the C library that rounds but sqrt") {
  for (const char* room : {"kernels", "tensor", "autograd", "nn", "optim"})
    for (const std::string& name : libm_calls(build_folder() + "/librote_" + room + ".a")) {
      const bool in_kernels = one_of(name, {"sqrt", "sqrtf", "fma", "fmod"});
      CHECK_MESSAGE((in_kernels || (room != std::string("kernels") && one_of(name, {"ceil", "floor", "floorf", "lround", "nearbyint", "round", "trunc"}))), room << ": " << name);
    }
}

TEST_CASE("symbols: kernels hold no estimate, no x87 arithmetic and nothing wider than their instruction set") {
  for (const Object& object : isa_objects()) {
    CHECK_MESSAGE(estimates(object.path).empty(), object.path << ": " << estimates(object.path));
    CHECK_MESSAGE(x87(object.path).empty(), object.path << ": " << x87(object.path));
    CHECK_MESSAGE(wider(object).empty(), object.path << ": " << wider(object));
  }
}

// With the libraries that it links, whose symbols a stripped program no longer has.
TEST_CASE("symbols: the stripped command holds no estimate and no x87 arithmetic") {
  const rote::testing::TempFolder folder;
  const std::string stripped = folder.file("rote");
  REQUIRE(run_command("strip -o '" + stripped + "' '" + build_folder() + "/rote'").status == 0);
  CHECK(estimates(stripped) == "");
  CHECK(x87(stripped) == "");
}

#ifdef __x86_64__
// libjpeg-turbo asks for the processor itself.
TEST_CASE("symbols: only functions of an instruction set's namespace use its registers") {
  const rote::testing::CommandResult found = run_command("objdump -d --no-show-raw-insn '" + build_folder() +
                                                         "/rote' | awk '/^[0-9a-f]+ <.*>:$/ { name = $2 } /" + kVex + "/ { if (name !~ /3isa4avx2|3isa6avx512|^<jsimd_/) print name }' | sort -u | head -n 5");
  REQUIRE(found.status == 0);
  CHECK(found.output == "");
}

// One object for each rule, and one that breaks none.
TEST_CASE("symbols: a planted object is caught") {
  const rote::testing::TempFolder folder;
  const auto assembled = [&](const std::string& name, const std::string& body) {
    const std::string source = folder.file(name + ".s", ".text\n.weak planted\nplanted:\n" + body + "ret\n.section .note.GNU-stack,\"\",@progbits\n"), object = folder.file(name + ".o");
    const rote::testing::CommandResult as = run_command("as -o '" + object + "' '" + source + "'");
    REQUIRE_MESSAGE(as.status == 0, as.output);
    return object;
  };
  const std::string clean = assembled("clean", "addss %xmm0, %xmm1\nsqrtss %xmm0, %xmm1\nfldcw (%rsp)\ncall fma@PLT\n");
  CHECK(estimates(clean) == "");
  CHECK(x87(clean) == "");
  CHECK(wider({"scalar", clean}) == "");
  CHECK(libm_calls(clean) == std::vector<std::string>{"fma"});
  for (const char* estimate : {"rcpss %xmm0, %xmm1\n", "rsqrtps %xmm0, %xmm1\n", "vrsqrtps %ymm0, %ymm1\n", "vrcp14ps %zmm0, %zmm1\n", "vrsqrt28pd %zmm0, %zmm1\n"})
    CHECK_MESSAGE(estimates(assembled("estimate", estimate)) != "", estimate);
  for (const char* arithmetic : {"fldl (%rsp)\n", "faddp\n", "fmuls (%rsp)\n", "fsqrt\n", "fyl2x\n", "fistpll (%rsp)\n"}) CHECK_MESSAGE(x87(assembled("x87", arithmetic)) != "", arithmetic);
  const std::string avx2 = assembled("avx2", "vaddps %ymm0, %ymm1, %ymm2\n"), avx512 = assembled("avx512", "vaddps %zmm0, %zmm1, %zmm2\n");
  CHECK(wider({"scalar", avx2}) != "");
  CHECK(wider({"f64", assembled("vex", "vaddss %xmm0, %xmm1, %xmm2\n")}) != "");
  CHECK(wider({"avx2", avx2}) == "");
  CHECK(wider({"avx2", avx512}) != "");
  CHECK(wider({"avx2", assembled("mask", "vmovaps %ymm1, %ymm0{%k1}\n")}) != "");
  CHECK(wider({"avx2", assembled("high", "vaddps %ymm17, %ymm1, %ymm2\n")}) != "");
  CHECK(wider({"avx512", avx512}) == "");
  CHECK(libm_calls(assembled("library", "call exp@PLT\ncall memcpy@PLT\ncall sinf@PLT\n")) == std::vector<std::string>{"exp", "sinf"});
  CHECK(foreign_weak_symbols({"avx2", avx2}) == std::vector<std::string>{"planted"});
}
#endif

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
