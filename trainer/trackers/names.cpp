#include "trainer/trackers/names.h"

namespace rote {

std::string tracker_name(const std::string& key) {
  for (const std::string part : {"eval", "test"})
    if (key.starts_with(part + "_")) return part + "/" + key.substr(part.size() + 1);
  return "train/" + key;
}

bool is_of_whole_run(const std::string& key) {
  for (const char* name : {"train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss", "total_flos"})
    if (key == name) return true;
  return false;
}

}  // namespace rote
