// trainer/apps/rote/manifest.h — manifest.json of a run folder: all that is needed to make the run again, and the hashes to compare it by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/value.h"

namespace rote::app {

inline constexpr char kManifestFile[] = "manifest.json";

// What a run knows of itself when it begins.
struct RunRecord {
  std::string file;                 // output_dir/manifest.json
  std::vector<std::string> words;   // behind `rote train`; values of --…_token are not written
  ValueMap arguments = {};          // what they came to
  ValueMap inputs = {};             // files and folders that its bits depend on, with their hashes
  std::string contract;
  int threads = 0;
  std::string start_hash = {};      // of the weights that it begins with
  bool resumes = false;             // what the manifest that is there says of the beginning then stays, and what has changed is added
};
void begin_manifest(const RunRecord& record);
void end_manifest(const RunRecord& record, const std::string& end_hash, int64_t steps);

struct Manifest {
  std::vector<std::string> words = {};
  std::string folder;  // in which the command ran
  std::string contract, version;
  std::vector<std::pair<std::string, std::string>> inputs = {};  // with their hashes
  std::optional<std::string> end_hash = {};                      // none where the run did not end
};
// Throws IoError where the run folder holds none, or a damaged one.
Manifest read_manifest(const std::string& run);

// Throws ArgumentError where the run was made under a contract that this program does not keep, with the release that does.
void check_contract(const Manifest& manifest, const std::string& run);
// Goes to the folder in which the command ran, where it is still there: its paths lead on from it.
void go_to_folder_of(const Manifest& manifest);

// Of a folder with weights and of a .safetensors file: rote hash. Of another file: its SHA-256. Of another folder: that over the paths in it, in byte
// order, each with a zero byte and the hash of its file. Throws IoError.
std::string hash_of_input(const std::string& path);

// Adds the hash of a file or folder; of what cannot be read none.
void add_input(ValueMap& inputs, const std::string& path);
// Of a model: its weights, its config and the files of its tokenizer.
void add_model(ValueMap& inputs, const std::string& place);

}  // namespace rote::app
