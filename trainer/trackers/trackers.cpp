#include "trainer/trackers/trackers.h"

#include <cstdlib>

#include "kernels/check.h"
#include "trainer/trackers/tensorboard.h"
#include "trainer/trackers/trackio.h"

namespace rote {

namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::vector<std::string> available_trackers() {
  std::vector<std::string> names = {"tensorboard"};
  if (is_set("TRACKIO_SERVER_URL") || is_set("TRACKIO_DIR")) names.push_back("trackio");
  return names;
}

std::shared_ptr<TrainerCallback> tracker_callback(const std::string& name) {
  if (name == "tensorboard") return std::make_shared<TensorBoardCallback>();
  if (name == "trackio") return std::make_shared<TrackioCallback>();
  throw ArgumentError(str("report_to: there is no ", name, "; choose tensorboard or trackio."));
}

}  // namespace rote
