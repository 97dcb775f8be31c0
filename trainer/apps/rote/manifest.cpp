#include "trainer/apps/rote/manifest.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>

#include "kernels/check.h"
#include "kernels/table.h"
#include "tensor/file.h"
#include "tensor/hash.h"
#include "trainer/apps/rote/machine.h"
#include "trainer/apps/rote/weights.h"
#include "trainer/checkpoint.h"
#include "trainer/json_text.h"

namespace rote::app {

namespace fs = std::filesystem;

namespace {

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

bool names_secret(const std::string& word) {
  if (!word.starts_with("--")) return false;
  std::string name = word.substr(2, word.find('=') - 2);
  std::replace(name.begin(), name.end(), '-', '_');
  // As the parser takes it: the beginning of a name is enough.
  return name.size() > 4 && (std::string("hub_token").starts_with(name) || (name.size() > 12 && std::string("push_to_hub_token").starts_with(name)));
}

ValueList without_secrets(const std::vector<std::string>& words) {
  ValueList out;
  bool is_secret = false;  // the word before has named one whose value comes now
  for (const std::string& word : words) {
    const size_t sign = word.find('=');
    const bool names = names_secret(word);
    out.push_back(is_secret ? "<TOKEN>" : names && sign != std::string::npos ? word.substr(0, sign) + "=<TOKEN>" : word);
    is_secret = names && sign == std::string::npos;
  }
  return out;
}

std::string sha256_of_file(const std::string& path) {
  constexpr int64_t kPart = 1 << 20;
  const InputFile file(path);
  std::string part(static_cast<size_t>(std::min(kPart, file.bytes())), '\0');
  Sha256 sha;
  for (int64_t at = 0; at < file.bytes(); at += kPart) {
    const int64_t n = std::min(kPart, file.bytes() - at);
    file.read(at, n, part.data());
    sha.add(part.data(), static_cast<size_t>(n));
  }
  return sha.hex();
}

std::string sha256_of_folder(const fs::path& folder) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; at != end; at.increment(error))
    if (is_file(at->path().string())) files.emplace(at->path().lexically_relative(folder).generic_string(), at->path());
  Sha256 sha;
  for (const auto& [path, file] : files) {
    sha.add(path);
    sha.add("", 1);
    sha.add(sha256_of_file(file.string()));
  }
  return sha.hex();
}

using Text = const char*;

// Takes plain pointers: a list of Values would be built and copied at each call.
void set_texts(ValueMap& map, Text group, std::initializer_list<std::pair<Text, Text>> texts) {
  ValueMap all;
  for (const auto& [name, text] : texts) all.set(name, text);
  map.set(group, std::move(all));
}

ValueMap begin_of(const RunRecord& record) {
  std::error_code error;
  ValueMap map;
  map.set("format", 1);
  map.set("command", without_secrets(record.words));
  map.set("folder", fs::current_path(error).string());
  map.set("contract", record.contract);
  set_texts(map, "rote", {{"version", kBuild.version}, {"commit", kBuild.commit}, {"compiler", kBuild.compiler}, {"flags", kBuild.flags}});
  set_texts(map, "machine", {{"processor", processor().c_str()}, {"instructions", kernels<float>().isa}, {"threads", std::to_string(record.threads).c_str()}});
  map.set("arguments", record.arguments);
  map.set("inputs", record.inputs);
  set_texts(map, "start", {{"date", now().c_str()}, {"hash", record.start_hash.c_str()}});
  return map;
}

std::optional<ValueMap> manifest_of(const std::string& file) {
  if (!is_file(file)) return {};
  const Value value = parse_json(read_file(file), file);
  return value.as_map() ? std::optional(*value.as_map()) : std::nullopt;
}

void write_manifest(const std::string& file, const ValueMap& map) { write_file(file, json_text(map) + "\n"); }

// The manifest of a run that goes on: the first one with what is different this time.
ValueMap resumed(ValueMap first, const ValueMap& now_begun) {
  ValueMap changed;
  for (const auto& [name, value] : now_begun)
    if (const Value* before = first.find(name); before == nullptr || !(*before == value)) changed.set(name, value);
  ValueList all;
  if (const Value* before = first.find("resumed"); before != nullptr && before->as_list()) all = *before->as_list();
  all.push_back(changed);
  first.set("resumed", all);
  first.erase("end");
  return first;
}

