// trainer/apps/conformance/families.cpp — finding the case files of a family, and counting the cases of one that has no runner.
#include "trainer/apps/conformance/families.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace rote::conformance {

std::vector<std::filesystem::path> case_files(const std::filesystem::path& path, const std::string& name) {
  const auto wanted = [&](const std::filesystem::path& file) {
    if (!name.empty()) return file.filename() == name;
    return file.extension() == ".json" && file.filename() != "index.json";
  };
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(path)) {
    if (wanted(path)) files.push_back(path);
    return files;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && wanted(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void skip_all(const std::filesystem::path& path, const std::string& reason, Report& report) {
  for (const std::filesystem::path& file : case_files(path, "")) {
    std::ifstream in(file);
    const nlohmann::json content = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
    // Configurations and data sets lie beside the cases; a file of cases, or one that is a case, names its family.
    if (!content.is_object() || !content.contains("family")) continue;
    const std::string family = content.at("family");
    const auto skip = [&](const std::string& id) {
      if (report.wants(family, id)) report.skip(id, reason);
    };
    if (content.contains("cases"))
      for (const auto& one : content.at("cases")) skip(one.value("id", file.string()));
    else skip(content.value("id", file.parent_path().filename().string()));
  }
}

}  // namespace rote::conformance
