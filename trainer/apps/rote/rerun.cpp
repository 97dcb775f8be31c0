// trainer/apps/rote/rerun.cpp — `rote rerun`: makes a run again by its manifest and compares the weights. Exit code 0: the same bits, 1: others.
#include <cstdio>
#include <filesystem>

#include "trainer/apps/rote/manifest.h"
#include "trainer/apps/rote/train.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/parser.h"

namespace rote::app {

namespace fs = std::filesystem;

namespace {

struct RerunArguments {
  std::optional<std::string> output_dir = {};

  static const ArgumentTable<RerunArguments>& table() {
    static const ArgumentTable<RerunArguments> rows = {
        "arguments", {field(&RerunArguments::output_dir, {.name = "output_dir", .help = "of the new run, a folder that is not there yet; RUN-rerun where it is not given"})}};
    return rows;
  }
};

// Says each that is not what it was.
void check_inputs(const Manifest& manifest) {
  std::vector<std::string> faults;
  for (const auto& [path, hash] : manifest.inputs) {
    ROTE_CHECK(fs::exists(path), IoError, path, ", which the run read, is not there; put it back, its hash was ", hash, ".");
    if (const std::string now = hash_of_input(path); now != hash) faults.push_back(str(path, " has changed since the run: its hash was ", hash, ", it is ", now, "; put it back as it was."));
  }
  throw_faults(faults);
}

}  // namespace

int rerun(int argc, char** argv) {
  const auto parsed = parse_command(argc, argv, Usage{"rote rerun", "Makes a run of rote train again by the manifest in its folder and compares the hashes of the weights.", "RUN"}, RerunArguments{});
  ROTE_CHECK(parsed.positional.size() == 1, ArgumentError, parsed.positional.size(), " paths; give the folder of one run.");
  const std::string run = fs::absolute(parsed.positional[0]).lexically_normal().string();
  const std::string given = std::get<0>(parsed.values).output_dir.value_or(parsed.positional[0].substr(0, parsed.positional[0].find_last_not_of('/') + 1) + "-rerun");
  const std::string folder = fs::absolute(given).lexically_normal().string();
  const Manifest manifest = read_manifest(run);
  check_contract(manifest, parsed.positional[0]);
  ROTE_CHECK(manifest.end_hash, ArgumentError, parsed.positional[0], " did not come to its end, so there is nothing to compare with; go on with it by --resume_from_checkpoint true.");
  ROTE_CHECK(!fs::exists(folder), ArgumentError, "--output_dir: ", given, " is there already; name a new folder.");
  go_to_folder_of(manifest);
  check_inputs(manifest);
  std::vector<std::string> words = manifest.words;
  words.insert(words.end(), {"--output_dir", folder});
  if (const int code = train_by_words(words); code != 0) return code;
  const std::string hash = hash_of_input(folder);
  const bool is_equal = hash == *manifest.end_hash;
  if (is_equal) std::printf("equal: %s\n", hash.c_str());
  else std::printf("differ: %s in %s, %s in %s\n", manifest.end_hash->c_str(), parsed.positional[0].c_str(), hash.c_str(), given.c_str());
  return is_equal ? 0 : 1;
}

}  // namespace rote::app
