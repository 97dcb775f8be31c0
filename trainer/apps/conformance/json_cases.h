// trainer/apps/conformance/json_cases.h — the cases of a family's JSON files, each by one function. Runners' .cpp files give the type Json.
#pragma once

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/apps/conformance/families.h"

namespace rote::conformance {

// run(case) gives what is wrong, empty for nothing; an Error that it throws is that too.
template <class Json, class F>
void run_json_cases(const std::filesystem::path& path, Report& report, const F& run) {
  for (const std::filesystem::path& cases : case_files(path, "")) {
    const Json all = Json::parse(read_file(cases.string()));
    for (const Json& one : all.at("cases")) {
      const std::string id = one.at("id");
      if (!report.wants(all.at("family"), id)) continue;
      std::string found;
      try {
        found = run(one);
      } catch (const Error& fault) {
        found = fault.text;
      }
      if (found.empty()) report.pass(id);
      else report.fail(id, found);
    }
  }
}

}  // namespace rote::conformance
