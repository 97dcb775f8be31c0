// trainer/apps/conformance/main.cpp — the command rote-conformance: golden cases against this build. Judges no case itself.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/apps/conformance/report.h"

namespace {

namespace fs = std::filesystem;
using namespace rote::conformance;

struct Family {
  const char* name;                        // of the folder
  void (*run)(const fs::path&, Report&);  // null: no runner yet, its cases are skipped
};

constexpr Family kFamilies[] = {
    {"ops", run_ops},     {"optim", run_optimizers},  {"sched", run_schedules}, {"models", run_models}, {"generation", run_generation},
    {"tokenizers", run_tokenizers}, {"trainer", run_trainer}, {"collators", run_collators}, {"parser", run_parser}, {"text", run_text},
    {"debug", run_debug},   {"scaler", run_scaler}, {"seq2seq", run_seq2seq},
};

constexpr char kHelp[] =
    "rote-conformance PATH... [--family F]... [--id GLOB] [--float64] [--verbose] [--help]\n"
    "\n"
    "Runs golden cases and compares with what they expect. PATH is the folder of all cases, the folder of a family\n"
    "(ops, models, collators, ...), the folder of one case or one file of cases.\n"
    "Prints a line for each case that fails and for each reason to skip some, and last: N passed, N failed, N skipped.\n"
    "\n"
    "  --family F  only cases of this family (opinfo_conv, bert_base, ...); may be given again\n"
    "  --id GLOB   only cases with such an id (\"conv2d/*\")\n"
    "  --float64   op cases with every floating tensor and dtype in f64, against the true values: to 1e-11 of the largest\n"
    "              element, 2e-7 where those are stored as f32, and where cancellation leaves less to 16 ulps of the operands\n"
    "  --verbose   print each case that is skipped\n"
    "  --help      print this\n"
    "\n"
    "Exit: 0 no case failed, 1 a case failed, 2 a path or a flag cannot be used.\n";

// The family in whose folder `path` lies, null where it lies in none: the innermost folder with the name of one.
const Family* family_of(const fs::path& path) {
  for (fs::path at = path; at.has_relative_path(); at = at.parent_path()) {
    for (const Family& family : kFamilies) {
      if (at.filename() == family.name) return &family;
    }
  }
  return nullptr;
}

void run_family(const Family& family, const fs::path& path, Report& report) {
  if (family.run != nullptr) {
    family.run(path, report);
  } else {
    skip_all(path, rote::str("the family ", family.name, " has no runner yet"), report);
  }
}

// Runs the cases at `path`; false where there are none.
bool run_path(const fs::path& path, Report& report) {
  const int64_t before = report.cases();
  bool holds_families = false;
  for (const Family& family : kFamilies) {
    if (!fs::is_directory(path / family.name)) continue;
    holds_families = true;
    run_family(family, path / family.name, report);
  }
  if (!holds_families) {
    const Family* family = family_of(path);
    if (family != nullptr) run_family(*family, path, report);
  }
  return report.cases() > before;
}

int refuse(const std::string& text) {
  std::fprintf(stderr, "rote-conformance: %s\n", text.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  bool verbose = false;
  Selection selection;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (word == "--verbose") {
      verbose = true;
    } else if (word == "--float64") {
      selection.float64 = true;
    } else if (word == "--family" || word == "--id") {
      if (i + 1 == argc) return refuse(rote::str(word, " needs a value after it."));
      if (word == "--id") selection.id = argv[++i];
      else selection.families.push_back(argv[++i]);
    } else if (word.starts_with("-")) {
      return refuse(rote::str(word, " is no flag; there are --family, --id, --float64, --verbose and --help."));
    } else {
      paths.push_back(word);
    }
  }
  if (paths.empty()) return refuse("no path given; name a folder or file of cases (--help tells more).");

  Report report(verbose, selection);
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::path full = fs::canonical(path, error);
    if (error) return refuse(rote::str(path, " is not there; name a folder or file of cases."));
    try {
      if (!run_path(full, report)) return refuse(rote::str(path, " holds no cases", selection.families.empty() && selection.id.empty() ? "" : " of this selection", "; name a folder or file of cases."));
    } catch (const std::exception& e) {
      return refuse(e.what());
    }
  }
  report.print_counts();
  return report.failed() == 0 ? 0 : 1;
}
