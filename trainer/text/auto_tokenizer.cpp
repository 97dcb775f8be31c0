#include "trainer/text/auto_tokenizer.h"

#include <algorithm>
#include <vector>

#include "kernels/check.h"
#include "nn/pretrained.h"
#include "trainer/text/json_view.h"

namespace rote::text {

namespace {

// The steps of a component: itself, or those of a Sequence under `list`.
std::vector<JsonNode> steps_of(const JsonNode& root, const char* component, const char* list) {
  if (!root.has(component)) return {};
  const JsonNode node = root.at(component);
  if (node.has(list)) return node.at(list).items();
  return {node};
}

// tokenizer.json with `wanted` as add_prefix_space of its byte-level steps: where words are found, and where offsets are trimmed.
std::string with_prefix_space(std::string json, const std::string& path, bool wanted) {
  const std::string word = wanted ? "true" : "false";
  const JsonNode root = read_json_object(json, path);
  struct Edit {
    size_t at, length;
    std::string text;
  };
  std::vector<Edit> edits;
  bool is_byte_level = false;
  const auto edit = [&](const JsonNode& step) {
    const bool is_there = step.has("add_prefix_space");
    const std::string_view old = is_there ? step.at("add_prefix_space").value.text() : step.value.text().substr(1, 0);
    edits.push_back({static_cast<size_t>(old.data() - json.data()), old.size(), is_there ? word : "\"add_prefix_space\":" + word + ","});
  };
  for (const JsonNode& step : steps_of(root, "pre_tokenizer", "pretokenizers")) {
    if (step.text("type", "") != "ByteLevel") continue;
    is_byte_level = true;
    edit(step);
  }
  for (const JsonNode& step : steps_of(root, "post_processor", "processors"))
    if (step.has("add_prefix_space")) edit(step);
  ROTE_CHECK(is_byte_level, ArgumentError, "tokenizer: ", path, " has no ByteLevel pre-tokenizer; add_prefix_space is of byte-level tokenizers, leave it out.");
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.at > b.at; });
  for (const Edit& edit : edits) json.replace(edit.at, edit.length, edit.text);
  return json;
}

}  // namespace

Tokenizer AutoTokenizer::from_pretrained(const std::string& name, const AutoTokenizerOptions& options) {
  nn::PretrainedOptions where;
  where.revision = options.revision;
  where.cache_dir = options.cache_dir;
  const std::string place = nn::model_place(name, where);
  const Tokenizer tokenizer = Tokenizer::from_folder(place);
  if (!options.add_prefix_space) return tokenizer;
  auto files = tokenizer.files();
  files[0].second = with_prefix_space(files[0].second, place + "/" + files[0].first, *options.add_prefix_space);
  return Tokenizer::from_files(std::move(files), place);
}

}  // namespace rote::text
