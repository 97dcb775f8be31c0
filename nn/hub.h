// nn/hub.h — where the models of the hub lie on this machine: the cache's layout of blobs, refs and snapshots, read only. Nothing is downloaded.
// The one place that reads HF_HUB_CACHE, HF_HOME and XDG_CACHE_HOME.
#pragma once

#include <string>

namespace rote::nn {

struct HubOptions {
  std::string revision = "main";  // a branch, a tag, or a commit
  std::string cache_dir = {};     // empty: as the environment says
};

// The folder that holds models--…: cache_dir, or $HF_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub, ~/.cache/huggingface/hub.
std::string hub_cache(const std::string& cache_dir = {});
// Whether a text can be a model's name there: "name" or "owner/name".
bool is_hub_id(const std::string& id);
// The snapshot of a model: refs/<revision> names its commit. Below cache_dir/hub too, as HF_HOME has it. Throws ArgumentError for what is no id,
// IoError with the folder that was searched for a model or a revision that is not there, and with the blob for a link that leads nowhere.
std::string hub_folder(const std::string& id, const HubOptions& options = {});

}  // namespace rote::nn
