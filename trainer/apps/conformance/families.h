// trainer/apps/conformance/families.h — the runners, one a family of golden cases, and how they find their files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/apps/conformance/report.h"

namespace rote::conformance {

// Each runs the cases at `path`, which lies in the folder of the family or is that folder: all of them, those of one case folder or of one
// file. Throws IoError where a file cannot be read.
void run_ops(const std::filesystem::path& path, Report& report);
void run_models(const std::filesystem::path& path, Report& report);
void run_generation(const std::filesystem::path& path, Report& report);
void run_tokenizers(const std::filesystem::path& path, Report& report);
void run_optimizers(const std::filesystem::path& path, Report& report);
void run_debug(const std::filesystem::path& path, Report& report);
void run_scaler(const std::filesystem::path& path, Report& report);
void run_schedules(const std::filesystem::path& path, Report& report);
void run_seq2seq(const std::filesystem::path& path, Report& report);
void run_parser(const std::filesystem::path& path, Report& report);
void run_text(const std::filesystem::path& path, Report& report);
void run_collators(const std::filesystem::path& path, Report& report);
void run_trainer(const std::filesystem::path& path, Report& report);

// The files called `name` (any .json but index.json where it is empty) at or below `path`, sorted; `path` itself where it is such a file.
std::vector<std::filesystem::path> case_files(const std::filesystem::path& path, const std::string& name);

// Skips every case at `path`, for a family without a runner.
void skip_all(const std::filesystem::path& path, const std::string& reason, Report& report);

}  // namespace rote::conformance
