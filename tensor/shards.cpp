#include "tensor/shards.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace rote {

namespace fs = std::filesystem;

namespace {

std::string five_digits(size_t n) {
  const std::string digits = std::to_string(n);
  return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

// model-00001-of-00003.safetensors
bool is_shard(const std::string& name) {
  const std::string begin = "model-", end = ".safetensors";
  if (name.size() <= begin.size() + end.size() || name.compare(0, begin.size(), begin) != 0) return false;
  if (name.compare(name.size() - end.size(), end.size(), end) != 0) return false;
  const std::string middle = name.substr(begin.size(), name.size() - begin.size() - end.size());
  const size_t of = middle.find("-of-");
  return of != std::string::npos && middle.find_first_not_of("0123456789", of + 4) == std::string::npos && middle.find_first_not_of("0123456789") == of;
}

void remove_but(const std::string& folder, const std::set<std::string>& kept) {
  std::error_code failed;
  std::vector<fs::path> gone;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    const bool ours = is_shard(name) || name == "model.safetensors" || name == "model.safetensors.index.json";
    if (ours && kept.count(name) == 0) gone.push_back(at->path());
  }
  // The single file and the index first: each is how its form of the weights is found.
  std::stable_partition(gone.begin(), gone.end(), [](const fs::path& path) { return !is_shard(path.filename().string()); });
  for (const fs::path& path : gone) {
    fs::remove(path, failed);
    ROTE_CHECK(!failed, IoError, "write ", folder, ": ", path.string(), " cannot be removed: ", failed.message(), ".");
  }
}

}  // namespace

void save_weights(const std::string& folder, const std::vector<std::pair<std::string, Tensor>>& tensors, int64_t max_shard_size, const SaveOptions& options) {
  ROTE_CHECK(max_shard_size > 0, ArgumentError, "write ", folder, ": max_shard_size is ", max_shard_size, " bytes; it must be positive.");
  std::vector<std::vector<std::pair<std::string, Tensor>>> shards(1);
  int64_t size = 0, all = 0, numbers = 0;
  for (const auto& one : tensors) {
    const int64_t bytes = one.second.numel() * size_of(one.second.dtype());
    if (!shards.back().empty() && bytes > max_shard_size - size) {
      shards.emplace_back();
      size = 0;
    }
    shards.back().push_back(one);
    size += bytes, all += bytes, numbers += one.second.numel();
  }
  if (shards.size() == 1) {
    save_safetensors(folder + "/model.safetensors", tensors, options);
    return remove_but(folder, {"model.safetensors"});
  }
  nlohmann::json index = {{"metadata", {{"total_parameters", numbers}, {"total_size", all}}}, {"weight_map", nlohmann::json::object()}};
  std::set<std::string> names = {"model.safetensors.index.json"};
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = "model-" + five_digits(i + 1) + "-of-" + five_digits(shards.size()) + ".safetensors";
    save_safetensors(folder + "/" + name, shards[i], options);
    names.insert(name);
    for (const auto& one : shards[i]) index["weight_map"][one.first] = name;
  }
  write_file(folder + "/model.safetensors.index.json", index.dump(2) + "\n", options.sync);
  remove_but(folder, names);
}

}  // namespace rote
