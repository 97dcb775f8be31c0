// trainer/trackers/trackers.h — the trackers of --report_to by name. What each writes: its own file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trainer/callback.h"

namespace rote {

// What --report_to all means: TensorBoard, and trackio where TRACKIO_SERVER_URL or TRACKIO_DIR is set.
std::vector<std::string> available_trackers();

// Throws ArgumentError for a name that there is no writer of, and for a configuration that cannot be used.
std::shared_ptr<TrainerCallback> tracker_callback(const std::string& name);

}  // namespace rote
