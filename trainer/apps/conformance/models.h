// trainer/apps/conformance/models.h — the runner of model cases.
#pragma once

#include <filesystem>

#include "trainer/apps/conformance/report.h"

namespace rote::conformance {

// Runs the cases of every expected.json at or below `path`: a checkpoint, inputs, outputs and gradients. A class that this build does not
// have is skipped. Throws IoError where a file cannot be read.
void run_models(const std::filesystem::path& path, Report& report);

}  // namespace rote::conformance
