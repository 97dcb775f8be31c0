// trainer/trackers/names.h — how trackers name what a run logs.
#pragma once

#include <string>

namespace rote {

// eval_loss -> eval/loss, test_loss -> test/loss, loss -> train/loss.
std::string tracker_name(const std::string& key);

// Sums of a whole run: train_runtime, train_samples_per_second, train_steps_per_second, train_loss, total_flos.
bool is_of_whole_run(const std::string& key);

}  // namespace rote
