#include "nn/hub.h"

#include <cstdlib>
#include <filesystem>

#include "kernels/check.h"
#include "tensor/file.h"

namespace rote::nn {

namespace fs = std::filesystem;

namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_folder(const std::string& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

// A revision is a path below refs/ ("refs/pr/3" too), which must not lead out of it.
bool is_revision(const std::string& revision) {
  bool fine = !revision.empty() && revision[0] != '/' && revision.size() < 250 && revision.find('\0') == std::string::npos;
  for (const fs::path& part : fs::path(revision)) fine = fine && part != ".." && part != ".";
  return fine;
}

bool is_commit(const std::string& text) { return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos; }

// What this library reads of a snapshot.
bool is_read(const fs::path& path) {
  const std::string end = path.extension().string();
  return end == ".json" || end == ".safetensors" || end == ".gguf" || end == ".txt";
}

}  // namespace

std::string hub_cache(const std::string& cache_dir) {
  if (!cache_dir.empty()) return cache_dir;
  if (const std::string given = from_environment("HF_HUB_CACHE"); !given.empty()) return given;
  if (const std::string home = from_environment("HF_HOME"); !home.empty()) return home + "/hub";
  const std::string cache = from_environment("XDG_CACHE_HOME");
  return (cache.empty() ? from_environment("HOME") + "/.cache" : cache) + "/huggingface/hub";
}

bool is_hub_id(const std::string& id) {
  const size_t slash = id.find('/');
  bool fine = !id.empty() && id.size() <= 96 && slash != 0 && slash != id.size() - 1 && id.find('/', slash == std::string::npos ? 0 : slash + 1) == std::string::npos;
  for (const char c : id) fine = fine && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/');
  return fine && id.find("..") == std::string::npos && id.find("--") == std::string::npos && id[0] != '.' && id[0] != '-';
}

std::string hub_folder(const std::string& id, const HubOptions& options) {
  ROTE_CHECK(is_hub_id(id), ArgumentError, "hub: \"", id, "\" is neither a folder nor a model's name; names are \"name\" or \"owner/name\".");
  ROTE_CHECK(is_revision(options.revision), ArgumentError, "hub: revision is \"", options.revision, "\"; it must be a branch, a tag or a commit.");
  std::string below = "models--" + id;
  if (const size_t slash = below.find('/'); slash != std::string::npos) below.replace(slash, 1, "--");
  const std::string cache = hub_cache(options.cache_dir);
  std::string model = cache + "/" + below;
  if (!options.cache_dir.empty() && !is_folder(model) && is_folder(cache + "/hub/" + below)) model = cache + "/hub/" + below;
  ROTE_CHECK(is_folder(model), IoError, "hub: ", id, " is no folder here, and the cache has no ", model, "; nothing is downloaded: name a folder, or put the model there.");
  std::string commit = options.revision;
  if (const std::string ref = model + "/refs/" + options.revision; is_file(ref)) {
    commit = read_file(ref);
    while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r' || commit.back() == ' ')) commit.pop_back();
    ROTE_CHECK(is_commit(commit), IoError, "hub: ", ref, " holds no commit, which has 40 hexadecimal digits; download the model again.");
  }
  const std::string snapshot = model + "/snapshots/" + commit;
  ROTE_CHECK(is_folder(snapshot), IoError, "hub: ", id, " has no revision ", options.revision, " in ", model, "; nothing is downloaded: name one of those under refs or snapshots.");
  std::error_code failed;
  for (fs::directory_iterator at(snapshot, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    const bool broken = is_read(at->path()) && fs::is_symlink(at->path(), ignored) && !fs::exists(at->path(), ignored);
    ROTE_CHECK(!broken, IoError, "hub: ", at->path().string(), " leads to ", fs::read_symlink(at->path(), ignored).string(), ", a blob that is not there; download the model again.");
  }
  return snapshot;
}

}  // namespace rote::nn