const std::string& text_of(const ValueMap& map, const char* name, const std::string& file) {
  const Value* value = map.find(name);
  ROTE_CHECK(value != nullptr && value->as_text() != nullptr, IoError, file, ": ", name, " is missing; the manifest is damaged, make the run again.");
  return *value->as_text();
}

const ValueMap& map_of(const ValueMap& map, const char* name, const std::string& file) {
  const Value* value = map.find(name);
  ROTE_CHECK(value != nullptr && value->as_map() != nullptr, IoError, file, ": ", name, " is missing; the manifest is damaged, make the run again.");
  return *value->as_map();
}

}  // namespace

void go_to_folder_of(const Manifest& manifest) {
  std::error_code gone;  // paths of the command may lead on from here all the same
  fs::current_path(manifest.folder, gone);
}

void check_contract(const Manifest& manifest, const std::string& run) {
  ROTE_CHECK(manifest.contract == kContract || manifest.contract == contract_of(Arithmetic::fast), ArgumentError, run, " was made under the contract ", manifest.contract, " by rote ",
             manifest.version, ", this one keeps ", kContract, "; check out the tag v", manifest.version, " and make it again with that.");
}

std::string hash_of_input(const std::string& path) {
  const bool is_folder = fs::is_directory(path);
  if (is_folder && !is_file(path + "/model.safetensors") && !is_file(path + "/model.safetensors.index.json")) return sha256_of_folder(path);
  if (is_folder || path.ends_with(".safetensors")) return hash_tensors(weights_of(path));
  return sha256_of_file(path);
}

void add_input(ValueMap& inputs, const std::string& path) {
  try {
    inputs.set(path, hash_of_input(path));
  } catch (const Error&) {  // a pipe that was read once; rerun then cannot compare it
    inputs.set(path, Value());
  }
}

void add_model(ValueMap& inputs, const std::string& place) {
  add_input(inputs, place);
  for (Text name : {"config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json", "merges.txt", "spiece.model", "preprocessor_config.json"})
    if (const std::string file = place + "/" + name; is_file(file)) add_input(inputs, file);
}

void begin_manifest(const RunRecord& record) {
  ValueMap map = begin_of(record);
  if (record.resumes)
    if (std::optional<ValueMap> first = manifest_of(record.file)) map = resumed(std::move(*first), map);
  write_manifest(record.file, map);
}

void end_manifest(const RunRecord& record, const std::string& end_hash, int64_t steps) {
  ValueMap map = manifest_of(record.file).value_or(begin_of(record));
  set_texts(map, "end", {{"date", now().c_str()}, {"steps", std::to_string(steps).c_str()}, {"hash", end_hash.c_str()}});
  write_manifest(record.file, map);
}

Manifest read_manifest(const std::string& run) {
  const std::string file = (fs::path(run) / kManifestFile).string();
  ROTE_CHECK(is_file(file), IoError, run, " holds no ", kManifestFile, "; give the --output_dir of a run of rote train.");
  const std::optional<ValueMap> map = manifest_of(file);
  ROTE_CHECK(map, IoError, file, ": holds no JSON object; the manifest is damaged, make the run again.");
  Manifest manifest{.folder = text_of(*map, "folder", file), .contract = text_of(*map, "contract", file), .version = text_of(map_of(*map, "rote", file), "version", file)};
  const Value* command = map->find("command");
  ROTE_CHECK(command != nullptr && command->as_list() != nullptr, IoError, file, ": command is missing; the manifest is damaged, make the run again.");
  for (const Value& word : *command->as_list()) {
    ROTE_CHECK(word.as_text() != nullptr, IoError, file, ": a word of command is no text; the manifest is damaged, make the run again.");
    manifest.words.push_back(*word.as_text());
  }
  for (const auto& [path, hash] : map_of(*map, "inputs", file))
    if (hash.as_text() != nullptr) manifest.inputs.emplace_back(path, *hash.as_text());
  if (const Value* end = map->find("end"); end != nullptr && end->as_map() != nullptr) manifest.end_hash = text_of(*end->as_map(), "hash", file);
  return manifest;
}

}  // namespace rote::app
